import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CachedPage, createPageCache } from '../../../src/server/pages/page-cache.ts';
import { Second } from '../../../src/shared/units.ts';

interface TextPage extends CachedPage {
  readonly text: string;
}

function toPage(text: string): TextPage {
  return { text, bytes: text.length };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTime(ms);

function createCache({ maxBytes = 1000 } = {}) {
  const onRefreshFailed = vi.fn();
  const cache = createPageCache<TextPage>({ maxBytes, onRefreshFailed });
  let renders = 0;
  const render = vi.fn(async () => toPage(`render ${++renders}`));
  return {
    cache,
    render,
    onRefreshFailed,
    ask: async (key = '/a', make: () => Promise<TextPage | undefined> = render) => (await cache.get(key, make))?.text,
  };
}

describe('createPageCache', () => {
  // tests/server/pages/static/static-page.test.tsx has pages that are gone.
  it('keeps the old page if the refresh fails, and tries again after a while', async () => {
    const { ask, render, onRefreshFailed } = createCache();
    const failure = new Error('no database');
    await ask();
    pass(301 * Second);
    const fails = [() => Promise.reject(failure), async () => ({ ...toPage('500'), failed: { isGone: false } })];
    for (const make of [...fails, render]) {
      for (const refresh of [make, render]) {
        expect(await ask('/a', refresh)).toBe('render 1');
        await new Promise((resolve) => setImmediate(resolve));
        if (make === render) break;
      }
      pass(11 * Second);
    }
    expect(onRefreshFailed).toHaveBeenCalledExactlyOnceWith(failure);
    expect(await ask()).toBe('render 2');
  });

  it('evicts the page that was not requested for the longest time when it is full', async () => {
    const { ask } = createCache({ maxBytes: 20 });
    const eight = (text: string) => async () => toPage(text.padEnd(8));
    await ask('/a', eight('a1'));
    await ask('/b', eight('b1'));
    pass(1 * Second + 1);
    await ask('/a', eight('a2'));
    await ask('/c', eight('c1'));
    expect(await ask('/a', eight('a3'))).toBe('a1      ');
    expect(await ask('/b', eight('b2'))).toBe('b2      ');
  });

  it('counts the keys too, which visitors choose', async () => {
    const { ask } = createCache({ maxBytes: 100 });
    const [one, two] = ['1', '2'].map((end) => `/a?q=${'q'.repeat(60)}${end}`);
    for (const key of [one, two]) await ask(key, async () => toPage('old'));
    expect(await ask(two, async () => toPage('new'))).toBe('old');
    expect(await ask(one, async () => toPage('new'))).toBe('new');
  });

  it('evicts variants of one path before other pages, however many its visitors make up', async () => {
    const { cache, ask } = createCache({ maxBytes: 100_000 });
    const small = async () => toPage('page');
    await ask('/ab?page=1', small);
    for (let page = 0; page <= 250; page++) await ask(`/a?page=${page}`, small);
    expect(['/a?page=0', '/a?page=1', '/a?page=250', '/ab?page=1'].map(cache.has)).toEqual([false, true, true, true]);
  });

  it('does not cache a page larger than the whole cache, and evicts nothing for it', async () => {
    const { ask } = createCache({ maxBytes: 20 });
    await ask('/a', async () => toPage('a1'));
    expect(await ask('/b', async () => toPage('b'.repeat(21)))).toHaveLength(21);
    expect(await ask('/b', async () => toPage('b2'))).toBe('b2');
    expect(await ask('/a', async () => toPage('a2'))).toBe('a1');
  });

  it.each([
    ['/a', ['/a', '/a?page=2', '/a build'], ['/ab', '/a/b', '/b']],
    ['/c', [], ['/a', '/b']],
  ])('renders all variants of %s again when it is dropped', async (path, dropped, kept) => {
    const { cache, ask } = createCache();
    for (const key of [...dropped, ...kept]) await ask(key, async () => toPage(key));
    cache.drop(path);
    for (const key of [...dropped, ...kept]) {
      const isKept = kept.includes(key);
      expect(cache.getFresh(key)?.text).toBe(isKept ? key : undefined);
      expect(await ask(key, async () => toPage('new'))).toBe(isKept ? key : 'new');
    }
  });
});
