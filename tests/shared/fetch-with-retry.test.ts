import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fetchWithRetry, type RetryOptions } from '../../src/shared/fetch-with-retry.ts';

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
}

/** Sends these responses in turn, and repeats the last one. Records the time of each call. */
function createServer(...answers: Answer[]) {
  const startedAt = Date.now();
  const calledAt: number[] = [];
  const fetch = vi.fn(async (_input: RequestInfo | URL, _init?: RequestInit) => {
    calledAt.push(Date.now() - startedAt);
    const { status, headers } = answers[Math.min(calledAt.length, answers.length) - 1] ?? { status: 200 };
    return new Response(`body ${calledAt.length}`, { status, headers });
  });
  vi.stubGlobal('fetch', fetch);
  return { fetch, calledAt };
}

async function settle(response: Promise<Response>) {
  const outcome = response.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  await vi.runAllTimersAsync();
  return outcome;
}

const three: RetryOptions = { attempts: 3, deadlineMs: 10_000 };

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe('fetchWithRetry', () => {
  it.each(['GET', 'HEAD', 'get'])('repeats %s requests until the server succeeds', async (method) => {
    const { calledAt } = createServer({ status: 500 }, { status: 503 }, { status: 200 });
    const outcome = await settle(fetchWithRetry('/x', { method }, three));
    expect(outcome).toMatchObject({ value: { status: 200 } });
    expect(calledAt).toEqual([0, 150, 450]);
  });

  it('sends the address of the previous failure, if the response had one', async () => {
    const first = { status: 500, headers: { 'X-Error-Digest': '7K3QM2XA-9F4W0R6B' } };
    const { fetch } = createServer(first, { status: 502 }, { status: 200 });
    await settle(fetchWithRetry('/x', { headers: { Accept: 'text/plain' } }, three));
    const again = [
      ['accept', 'text/plain'],
      ['x-retry-of', '7K3QM2XA-9F4W0R6B'],
    ];
    expect(fetch.mock.calls.map(([, init]) => [...new Headers(init?.headers)])).toEqual([
      [['accept', 'text/plain']],
      again,
      again,
    ]);
  });

  it.each([200, 301, 304, 400, 404, 408, 429, 499])('does not retry after status %i', async (status) => {
    const { fetch } = createServer({ status: status === 304 ? 204 : status });
    await settle(fetchWithRetry('/x', undefined, three));
    expect(fetch).toHaveBeenCalledOnce();
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('sends %s requests once', async (method) => {
    const { fetch } = createServer({ status: 500 });
    await settle(fetchWithRetry('/x', { method }, three));
    await settle(fetchWithRetry(new Request('http://x.example', { method }), undefined, three));
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  it('does not retry a request without a response', async () => {
    const fetch = vi.fn(() => Promise.reject(new TypeError('connection refused')));
    vi.stubGlobal('fetch', fetch);
    expect(await settle(fetchWithRetry('/x', undefined, three))).toMatchObject({
      error: { message: 'connection refused' },
    });
    expect(fetch).toHaveBeenCalledOnce();
  });

  it('does not wait if the next attempt would be after the deadline', async () => {
    const { calledAt } = createServer({ status: 503, headers: { 'Retry-After': '60' } });
    const response = await fetchWithRetry('/x', undefined, three);
    expect([response.status, await response.text()]).toEqual([503, 'body 1']);
    expect(calledAt).toEqual([0]);
  });

  it('aborts an attempt at the deadline', async () => {
    const fetch = (_: RequestInfo | URL, init?: RequestInit) =>
      new Promise<Response>((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      });
    vi.stubGlobal('fetch', fetch);
    const outcome = settle(fetchWithRetry('/x', undefined, three));
    expect(await outcome).toMatchObject({ error: { name: 'TimeoutError' } });
  });

  it.each(['options', 'init', 'request'])('stops waiting when the signal of the %s aborts', async (where) => {
    const { fetch } = createServer({ status: 500 });
    const aborter = new AbortController();
    const { signal } = aborter;
    const input = new Request('http://x.example', where === 'request' ? { signal } : {});
    const init = where === 'init' ? { signal } : undefined;
    const outcome = fetchWithRetry(input, init, where === 'options' ? { ...three, signal } : three).catch(
      (e: unknown) => e,
    );
    await vi.advanceTimersByTimeAsync(10);
    aborter.abort(new Error('the visitor left'));
    expect(await outcome).toMatchObject(
      where === 'request' ? { name: expect.any(String) } : { message: 'the visitor left' },
    );
    await vi.runAllTimersAsync();
    expect(fetch).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  });
});

it.each([
  ['3', 3_000],
  [' 0 ', 150],
  ['Thu, 01 Jan 2026 00:00:07 GMT', 7_000],
  ['-1', 150],
  ['soon', 150],
  ['', 150],
])('the wait between attempts reads %j in Retry-After as %i ms', async (header, ms) => {
  const { calledAt } = createServer({ status: 503, headers: { 'Retry-After': header } }, { status: 200 });
  await settle(fetchWithRetry('/x', undefined, three));
  expect(calledAt).toEqual([0, ms]);
});
