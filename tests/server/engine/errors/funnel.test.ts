import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Failure } from '../../../../src/server/engine/errors/failure.ts';
import { createFunnel } from '../../../../src/server/engine/errors/funnel.ts';
import { HttpError, VisitorGone } from '../../../../src/server/engine/errors/http-error.ts';
import { RequestInfo } from '../../../../src/server/engine/request/request-info.ts';
import {
  ControlFlowResponse,
  notFound,
  publicError,
  redirect,
} from '../../../../src/shared/engine/routing/control-flow.ts';
import { spyOnLog } from '../../../support/app.ts';
import { noScrubber } from '../../../support/unguarded.ts';

const ADDRESS = /^[0-9A-HJKMNP-TV-Z]{8}-[0-9A-HJKMNP-TV-Z]{8}$/;

function createTestFunnel() {
  const { log, lines } = spyOnLog();
  const funnel = createFunnel({ scrubber: noScrubber, log, build: 'test' });
  const info = createInfo();
  const fail = (error: unknown, of = info) =>
    funnel.fail(error, { origin: 'loader', route: '/orders/:id', url: '/orders/7?token=canary', info: of });
  const addressOf = (error: unknown) => {
    const disposition = fail(error);
    return disposition.kind === 'error' ? disposition.error.digest : undefined;
  };
  return { fail, addressOf, lines };
}

function createInfo(headers = {}): RequestInfo {
  return new RequestInfo({
    headers,
    requestId: 'request-1',
    method: 'GET',
    address: '::1',
    origin: 'http://localhost',
  });
}

function caught(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function cyclic(): Error {
  const first = new Error('first');
  const second = new Error('second', { cause: first });
  first.cause = second;
  return second;
}

function throwing(): Error {
  const error = new Error('x');
  for (const key of ['message', 'name', 'stack', 'cause', 'status', 'expose', 'type']) {
    Object.defineProperty(error, key, {
      get() {
        throw new Error('trap');
      },
    });
  }
  return error;
}

describe('a hostile error', () => {
  it.each<[string, unknown]>([
    ['a string', 'canary'],
    ['an empty string', ''],
    ['null', null],
    ['undefined', undefined],
    ['a number', Number.NaN],
    ['a symbol', Symbol('canary')],
    ['a bigint', 10n],
    ['a function', () => 'canary'],
    ['an object', { message: 'canary' }],
    ['an object without a prototype', Object.create(null)],
    ['a revoked Proxy', revoked()],
    [
      'a Proxy that traps everything',
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('trap');
          },
          has: () => {
            throw new Error('trap');
          },
          getPrototypeOf: () => {
            throw new Error('trap');
          },
        },
      ),
    ],
    ['a frozen error', Object.freeze(new Error('canary'))],
    ['throwing getters', throwing()],
    ['a cycle of causes', cyclic()],
    [
      'fields of other types',
      Object.assign(new Error('x'), { message: 7, name: {}, stack: [], cause: 'canary', status: '404' }),
    ],
    [
      'a stack of a megabyte',
      Object.assign(new Error('x'), { stack: `Error: x\n${'    at canary (/a/b.ts:1:1)\n'.repeat(40_000)}` }),
    ],
    ['a message of a megabyte', new Error('canary '.repeat(150_000))],
    ['a message that looks like frames', new Error(`x\n${'    at '.repeat(100_000)}`)],
    [
      'a forged control-flow response',
      Object.assign(Object.create(ControlFlowResponse.prototype), {
        kind: 'redirect',
        status: 'x',
        [Symbol.for('spillway.control-flow')]: true,
      }),
    ],
    ['lone surrogates and control characters', new Error('\ud800\u0000\u001b[2J')],
  ])('%s gets an address quickly', (_name, error) => {
    const { addressOf, lines } = createTestFunnel();
    const before = performance.now();
    expect(addressOf(error)).toMatch(ADDRESS);
    expect(performance.now() - before).toBeLessThan(1000); // reading a stack without a limit takes minutes
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines).length).toBeLessThan(200_000);
  });
});

