import { expect, it } from 'vitest';
import { createOverload, toMaxPages, watchLoopDelay } from '../../../../src/server/engine/protection/overload.ts';

it.each<[wait: number, pages: number, late: number, level: number, reason: string]>([
  [49, 49, 199, 0, ''],
  [50, 0, 0, 1, 'renders'],
  [499, 0, 0, 1, 'renders'],
  [500, 0, 0, 2, 'renders'],
  [60_000, 0, 0, 2, 'renders'],
  [0, 50, 0, 1, 'pages'],
  [0, 100, 0, 2, 'pages'],
  [0, 0, 200, 1, 'event-loop'],
  [0, 0, 1000, 2, 'event-loop'],
  [0, 0, 4000, 3, 'event-loop'],
  [60, 0, 1200, 2, 'event-loop'],
  [600, 50, 200, 2, 'renders'],
])(
  'with a wait of %d ms, %d pages and a loop that is %d ms late has level %d',
  (waitMs, pages, late, level, reason) => {
    const overload = createOverload({
      delayMs: 500,
      maxPages: 100,
      limiter: { waitMs, pages },
      readLoopDelay: () => late,
    });
    expect(overload.level).toBe(level);
    if (level > 0) expect(overload.reason).toBe(reason);
  },
);

it('measures a block of the event loop, and forgets it soon', async () => {
  const read = watchLoopDelay();
  function block(): number {
    for (const end = performance.now() + 400; performance.now() < end; );
    return read();
  }
  await expect.poll(block, { timeout: 20_000 }).toBeGreaterThan(200);
  await expect.poll(read, { timeout: 10_000 }).toBeLessThan(100);
});

it('derives the page limit from the heap size, within bounds', () => {
  const MiB = 1024 * 1024;
  expect([64, 256, 1024, 2048, 8192].map((size) => toMaxPages(size * MiB))).toEqual([32, 64, 256, 512, 1000]);
});
