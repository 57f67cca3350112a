import { describe, expect, it } from 'vitest';
import { toMaxPages } from '../../../../src/server/engine/protection/open-overload.ts';
import { createOverload, type Reading } from '../../../../src/server/engine/protection/overload.ts';

/** An overload detector with limits of 500 ms delay and 100 pages, measured four times a second. */
function createTestOverload() {
  const limiter = { pages: 0, waitMs: 0 };
  const overload = createOverload({ delayMs: 500, maxPages: 100, limiter });
  let at = 0;
  return {
    limiter,
    overload,
    take(reading: Partial<Reading>, times = 1) {
      for (let time = 0; time < times; time++) {
        at += 250;
        overload.take({ loopDelayMs: 1, heapShare: 0.3, at, ...reading });
      }
      return [overload.level, overload.reason];
    },
  };
}

const CALM = [0, undefined];

describe('overload', () => {
  it('is not detected as long as all values are normal', () => {
    const { overload, take } = createTestOverload();
    expect([overload.level, overload.reason]).toEqual(CALM);
    expect(take({ loopDelayMs: 150, heapShare: 0.8 }, 20)).toEqual(CALM);
  });

  it.each([
    [49, CALM],
    [50, [1, 'renders']],
    [499, [1, 'renders']],
    [500, [2, 'renders']],
    [60_000, [2, 'renders']],
  ])('is detected immediately from a render queue of %d ms', (waitMs, expected) => {
    const { limiter, overload } = createTestOverload();
    limiter.waitMs = waitMs;
    expect([overload.level, overload.reason]).toEqual(expected);
    limiter.waitMs = 0;
    expect([overload.level, overload.reason]).toEqual(CALM);
  });

  it.each([
    [49, CALM],
    [50, [1, 'pages']],
    [100, [2, 'pages']],
  ])('is detected from %d pages in progress', (pages, expected) => {
    const { limiter, overload } = createTestOverload();
    limiter.pages = pages;
    expect([overload.level, overload.reason]).toEqual(expected);
  });

  it.each([
    [250, [1, 'event-loop']],
    [1000, [2, 'event-loop']],
    [4000, [3, 'event-loop']],
  ])('is detected from an event loop that is late by %d ms', (loopDelayMs, expected) => {
    expect(createTestOverload().take({ loopDelayMs })).toEqual(expected);
  });

  it('ends within two seconds after one long block', () => {
    const { take } = createTestOverload();
    expect(take({ loopDelayMs: 2000 })).toEqual([2, 'event-loop']);
    expect(take({}, 8)).toEqual(CALM);
  });

  it('does not flicker if the event loop is late now and then', () => {
    const { take } = createTestOverload();
    take({ loopDelayMs: 1100 });
    const levels = Array.from({ length: 40 }, (_, index) => take({ loopDelayMs: index % 2 ? 1100 : 700 })[0]);
    expect(new Set(levels)).toEqual(new Set([2]));
  });

  it('decreases one level at a time', () => {
    const { take } = createTestOverload();
    const levels = [take({ loopDelayMs: 5000 })[0]];
    for (let reading = 0; reading < 30; reading++) levels.push(take({})[0]);
    expect(levels.filter((level, index) => level !== levels[index - 1])).toEqual([3, 2, 1, 0]);
  });

  it.each([
    [0.86, [1, 'heap']],
    [0.91, [2, 'heap']],
    [0.96, [3, 'heap']],
  ])('is detected from a heap that is %d full', (heapShare, expected) => {
    expect(createTestOverload().take({ heapShare })).toEqual(expected);
  });

  it('is not detected from a heap that stays full despite refusals, until it has had room again', () => {
    const { take } = createTestOverload();
    expect(take({ heapShare: 0.92 }, 39)).toEqual([2, 'heap']);
    expect(take({ heapShare: 0.92 }, 400)).toEqual(CALM);
    take({ heapShare: 0.3 }, 10);
    expect(take({ heapShare: 0.92 })).toEqual([2, 'heap']);
  });

  it('has the level of the worst value', () => {
    const { limiter, take } = createTestOverload();
    limiter.waitMs = 60;
    expect(take({ loopDelayMs: 1200 })).toEqual([2, 'event-loop']);
    limiter.waitMs = 600;
    expect(take({}, 20)).toEqual([2, 'renders']);
  });
});

it('derives the page limit from the heap size, within bounds', () => {
  const MiB = 1024 * 1024;
  expect([64, 256, 1024, 2048, 8192].map((size) => toMaxPages(size * MiB))).toEqual([32, 64, 256, 512, 1000]);
});