describe('a repeated request', () => {
  const failAgain = ({ fail }: ReturnType<typeof createTestFunnel>, error: unknown, named: string) => {
    const info = createInfo({ 'x-retry-of': named });
    const disposition = fail(error, info);
    return disposition.kind === 'error' ? (disposition.error.digest ?? '') : '';
  };
  const boom = () => new Error('boom');

  it('is the same occurrence if it fails in the same way, for two attempts', () => {
    const funnel = createTestFunnel();
    const first = funnel.addressOf(boom()) ?? '';
    expect(failAgain(funnel, boom(), first)).toBe(first);
    expect(failAgain(funnel, boom(), first)).toBe(first);
    expect(funnel.lines).toHaveLength(1);
    expect(failAgain(funnel, boom(), first)).not.toBe(first);
    expect(funnel.lines).toHaveLength(2);
  });

  it('is another occurrence if it fails in another way, or sends an address that is not from here', () => {
    const funnel = createTestFunnel();
    const first = funnel.addressOf(boom()) ?? '';
    expect(failAgain(funnel, new TypeError('another'), first)).not.toBe(first);
    const made = `${first.slice(0, 9)}00000000`;
    expect(failAgain(funnel, boom(), made)).not.toBe(made);
    expect(funnel.lines).toHaveLength(3);
  });

  it('is another occurrence after half a minute', () => {
    const funnel = createTestFunnel();
    const now = vi.spyOn(performance, 'now').mockReturnValue(1000);
    onTestFinished(() => now.mockRestore());
    const first = funnel.addressOf(boom()) ?? '';
    now.mockReturnValue(31_001);
    expect(failAgain(funnel, boom(), first)).not.toBe(first);
  });
});

