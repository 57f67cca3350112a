import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';
import { VisitorGone } from '../../../../src/server/engine/errors/visitor-gone.ts';
import {
  createRenderLimiter,
  type RenderLimiterOptions,
  type Waiting,
} from '../../../../src/server/engine/protection/render-limiter.ts';

/** How long the limiter renders in one event-loop iteration (ms). */
const SLICE = 50;

/** A limiter whose event-loop iterations and clock the test controls. */
function start({ renderMs = 10, ...options }: RenderLimiterOptions & { renderMs?: number } = {}) {
  let due: (() => void)[] = [];
  const clock = { ms: 0 };
  const begun: unknown[] = [];
  const limiter = createRenderLimiter({ now: () => clock.ms, onNextTurn: (turn) => void due.push(turn), ...options });
  return {
    limiter,
    clock,
    /** The names of what was rendered, in order. */
    begun,
    /** Acquires a slot for each name, and renders as soon as it gets one. */
    render(...names: unknown[]): void {
      for (const name of names) {
        const run = (): void => {
          begun.push(name);
          clock.ms += renderMs;
        };
        const turn = limiter.acquire(SOMEBODY, false);
        if (turn) void turn.then((isFree) => isFree && run());
        else run();
      }
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

it('starts renders at once until a slice is used up, then one slice per iteration in order of arrival', async () => {
  const { limiter, render, begun, turn } = start();
  render(...countTo(17));
  expect([begun, limiter.queued]).toEqual([countTo(5), 12]);
  await turn();
  expect([begun, limiter.queued]).toEqual([countTo(10), 7]);
  // A new render waits behind those in the queue.
  render(17);
  await turn(0, 2);
  expect([begun, limiter.queued]).toEqual([countTo(18), 0]);
  // Later renders have not waited yet.
  await turn(0, 2);
  render(18);
  expect(begun).toEqual(countTo(19));
});

it('keeps thousands of renders in order', async () => {
  const { render, begun, turn } = start({ renderMs: 1 });
  render(...countTo(5000));
  while (begun.length < 5000) await turn();
  expect(begun).toEqual(countTo(5000));
});

it('forgets a page that has its slot, while others still wait', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const due: (() => void)[] = [];
  let now = 0;
  const limiter = createRenderLimiter({ now: () => now, onNextTurn: (callback) => void due.push(callback) });
  void limiter.acquire(SOMEBODY, false);
  now = SLICE;
  const first = new WeakRef(queuePage());
  void limiter.acquire(SOMEBODY, false);
  due[0]?.();
  expect(limiter.queued).toBe(1);
  await new Promise((resolve) => setTimeout(resolve)); // a WeakRef holds its target until this turn ends
  collect();
  expect(first.deref()).toBeUndefined();

  function queuePage(): Waiting {
    const page = { endedBy: undefined };
    void limiter.acquire(page, false);
    return page;
  }
});

it('estimates the wait of the next render from the oldest one and the speed of the queue', async () => {
  const { limiter, clock, render, turn } = start();
  render(0);
  expect(limiter.waitMs).toBe(0);
  clock.ms += SLICE;
  render(...countTo(200));
  clock.ms += 30;
  expect(limiter.waitMs).toBe(30);
  await turn(0, 20);
  expect(limiter.queued).toBe(100);
  render(...countTo(200));
  expect(limiter.waitMs).toBeGreaterThan(300 * 8);
  expect(limiter.waitMs).toBeLessThan(300 * 12);
});

it('refuses renders that have waited or would wait too long, except those that must be answered', async () => {
  const onRefuse = vi.fn();
  const { limiter, clock, render, turn } = start({ renderMs: 60, maxWaitMs: 100, onRefuse });
  render(0);
  const [first, second, must] = [true, true, false].map((mayRefuse) => limiter.acquire(SOMEBODY, mayRefuse));
  clock.ms += 101;
  expect(await limiter.acquire(SOMEBODY, true)).toBe(false);
  expect(onRefuse).toHaveBeenCalledTimes(1);
  const late = limiter.acquire(SOMEBODY, false);
  await turn();
  expect(await first).toBe(true);
  await turn(200, 8);
  expect([await second, await must]).toEqual([false, true]);
  expect(onRefuse).toHaveBeenCalledTimes(2);
  await turn(500, 8);
  expect(await late).toBe(true);
});

it('renders one per iteration if renders are slow, and leaves iterations for other work between them', async () => {
  const { limiter, clock, render, turn } = start({ renderMs: 4, maxWaitMs: 100 });
  render(0);
  clock.ms += SLICE;
  render(1, 2, 3, 4);
  // At most seven iterations, and no more time than the render took.
  for (const [ms, count, queued] of [
    [21, 1, 3],
    [0, 7, 3],
    [0, 1, 2],
    [2, 1, 2],
    [6, 1, 1],
  ] as const) {
    await turn(ms, count);
    expect(limiter.queued).toBe(queued);
  }
});

it('leaves iterations for other work while each brings a new connection, one per render', async () => {
  const { limiter, render, begun, turn } = start();
  render(0, 1, 2);
  limiter.noteConnection();
  await turn();
  render(3);
  expect([begun, limiter.queued]).toEqual([countTo(3), 1]);
  limiter.noteConnection();
  await turn();
  expect(limiter.queued).toBe(1);
  // No connection arrived in this one.
  await turn();
  expect([begun, limiter.queued]).toEqual([countTo(4), 0]);
  // However many arrive, the two renders of the previous slice leave two iterations.
  await turn(0, 2);
  render(4, 5);
  for (const queued of [1, 2]) {
    limiter.noteConnection();
    await turn();
    render(5 + queued);
    expect(limiter.queued).toBe(queued);
  }
  limiter.noteConnection();
  await turn();
  expect([begun, limiter.queued]).toEqual([countTo(8), 0]);
});

it('skips visitors who have left, and does not count them as refused', async () => {
  const onRefuse = vi.fn();
  const { limiter, render, turn } = start({ renderMs: SLICE, onRefuse });
  render(0);
  const gone = limiter.acquire({ endedBy: new VisitorGone() }, true);
  const there = limiter.acquire(SOMEBODY, true);
  await turn();
  expect([await gone, await there]).toEqual([false, true]);
  expect(onRefuse).not.toHaveBeenCalled();
});

it('counts each page in progress once', () => {
  const { limiter } = start();
  const leave = limiter.enter();
  limiter.enter();
  expect(limiter.pages).toBe(2);
  leave();
  leave();
  expect(limiter.pages).toBe(1);
});
