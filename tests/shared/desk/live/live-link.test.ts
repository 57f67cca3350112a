import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLiveLink, type LiveState } from '../../../../src/shared/desk/live/live-link.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A fake event source that the test controls. */
class FakeSource extends EventTarget {
  readyState = 0;

  say(name: string): void {
    this.readyState = 1;
    this.dispatchEvent(new Event(name));
  }

  fail(readyState: number): void {
    this.readyState = readyState;
    this.dispatchEvent(new Event('error'));
  }

  close(): void {
    this.readyState = 2;
  }
}

function setUp({ takes = 0 } = {}) {
  const sources: FakeSource[] = [];
  const states: LiveState[] = [];
  let answer: boolean | Error = true;
  const refresh = vi.fn(async () => {
    await new Promise((resolve) => setTimeout(resolve, takes));
    if (answer instanceof Error) throw answer;
    return answer;
  });
  const link = createLiveLink({
    open: () => {
      const source = new FakeSource();
      sources.push(source);
      return source as unknown as EventSource;
    },
    refresh,
    onState: (state) => void states.push(state),
  });
  return {
    link,
    refresh,
    sources,
    states,
    last: () => sources.at(-1) ?? expect.unreachable(),
    answerWith(next: boolean | Error) {
      answer = next;
    },
  };
}

it('refreshes once with the first message of the stream, then with each change', async () => {
  const { link, refresh, states, last } = setUp();
  link.start();
  expect(refresh).not.toHaveBeenCalled();
  last().say('ping');
  await vi.advanceTimersByTimeAsync(5000);
  expect(refresh).toHaveBeenCalledTimes(1);
  last().say('ping');
  await vi.advanceTimersByTimeAsync(5000);
  expect(refresh).toHaveBeenCalledTimes(1);
  last().say('changes');
  await vi.advanceTimersByTimeAsync(0);
  expect(refresh).toHaveBeenCalledTimes(2);
  expect(states.at(-1)).toBe('live');
});

it('refreshes at most every two seconds in a storm of changes, and once after it', async () => {
  const { link, refresh, last } = setUp();
  link.start();
  for (let tenths = 0; tenths < 200; tenths++) {
    last().say('changes');
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(refresh.mock.calls.length).toBeLessThanOrEqual(11);
  expect(refresh.mock.calls.length).toBeGreaterThanOrEqual(10);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(refresh.mock.calls.length).toBeLessThanOrEqual(12);
});

it('refreshes less often if the server is slow', async () => {
  const { link, refresh, last } = setUp({ takes: 1000 });
  link.start();
  for (let seconds = 0; seconds < 100; seconds++) {
    last().say('changes');
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(refresh.mock.calls.length).toBeLessThanOrEqual(11);
});

it.each([
  ['is refused', (source: FakeSource) => source.fail(2)],
  ['opens but stays silent, as behind a buffering proxy', () => undefined],
])('refreshes once if a stream %s, and tries another one later', async (_how, meet) => {
  const { link, refresh, sources, states, last } = setUp();
  link.start();
  meet(last());
  await vi.advanceTimersByTimeAsync(50_000);
  expect(refresh).toHaveBeenCalledTimes(1);
  expect(states.at(-1)).toBe('delayed');
  expect(sources).toHaveLength(1);
  while (sources.length < 2) await vi.advanceTimersByTimeAsync(1000);
  last().say('ping');
  await vi.advanceTimersByTimeAsync(0);
  expect(states.at(-1)).toBe('live');
  await vi.advanceTimersByTimeAsync(40_000);
  expect(refresh).toHaveBeenCalledTimes(2);
});

it('refreshes when a stream is restored after a cut', async () => {
  const { link, refresh, states, sources, last } = setUp();
  link.start();
  last().say('ping');
  await vi.advanceTimersByTimeAsync(5000);
  last().fail(0);
  await vi.advanceTimersByTimeAsync(3000);
  last().say('ping');
  await vi.advanceTimersByTimeAsync(0);
  expect(refresh).toHaveBeenCalledTimes(2);
  expect([sources.length, states.at(-1)]).toEqual([1, 'live']);
});

it('treats a stream that becomes silent as lost', async () => {
  const { link, sources, states, last } = setUp();
  link.start();
  last().say('ping');
  await vi.advanceTimersByTimeAsync(46_000);
  expect(sources[0]?.readyState).toBe(2);
  expect(states.at(-1)).toBe('delayed');
});

it('reports a lost connection, retries rarely, and recovers with the first response', async () => {
  const { link, refresh, states, last, answerWith } = setUp();
  link.start();
  answerWith(new Error('offline'));
  last().say('ping');
  await vi.advanceTimersByTimeAsync(40_000);
  expect(states.at(-1)).toBe('lost');
  expect(refresh.mock.calls.length).toBeLessThan(8);
  answerWith(true);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(states.at(-1)).toBe('delayed');
});

it('has no stream and sends no requests while stopped', async () => {
  const { link, refresh, sources } = setUp();
  link.start();
  sources[0]?.say('changes');
  await vi.advanceTimersByTimeAsync(10);
  link.stop();
  expect(sources[0]?.readyState).toBe(2);
  await vi.advanceTimersByTimeAsync(600_000);
  expect([refresh.mock.calls.length, sources.length]).toEqual([1, 1]);
  link.start();
  sources[1]?.say('ping');
  await vi.advanceTimersByTimeAsync(10);
  expect([refresh.mock.calls.length, sources.length]).toEqual([2, 2]);
});