describe('a failure', () => {
  it('is recorded once, with its stack and without the query string', () => {
    const { addressOf, lines } = createTestFunnel();
    const error = new Error('boom');
    const address = addressOf(error);
    expect(addressOf(error)).toBe(address);
    expect(addressOf(new Error('outer', { cause: new Error('middle', { cause: error }) }))).toBe(address);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      digest: address?.slice(0, 8),
      occurrence: address?.slice(9),
      origin: 'loader',
      route: '/orders/:id',
      url: '/orders/7',
      build: 'test',
    });
    expect(lines[0]?.stack).toContain('funnel.test.ts');
    expect(JSON.stringify(lines)).not.toContain('canary');
  });

  it.each(['boom', '', 0, Number.NaN, false, 1n, Symbol('boom'), null, undefined])(
    'that is not an object (%s) is one failure within its request, and another occurrence in the next',
    (thrown) => {
      const { addressOf, lines } = createTestFunnel();
      const [first, second] = [addressOf(thrown), createTestFunnel().addressOf(thrown)];
      expect(addressOf(thrown)).toBe(first);
      expect(lines).toHaveLength(1);
      expect(first).not.toBe(second);
      expect(first?.slice(0, 8)).toBe(second?.slice(0, 8));
    },
  );

  it('reaches every reporter once, complete with breadcrumbs, before its address is known', () => {
    const { log } = spyOnLog();
    const told: { failure: Failure; error: unknown }[] = [];
    const reporter = { report: (failure: Failure, error: unknown) => told.push({ failure, error }) > 0 };
    const funnel = createFunnel({
      scrubber: noScrubber,
      log,
      build: 'b1',
      release: 'v1',
      reporters: [reporter, reporter],
      toVisitor: (address) => `hash of ${address}`,
    });
    const info = createInfo();
    info.addBreadcrumb({ at: 1, category: 'fetch', message: 'GET https://api.example/' });
    const error = new Error('boom');
    const headers = { 'user-agent': 'canary-agent', cookie: 'sid=canary' };
    const disposition = funnel.fail(error, { origin: 'action', routeId: 'cart', info, headers });
    funnel.fail(error, { origin: 'render' });

    expect(told).toHaveLength(2);
    const { failure } = told[0] ?? {};
    expect(told[0]?.error).toBe(error);
    expect(disposition).toMatchObject({ error: { digest: `${failure?.digest}-${failure?.occurrence}` } });
    expect(failure).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      kind: 'exception',
      side: 'server',
      origin: 'action',
      build: 'b1',
      release: 'v1',
      title: 'Error: boom',
      visitor: 'hash of ::1',
      routeId: 'cart',
      requestId: 'request-1',
      request: { method: 'GET', url: '/', headers: { 'user-agent': 'canary-agent' } },
      breadcrumbs: [{ category: 'fetch', message: 'GET https://api.example/' }],
      errors: [{ class: 'Error', message: 'boom' }],
    });
    expect(failure?.errors[0]?.frames.length).toBeGreaterThan(0);
    expect(JSON.stringify(failure)).not.toContain('sid=');
  });

  it('is logged in full if it cannot be stored, and so is the error of a reporter', () => {
    const { log, lines } = spyOnLog();
    const broken = {
      report: (): boolean => {
        throw new Error('no space left');
      },
    };
    const funnel = createFunnel({ scrubber: noScrubber, log, build: 'b1', reporters: [broken] });
    const disposition = funnel.fail(new Error('boom'), { origin: 'api' });
    expect(disposition).toMatchObject({ kind: 'error', error: { kind: 'failure' } });
    expect(lines).toMatchObject([
      { msg: 'A failure could not be reported.', stack: expect.stringContaining('no space left') },
      { lost: expect.any(String), failure: { title: 'Error: boom', errors: [{ message: 'boom' }] } },
    ]);
  });

  it('says in the log that a service failed, outside of a request', () => {
    const { log, lines } = spyOnLog();
    const funnel = createFunnel({ scrubber: noScrubber, log, build: 'test' });
    funnel.fail(new Error('The queue is broken.'), { origin: 'service' });
    expect(lines).toMatchObject([
      { msg: 'A service failed.', origin: 'service', title: 'Error: The queue is broken.' },
    ]);
  });

  it('without a thrown error also has an address', () => {
    const { log, lines } = spyOnLog();
    const funnel = createFunnel({ scrubber: noScrubber, log, build: 'b1' });
    const address = funnel.record({ kind: 'blocked-loop', errors: [], extra: { ms: 1500 } }, { origin: 'process' });
    expect(address).toMatch(ADDRESS);
    expect(lines).toMatchObject([{ kind: 'blocked-loop', extra: { ms: 1500 }, digest: address.slice(0, 8) }]);
  });

  it('shows nothing but its address', () => {
    const { fail } = createTestFunnel();
    expect(fail(Object.assign(new Error('canary'), { status: 404, code: 'canary' }))).toEqual({
      kind: 'error',
      error: { kind: 'failure', status: 500, digest: expect.stringMatching(ADDRESS) },
    });
  });

  it('has the same digest for other data, lines and processes, and another for another throw site', () => {
    const at = (id: number) => new Error(`No order ${id} for "someone-${id}" at https://x.example/${id}`);
    const other = () => new Error('No order 1 for "someone-1" at https://x.example/1');
    const digestOf = (error: Error) => createTestFunnel().addressOf(error)?.slice(0, 8);
    expect(digestOf(at(1))).toBe(digestOf(at(22)));
    expect(digestOf(at(1))).not.toBe(digestOf(other()));
  });

  it('has a digest that depends on the namespace', () => {
    const { log } = spyOnLog();
    const error = new Error('boom');
    const digests = ['a', 'b'].map((namespace) =>
      createFunnel({ scrubber: noScrubber, log, build: 't', namespace }).fail(error, { origin: 'api' }),
    );
    expect(digests[0]).not.toEqual(digests[1]);
  });
});

it('counts ignored errors by reason', () => {
  const { log } = spyOnLog();
  const count = vi.fn();
  const funnel = createFunnel({ scrubber: noScrubber, log, build: 'b1', count });
  for (const outcome of [() => notFound(), () => redirect('/x')]) funnel.fail(caught(outcome), { origin: 'loader' });
  funnel.fail(new VisitorGone(), { origin: 'loader' });
  expect(count.mock.calls.map(([name, labels]) => [name, labels])).toEqual([
    ['spillway_reports_ignored_total', { reason: 'not-found' }],
    ['spillway_reports_ignored_total', { reason: 'redirect' }],
    ['spillway_reports_ignored_total', { reason: 'visitor-gone' }],
  ]);
});

