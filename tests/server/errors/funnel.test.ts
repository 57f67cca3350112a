import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createFailureMaker } from '../../../src/server/errors/create-failure.ts';
import type { Failure, Visitor } from '../../../src/server/errors/failure.ts';
import { createFunnel } from '../../../src/server/errors/funnel.ts';
import { createScrubber } from '../../../src/server/errors/scrub.ts';
import { HttpError, VisitorGone } from '../../../src/server/request/http-error.ts';
import { RequestInfo } from '../../../src/server/request/request-info.ts';
import { ControlFlowResponse, notFound, publicError, redirect } from '../../../src/shared/routing/control-flow.ts';
import { spyOnLog } from '../../support/app.ts';
import { testMaker } from '../../support/unguarded.ts';

const ADDRESS = /^[0-9A-HJKMNP-TV-Z]{8}-[0-9A-HJKMNP-TV-Z]{8}$/;

function createTestFunnel(options: Partial<Parameters<typeof createFunnel>[1]> = {}) {
  const { log, lines } = spyOnLog();
  const funnel = createFunnel(testMaker, { log, ...options });
  const info = createInfo();
  const fail = (error: unknown, more: Partial<Parameters<typeof funnel.fail>[1]> = {}) =>
    funnel.fail(error, { origin: 'loader', route: '/orders/:id', url: '/orders/7?token=canary', info, ...more });
  const addressOf = (...given: Parameters<typeof fail>) => {
    const disposition = fail(...given);
    return (disposition.kind === 'error' && disposition.error.digest) || '';
  };
  return { funnel, fail, addressOf, lines };
}

function createInfo(headers = {}, isSignedIn = false) {
  const facts = { headers, requestId: 'request-1', method: 'GET', address: '::1', origin: 'http://localhost' };
  return Object.assign(new RequestInfo(facts), { isSignedIn });
}

function caught(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}

const boom = () => new Error('boom');
const trap = () => {
  throw new Error('trap');
};

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function cyclic() {
  const first = new Error('first');
  first.cause = new Error('second', { cause: first });
  return first;
}

function throwing() {
  const names = ['message', 'name', 'stack', 'cause', 'status', 'expose', 'type', 'code', 'errors'];
  return Object.defineProperties(new Error('x'), Object.fromEntries(names.map((name) => [name, { get: trap }])));
}

it.each([
  ['an object without a prototype', Object.create(null)],
  ['a revoked Proxy', revoked()],
  ['a Proxy that traps everything', new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap })],
  ['throwing getters', throwing()],
  ['a cycle of causes', cyclic()],
  [
    'a stack of a megabyte',
    Object.assign(new Error('x'), { stack: `Error: x\n${'    at canary (/a/b.ts:1:1)\n'.repeat(40_000)}` }),
  ],
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
  const before = process.threadCpuUsage();
  expect(addressOf(error)).toMatch(ADDRESS);
  expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(1000); // reading a stack without a limit takes minutes
  expect(lines).toHaveLength(1);
  expect(JSON.stringify(lines).length).toBeLessThan(200_000);
});

const again = (address: string) => ({ info: createInfo({ 'x-retry-of': address }) });

it('a repeated request is the same occurrence if it fails in the same way, for six attempts', () => {
  const { addressOf, lines } = createTestFunnel();
  const first = addressOf(boom());
  for (let attempt = 0; attempt < 6; attempt += 1) expect(addressOf(boom(), again(first))).toBe(first);
  expect(lines).toHaveLength(1);
  expect(addressOf(boom(), again(first))).not.toBe(first);
});

it('a repeated request is another one if it fails in another way or half a minute later, or sends an address that is not from here', () => {
  const { addressOf, lines } = createTestFunnel();
  const now = vi.spyOn(performance, 'now').mockReturnValue(1000);
  onTestFinished(() => now.mockRestore());
  const first = addressOf(boom());
  expect(addressOf(new TypeError('another'), again(first))).not.toBe(first);
  const made = `${first.slice(0, 9)}00000000`;
  expect(addressOf(boom(), again(made))).not.toBe(made);
  now.mockReturnValue(31_001);
  expect(addressOf(boom(), again(first))).not.toBe(first);
  expect(lines).toHaveLength(4);
});

