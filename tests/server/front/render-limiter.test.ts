import { describe, expect, it } from 'vitest';
import {
  createRenderLimiter,
  type RenderLimiterOptions,
  type Waiting,
} from '../../../src/server/front/render-limiter.ts';

/** A limiter whose event-loop iterations and clock the test controls. */
function createTestGate({ renderMs = 1, ...options }: RenderLimiterOptions & { renderMs?: number } = {}) {
  let due: (() => void)[] = [];
  const clock = { ms: 0 };
  const begun: unknown[] = [];
  const limiter = createRenderLimiter({ now: () => clock.ms, onNextTurn: (turn) => void due.push(turn), ...options });
  return {
    limiter,
    clock,
    /** The names of what was rendered, in order. */
    begun,
    /** Acquires a slot, and renders as soon as it gets one. */
    render(name: unknown): void {
      const run = (): void => {
        begun.push(name);
        clock.ms += renderMs;
      };
      const turn = limiter.acquire(SOMEBODY, false);
      if (turn) void turn.then((isFree) => isFree && run());
      else run();
    },
    /** Advances the clock by `ms`, and runs `count` event-loop iterations. */
    async turn(ms = 0, count = 1) {
      clock.ms += ms;
      for (let done = 0; done < count; done++) {
        const now = due;
        due = [];
        for (const callback of now) {
          callback();
          await Promise.resolve();
          await Promise.resolve();
        }
      }
    },
  };
}

const SOMEBODY: Waiting = { endedBy: undefined };

const countTo = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('the render limiter', () => {
  it('starts renders immediately until a slice is used up, and others in later iterations, in order of arrival', async () => {
    const { limiter, render, begun, turn } = createTestGate({ renderMs: 10 });
    for (const name of countTo(17)) render(name);
    expect([begun, limiter.queued]).toEqual([countTo(5), 12]);
    await turn(0, 36);
    expect(limiter.queued).toBe(12);
    await turn();
    expect([begun, limiter.queued]).toEqual([countTo(10), 7]);
    // A new render waits behind those in the queue.
    render(17);
    while (limiter.queued > 0) await turn();
    expect(begun).toEqual(countTo(18));
  });
});