describe('an error that is not a failure', () => {
  it.each<[unknown, unknown]>([
    [caught(() => redirect('/x?a=1')), { kind: 'redirect', status: 303, location: '/x?a=1' }],
    [caught(() => notFound()), { kind: 'error', error: { kind: 'not-found', status: 404 } }],
    [
      caught(() => publicError(402, 'Pay first.')),
      { kind: 'error', error: { kind: 'public', status: 402, message: 'Pay first.' } },
    ],
    [
      new HttpError(415, 'Send JSON.'),
      { kind: 'error', error: { kind: 'public', status: 415, message: 'Send JSON.' } },
    ],
    [
      Object.assign(new Error('canary'), { status: 413, expose: true, body: 'canary' }),
      { kind: 'error', error: { kind: 'public', status: 413, message: 'The request is too large.' } },
    ],
    [new VisitorGone(), { kind: 'visitor-gone' }],
    [
      Object.assign(new Error('aborted', { cause: new VisitorGone() }), { name: 'AbortError' }),
      { kind: 'visitor-gone' },
    ],
    [
      Object.assign(new Error('request aborted'), { type: 'request.aborted', status: 400, expose: true }),
      { kind: 'visitor-gone' },
    ],
  ])('%s is not logged and gets no address', (error, disposition) => {
    const { fail, lines } = createTestFunnel();
    expect(fail(error)).toEqual(disposition);
    expect(lines).toEqual([]);
  });

  it("an abort is ignored only if the visitor's disconnect caused it", () => {
    const { log } = spyOnLog();
    const funnel = createFunnel({ scrubber: noScrubber, log, build: 'test' });
    const gone = new AbortController();
    gone.abort(new VisitorGone());
    const abort = new DOMException('This operation was aborted', 'AbortError');
    expect(funnel.fail(abort, { origin: 'loader', endedBy: gone.signal.reason }).kind).toBe('visitor-gone');
    const other = new DOMException('This operation was aborted', 'AbortError');
    expect(funnel.fail(other, { origin: 'loader', endedBy: AbortSignal.abort().reason }).kind).toBe('error');
  });
});

it('writes to standard error if the log throws', () => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const log = {
    error: () => {
      throw new Error('disk full');
    },
  };
  const funnel = createFunnel({ scrubber: noScrubber, log: log as never, build: 'test' });
  const disposition = funnel.fail(new Error('boom'), { origin: 'api' });
  const [line] = written.mock.calls[0] ?? [];
  written.mockRestore();
  expect(disposition).toMatchObject({ kind: 'error', error: { kind: 'failure' } });
  expect(line).toMatch(/^The log could not be written \(disk full\): \{"digest":/);
});

const links = { toUrl: (address: string) => `/failures/${address}`, arePublic: false };

describe('an operator', () => {
  const verdictFor = (isOperator: boolean, isShared?: boolean) => {
    const funnel = createFunnel({ scrubber: noScrubber, log: spyOnLog().log, build: 'test', links });
    const info = createInfo();
    info.isOperator = isOperator;
    return funnel.fail(new Error('x'), { origin: 'loader', info, ...(isShared && { isShared }) });
  };

  it('sees where the failure is shown', () => {
    expect(verdictFor(true)).toMatchObject({
      error: { kind: 'failure', url: expect.stringMatching(/^\/failures\/.{17}$/) },
    });
    expect(verdictFor(false)).not.toHaveProperty('error.url');
  });

  it('does not see it on a page that is shared with others', () => {
    expect(verdictFor(true, true)).not.toHaveProperty('error.url');
  });

  it('does not see it if nothing failed', () => {
    const funnel = createFunnel({ scrubber: noScrubber, log: spyOnLog().log, build: 'test' });
    const info = createInfo();
    info.isOperator = true;
    expect(funnel.fail(caught(notFound), { origin: 'loader', info })).toEqual({
      kind: 'error',
      error: { kind: 'not-found', status: 404 },
    });
  });
});
