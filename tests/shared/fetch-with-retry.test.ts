import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fetchWithRetry, type RetryOptions } from '../../src/shared/fetch-with-retry.ts';

/** A status, and what `Retry-After` says. */
type Answer = readonly [status: number, retryAfter?: string];

/** Sends these responses in turn, and repeats the last one. Records the time of each call. */
function createServer(answers: readonly Answer[], headers: Readonly<Record<string, string>> = {}) {
  vi.setSystemTime(START);
  const calledAt: number[] = [];
  const fetch = vi.fn(async (_input: RequestInfo | URL, _init?: RequestInit) => {
    calledAt.push(Date.now() - START);
    const [status, retryAfter] = answers[Math.min(calledAt.length, answers.length) - 1] ?? [200];
    const sent = retryAfter === undefined ? headers : { ...headers, 'Retry-After': retryAfter };
    return new Response('body', { status, headers: sent });
  });
  vi.stubGlobal('fetch', fetch);
  return { fetch, calledAt };
}

async function settle(response: Promise<Response>) {
  const outcome = response.then(
    ({ status }) => status,
    (error: Error) => error.name,
  );
  await vi.runAllTimersAsync();
  return outcome;
}

const START = Date.UTC(2026, 0, 1);
const three: RetryOptions = { attempts: 3, deadlineMs: 10_000 };

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

it.each<[method: string, answers: Answer[], calledAt: number[]]>([
  // Until the server succeeds.
  ['GET', [[500], [503], [200]], [0, 150, 450]],
  ['HEAD', [[500], [503], [200]], [0, 150, 450]],
  ['get', [[500], [200]], [0, 150]],
  ['GET', [[404]], [0]],
  ['GET', [[429]], [0]],
  ['GET', [[499]], [0]],
  ['POST', [[500]], [0]],
  ['PUT', [[500]], [0]],
  ['OPTIONS', [[500]], [0]],
  ['GET', [[503, '3'], [200]], [0, 3000]],
  ['GET', [[503, ' 0 '], [200]], [0, 150]],
  ['GET', [[503, 'Thu, 01 Jan 2026 00:00:07 GMT'], [200]], [0, 7000]],
  ['GET', [[503, '-1'], [200]], [0, 150]],
  ['GET', [[503, 'soon'], [200]], [0, 150]],
  // After the deadline.
  ['GET', [[503, '60']], [0]],
])('%s with the answers %j is sent at %j ms', async (method, answers, calledAt) => {
  for (const [input, init] of [
    ['/x', { method }],
    [new Request('http://x.example', { method }), undefined],
  ] as const) {
    const server = createServer(answers);
    expect(await settle(fetchWithRetry(input, init, three))).toBe(answers.at(-1)?.[0]);
    expect(server.calledAt).toEqual(calledAt);
  }
});

it('sends the address of the previous failure, if the response had one', async () => {
  const { fetch } = createServer([[500], [502], [200]], { 'X-Error-Digest': '7K3QM2XA-9F4W0R6B' });
  await settle(fetchWithRetry('/x', { headers: { Accept: 'text/plain' } }, three));
  const sent = fetch.mock.calls.map(([, init]) => Object.fromEntries(new Headers(init?.headers)));
  const again = { accept: 'text/plain', 'x-retry-of': '7K3QM2XA-9F4W0R6B' };
  expect(sent).toEqual([{ accept: 'text/plain' }, again, again]);
});

it('aborts an attempt at the deadline', async () => {
  const fetch = (_: RequestInfo | URL, init?: RequestInit) =>
    new Promise<Response>((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    });
  vi.stubGlobal('fetch', fetch);
  expect(await settle(fetchWithRetry('/x', undefined, three))).toBe('TimeoutError');
});

it.each(['options', 'init', 'request'])('stops waiting when the signal of the %s aborts', async (where) => {
  const { fetch } = createServer([[500]]);
  const aborter = new AbortController();
  const { signal } = aborter;
  const input = new Request('http://x.example', where === 'request' ? { signal } : {});
  const init = where === 'init' ? { signal } : undefined;
  const outcome = fetchWithRetry(input, init, where === 'options' ? { ...three, signal } : three).catch(
    (error: Error) => error.message,
  );
  await vi.advanceTimersByTimeAsync(10);
  aborter.abort(new Error('the visitor left'));
  expect(await outcome).toEqual(where === 'request' ? expect.any(String) : 'the visitor left');
  await vi.runAllTimersAsync();
  expect(fetch).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
});