describe('a failure', () => {
  it('is recorded once, with its stack and without the query string', () => {
    const { addressOf, lines } = createTestFunnel();
    const error = boom();
    const address = addressOf(error);
    expect(addressOf(error)).toBe(address);
    expect(addressOf(new Error('outer', { cause: new Error('middle', { cause: error }) }))).toBe(address);
    const [digest, occurrence] = address.split('-');
    const where = { origin: 'loader', route: '/orders/:id', url: '/orders/7', build: 'test' };
    expect(lines).toMatchObject([{ digest, occurrence, ...where, stack: expect.stringContaining('funnel.test.ts') }]);
    expect(JSON.stringify(lines)).not.toContain('canary');
  });

  it.each([boom(), Object.freeze(boom()), 'boom', '', 0, Number.NaN, false, 1n, Symbol('boom'), null, undefined])(
    'with the thrown value %s is recorded once within its request, and again in the next',
    (thrown) => {
      const { addressOf, lines } = createTestFunnel();
      const [first, second] = [addressOf(thrown), addressOf(thrown, { info: createInfo() })];
      expect(addressOf(thrown)).toBe(first);
      expect(lines).toHaveLength(2);
      expect(first).not.toBe(second);
      expect(first.slice(0, 8)).toBe(second.slice(0, 8));
    },
  );

  it('with a cause that failed an earlier request is recorded again', () => {
    const { addressOf } = createTestFunnel();
    const cause = boom();
    const wrap = () => addressOf(new Error('Wrapped.', { cause }), { info: createInfo() });
    expect(new Set([wrap(), wrap(), wrap()]).size).toBe(3);
  });

  it('is stored, then reaches every reporter once, complete with breadcrumbs, before its address is known', () => {
    const stored: [Failure, Visitor | undefined][] = [];
    const told: { failure: Failure; error: unknown }[] = [];
    const record = (failure: Failure, visitor: Visitor | undefined) => stored.push([failure, visitor]) > told.length;
    const reporter = { report: (failure: Failure, error: unknown) => void told.push({ failure, error }) };
    const { fail } = createTestFunnel({ sinks: { tracker: { record } }, reporters: [reporter, reporter] });
    const info = createInfo();
    info.addBreadcrumb({ category: 'fetch', message: 'GET https://api.example/' });
    const error = boom();
    const headers = { 'user-agent': 'canary-agent', cookie: 'sid=canary' };
    const disposition = fail(error, { origin: 'action', routeId: 'cart', url: '/?', info, headers });
    fail(error, { origin: 'render', info });
    expect(told).toHaveLength(2);
    const { failure } = told[0] ?? {};
    expect(stored).toEqual([[failure, { address: '::1', id: undefined }]]);
    expect(told[0]?.error).toBe(error);
    expect(disposition).toMatchObject({ error: { digest: `${failure?.digest}-${failure?.occurrence}` } });
    expect(failure).toMatchObject({
      ...{ side: 'server', origin: 'action', release: 'test', routeId: 'cart', requestId: 'request-1' },
      request: { method: 'GET', url: '/', headers: { 'user-agent': 'canary-agent' } },
      breadcrumbs: [{ category: 'fetch', message: 'GET https://api.example/' }],
      errors: [{ class: 'Error', message: 'boom', frames: expect.arrayContaining([expect.anything()]) }],
    });
    expect(JSON.stringify(failure)).not.toContain('sid=');
  });

  it.each([
    ['loader', 'A request failed.'],
    ['service', 'A service failed.'],
    ['process', 'An error was not caught.'],
  ] as const)('of a %s is logged as that', (origin, msg) => {
    const { fail, lines } = createTestFunnel();
    fail(boom(), { origin });
    expect(lines).toMatchObject([{ origin, msg }]);
  });

  it('of a blocked event loop is logged as that', () => {
    const { funnel, lines } = createTestFunnel();
    funnel.record({ kind: 'blocked-loop', error: boom() }, { origin: 'process' });
    expect(lines).toMatchObject([{ kind: 'blocked-loop', msg: 'The event loop was blocked.' }]);
  });

  it('is logged in full if it cannot be stored, and so are the errors of the store and of a reporter', () => {
    const { fail, lines } = createTestFunnel({ sinks: { tracker: { record: trap } }, reporters: [{ report: trap }] });
    expect(fail(boom())).toMatchObject({ kind: 'error', error: { kind: 'failure' } });
    const fault = { msg: 'A failure could not be reported.', stack: expect.stringContaining('trap') };
    expect(lines).toMatchObject([
      fault,
      fault,
      { lost: expect.any(String), failure: { title: 'Error: boom', errors: [{ message: 'boom' }] } },
    ]);
  });

  it('is logged without what a visitor sent, also in the error of a reporter', () => {
    const { log, lines } = spyOnLog();
    const maker = createFailureMaker({ build: 'test' }, { scrubber: createScrubber({ patterns: [/ada@\S+/g] }) });
    const report = () => {
      throw new Error('ada@example.com');
    };
    const funnel = createFunnel(maker, { log, reporters: [{ report }] });
    funnel.fail(boom(), { origin: 'loader', info: createInfo() });
    expect(lines).toHaveLength(2);
    expect(JSON.stringify(lines)).not.toContain('ada@');
  });

  it('is written to standard error if the log throws', () => {
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const { addressOf } = createTestFunnel({ log: { error: trap } as never });
    const address = addressOf(boom());
    const [line] = written.mock.calls[0] ?? [];
    written.mockRestore();
    expect(address).toMatch(ADDRESS);
    expect(line).toMatch(/^The log could not be written \(trap\): \{"digest":/);
  });
});

const error = (kind: string, status: number, message?: string) => ({
  kind: 'error',
  error: { kind, status, ...(message && { message }) },
});

it.each([
  [caught(() => redirect('/x?a=1')), { kind: 'redirect', status: 303, location: '/x?a=1' }, 'redirect'],
  [caught(() => notFound()), error('not-found', 404), 'not-found'],
  [caught(() => publicError(402, 'Pay first.')), error('public', 402, 'Pay first.'), 'public'],
  [new HttpError(415, 'Send JSON.'), error('public', 415, 'Send JSON.'), 'public'],
  [
    Object.assign(new Error('canary'), { status: 413, expose: true, body: 'canary' }),
    error('public', 413, 'The request is too large.'),
    'public',
  ],
  [new VisitorGone(), { kind: 'gone' }, 'visitor-gone'],
  [
    Object.assign(new Error('aborted', { cause: new VisitorGone() }), { name: 'AbortError' }),
    { kind: 'gone' },
    'visitor-gone',
  ],
  [
    Object.assign(new Error('request aborted'), { type: 'request.aborted', status: 400, expose: true }),
    { kind: 'gone' },
    'visitor-gone',
  ],
])(
  'an error that is not a failure is counted, but not logged, and gets no address: %s',
  (thrown, disposition, reason) => {
    const count = vi.fn();
    const { fail, lines } = createTestFunnel({ count, toUrl });
    expect(fail(thrown, { info: createInfo({}, true) })).toEqual(disposition);
    expect(lines).toEqual([]);
    expect(count.mock.calls.map(([name, labels]) => [name, labels])).toEqual([
      ['spillway_reports_ignored_total', { reason }],
    ]);
  },
);

it("an abort is not a failure only if the visitor's disconnect caused it", () => {
  const { fail } = createTestFunnel();
  const abort = () => new DOMException('This operation was aborted', 'AbortError');
  expect(fail(abort(), { endedBy: AbortSignal.abort(new VisitorGone()).reason }).kind).toBe('gone');
  expect(fail(abort(), { endedBy: AbortSignal.abort().reason }).kind).toBe('error');
});

const toUrl = (address: string) => `/failures/${address}`;

it.each([
  ['an operator sees', true, false, true],
  ['others do not see', false, false, false],
  ['an operator does not see on a page that is shared with others', true, true, false],
])('%s where the failure is shown', (_name, isSignedIn, isShared, sees) => {
  const { fail } = createTestFunnel({ toUrl });
  const told = fail(boom(), { info: createInfo({}, isSignedIn), ...(isShared && { isShared }) });
  if (sees) expect(told).toHaveProperty('error.url', expect.stringMatching(/^\/failures\/.{17}$/));
  else expect(told).not.toHaveProperty('error.url');
});
