import { describe, expect, it } from 'vitest';
import { createPageCache } from '../../../../src/client/engine/page-data/cache.ts';

function createClock() {
  const clock = { ms: 1_000, now: () => clock.ms };
  return clock;
}

describe('createPageCache', () => {
  it('hands out a dynamic answer once, within 30 s', () => {
    const clock = createClock();
    const cache = createPageCache<string, string>(clock);
    cache.put('/a', 'a', false);
    cache.put('/b', 'b', false);
    clock.ms += 29_999;
    expect([cache.take('/a'), cache.take('/a')]).toEqual(['a', undefined]);
    clock.ms += 1;
    expect([cache.has('/b'), cache.take('/b')]).toEqual([false, undefined]);
  });

  it('hands out a static answer again and again, within 300 s of its arrival', () => {
    const clock = createClock();
    const cache = createPageCache<string, string>(clock);
    cache.put('/a', 'a', true);
    clock.ms += 299_999;
    expect([cache.take('/a'), cache.take('/a'), cache.has('/a')]).toEqual(['a', 'a', true]);
    clock.ms += 1;
    expect(cache.take('/a')).toBeUndefined();
  });

  it('keeps the 50 that were used last', () => {
    const cache = createPageCache<number, number>(createClock());
    for (let i = 0; i < 50; i++) {
      cache.put(`/${i}`, i, true);
      cache.remember(`/${i}`, i);
    }
    cache.take('/0');
    cache.recall('/0');
    cache.put('/50', 50, true);
    cache.remember('/50', 50);
    expect(cache.stats()).toEqual({ answers: 50, pages: 50 });
    expect([cache.take('/0'), cache.take('/1'), cache.recall('/0'), cache.recall('/1')]).toEqual([
      0,
      undefined,
      0,
      undefined,
    ]);
  });

  it('tells how old a remembered page is', () => {
    const clock = createClock();
    const cache = createPageCache<string, string>(clock);
    expect(cache.ageOf('/a')).toBe(Number.POSITIVE_INFINITY);
    cache.remember('/a', 'a');
    clock.ms += 700;
    cache.recall('/a');
    expect(cache.ageOf('/a')).toBe(700);
  });

  it('drops one answer, or that one alone', () => {
    const cache = createPageCache<string, string>(createClock());
    cache.put('/a', 'new', true);
    cache.drop('/a', 'old');
    expect(cache.has('/a')).toBe(true);
    cache.drop('/a', 'new');
    expect(cache.has('/a')).toBe(false);
  });

  it('forgets everything after an action', () => {
    const cache = createPageCache<string, string>(createClock());
    cache.put('/a', 'a', true);
    cache.remember('/a', 'a');
    cache.dropAll();
    expect(cache.stats()).toEqual({ answers: 0, pages: 0 });
  });
});
