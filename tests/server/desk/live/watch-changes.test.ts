import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createChangeWatch } from '../../../../src/server/desk/live/watch-changes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setUp() {
  let changes = 1;
  const read = vi.fn(async () => changes);
  const watch = createChangeWatch({ read, interval: 1000 });
  return {
    read,
    watch,
    change() {
      changes += 1;
    },
  };
}

it('reads nothing while there are no listeners, and reads again once there is one', async () => {
  const { read, watch } = setUp();
  await vi.advanceTimersByTimeAsync(5000);
  expect(read).not.toHaveBeenCalled();
  const stop = watch.listen(() => {});
  await vi.advanceTimersByTimeAsync(3500);
  expect(read).toHaveBeenCalledTimes(4);
  stop();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(read).toHaveBeenCalledTimes(5);
  watch.listen(() => {});
  await vi.advanceTimersByTimeAsync(500);
  expect(read).toHaveBeenCalledTimes(6);
});

it('reads once for all listeners, and notifies each of them', async () => {
  const { read, watch, change } = setUp();
  const heard = [vi.fn(), vi.fn(), vi.fn()];
  for (const listener of heard) watch.listen(listener);
  await vi.advanceTimersByTimeAsync(500);
  change();
  await vi.advanceTimersByTimeAsync(1000);
  for (const listener of heard) expect(listener).toHaveBeenCalledTimes(1);
  expect(read).toHaveBeenCalledTimes(2);
});

it('notifies once per interval during a burst of changes', async () => {
  const { watch, change } = setUp();
  const listener = vi.fn();
  watch.listen(listener);
  for (let tenths = 0; tenths < 100; tenths++) {
    change();
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(listener.mock.calls.length).toBeGreaterThan(8);
  expect(listener.mock.calls.length).toBeLessThanOrEqual(10);
});

it('continues after an outage of the store, and announces the changes made during it', async () => {
  const { read, watch, change } = setUp();
  const listener = vi.fn();
  watch.listen(listener);
  await vi.advanceTimersByTimeAsync(500);
  read.mockRejectedValueOnce(new Error('away')).mockRejectedValueOnce(new Error('away'));
  change();
  await vi.advanceTimersByTimeAsync(2000);
  expect(listener).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1000);
  expect(listener).toHaveBeenCalledTimes(1);
});
