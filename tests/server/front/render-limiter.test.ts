import { expect, it } from 'vitest';
import { createRenderLimiter } from '../../../src/server/front/render-limiter.ts';

const countTo = (count: number) => Array.from({ length: count }, (_, index) => index);

// tests/server/pages/overload.test.tsx has what is refused, and what must be answered.
it('starts renders immediately until a slice is used up, and others in later iterations, in order of arrival', async () => {
  let due: (() => void)[] = [];
  let ms = 0;
  const begun: number[] = [];
  const limiter = createRenderLimiter({ now: () => ms, onNextTurn: (turn) => void due.push(turn) });
  function render(name: number) {
    const run = () => {
      begun.push(name);
      ms += 10;
    };
    const turn = limiter.acquire({ endedBy: undefined }, false);
    if (turn) void turn.then((isFree) => isFree && run());
    else run();
  }
  async function iterate(count = 1) {
    for (let done = 0; done < count; done++) {
      const now = due;
      due = [];
      for (const callback of now) {
        callback();
        await Promise.resolve();
        await Promise.resolve();
      }
    }
  }
  for (const name of countTo(17)) render(name);
  expect([begun, limiter.queued]).toEqual([countTo(5), 12]);
  await iterate(36);
  expect(limiter.queued).toBe(12);
  await iterate();
  expect([begun, limiter.queued]).toEqual([countTo(10), 7]);
  // A new render waits behind those in the queue.
  render(17);
  while (limiter.queued > 0) await iterate();
  expect(begun).toEqual(countTo(18));
});
