import { describe, expect, it } from 'vitest';
import {
  createDigest,
  DIGEST_RULE,
  type DigestInput,
  type DigestResult,
} from '../../../../../src/server/engine/errors/digest/create-digest.ts';
import { emptyLocationTable } from '../../../../../src/server/engine/errors/digest/location-table.ts';
import type { ErrorRecord } from '../../../../../src/server/engine/errors/failure.ts';

interface Told {
  readonly class?: string;
  readonly message?: string;
  readonly code?: string;
  readonly members?: readonly string[];
  /** Entries look like `name file`, from the throw outwards. */
  readonly at?: readonly string[];
}

function record({ at = [], ...told }: Told): ErrorRecord {
  const frames = at.map((text) => {
    const [name = '', file = ''] = text.split(' ');
    return { file, line: 1, column: 1, function: name };
  });
  return { class: 'Error', message: 'boom', ...told, frames };
}

function digestOf(errors: readonly Told[], input: Partial<DigestInput> = {}, namespace = 'n'): DigestResult {
  return createDigest(
    { side: 'server', errors: errors.map(record), ...input },
    { namespace, table: emptyLocationTable },
  );
}

const CART = 'checkout src/shared/product/cart.ts';
const TILL = 'checkout src/shared/product/till.ts';

describe('the site', () => {
  it('is the first product frame, with any frames around it', () => {
    const alone = digestOf([{ at: [CART] }]);
    expect(digestOf([{ at: ['parse node_modules/zod/index.js', 'x node:fs', CART, TILL] }]).digest).toBe(alone.digest);
    expect(digestOf([{ at: [TILL] }]).digest).not.toBe(alone.digest);
    expect(alone).toMatchObject({
      kind: 'exception',
      site: { path: 'src/shared/product/cart.ts', function: 'checkout' },
    });
    expect(alone.weak).toBeUndefined();
  });

  it('is not in Spillway if the product called it', () => {
    const engine = 'href src/shared/engine/routing/href.ts';
    expect(digestOf([{ at: [engine, CART] }]).site?.path).toBe('src/shared/product/cart.ts');
    expect(digestOf([{ at: [engine] }]).site?.path).toBe('src/shared/engine/routing/href.ts');
  });

  it('is not in a helper that throws for its caller', () => {
    expect(digestOf([{ at: ['invariant src/shared/product/check.ts', CART] }]).site?.path).toBe(
      'src/shared/product/cart.ts',
    );
  });

  it('does not depend on route or side', () => {
    const errors = [{ at: [CART] }];
    expect(digestOf(errors, { route: '/a', side: 'browser' }).digest).toBe(digestOf(errors, { route: '/b' }).digest);
  });

  it('of endless recursion does not depend on where the stack was cut', () => {
    const told = { class: 'RangeError', message: 'Maximum call stack size exceeded' };
    const [even, odd] = ['even src/shared/product/a.ts', 'odd src/shared/product/a.ts'];
    const left = digestOf([{ ...told, at: [even, odd, even, odd] }]);
    const right = digestOf([
      {
        class: 'InternalError',
        message: 'too much recursion',
        at: ['leaf src/shared/product/a.ts', odd, even, odd, even],
      },
    ]);
    expect(left.digest).toBe(right.digest);
  });
});

describe('the digest of a chain of causes', () => {
  it('uses the outermost error that the product threw, with the innermost as its root', () => {
    const wrapper = { class: 'AppError', message: 'not loaded', at: [CART] };
    const digests = [
      digestOf([wrapper]),
      digestOf([wrapper, { class: 'TypeError', message: 'x', at: [TILL] }]),
      digestOf([wrapper, { code: 'ECONNREFUSED', at: ['c node:net'] }]),
      digestOf([wrapper, { code: 'ETIMEDOUT', at: ['c node:net'] }]),
    ].map(({ digest }) => digest);
    expect(new Set(digests).size).toBe(4);
  });

  it("ignores React's wrapper and an SDK's component stack", () => {
    const thrown = { class: 'TypeError', message: "Cannot read properties of undefined (reading 'a')", at: [CART] };
    const wrapper = { message: 'Minified React error #422; visit https://react.dev/errors/422' };
    const components = {
      class: 'React ErrorBoundary TypeError',
      message: thrown.message,
      at: ['Page src/shared/product/page.tsx'],
    };
    expect(digestOf([wrapper, thrown, components]).digest).toBe(digestOf([thrown]).digest);
  });

  it('uses an AggregateError itself, with the classes of its errors', () => {
    const told = { class: 'AggregateError', message: 'All promises were rejected' };
    const types = digestOf([{ ...told, members: ['TypeError'] }]);
    expect(digestOf([{ ...told, message: '', members: ['TypeError'] }]).digest).toBe(types.digest);
    expect(digestOf([{ ...told, members: ['RangeError'] }]).digest).not.toBe(types.digest);
  });
});

describe('without a place in the source', () => {
  it('message and route decide, and the digest is marked as weak', () => {
    const told = { message: 'No order 7 for "ann"' };
    const known = digestOf([told], { route: '/orders/:id' });
    expect(known.weak).toBe(true);
    expect(digestOf([{ message: 'No order 8 for "bob"' }], { route: '/orders/:id' }).digest).toBe(known.digest);
    expect(digestOf([told], { route: '/carts/:id' }).digest).not.toBe(known.digest);
    expect(digestOf([{ message: 'No cart 7 for "ann"' }], { route: '/orders/:id' }).digest).not.toBe(known.digest);
  });

  it('foreign scripts are distinguished by origin', () => {
    const at = (origin: string) => digestOf([{ at: [`f ${origin}/tag.js`] }]).digest;
    expect(at('https://a.example')).not.toBe(at('https://b.example'));
  });

  it('frames of an unknown build are reported as unresolved, even among known ones', () => {
    expect(digestOf([{ at: ['f client/assets/main-OLD.js'] }]).unresolved).toBe(true);
    expect(digestOf([{ at: ['f client/assets/home-OLD.js', CART] }])).toMatchObject({ site: {}, unresolved: true });
    expect(digestOf([{ at: ['f https://a.example/tag.js'] }]).unresolved).toBeUndefined();
  });
});

describe('an error thrown by a dependency', () => {
  it('is distinguished by code, or by its message if it has none', () => {
    const at = ['query node_modules/pg/lib/client.js', CART];
    const digests = [
      digestOf([{ code: '23505', message: 'duplicate key', at }]),
      digestOf([{ code: '42P01', message: 'no such table', at }]),
      digestOf([{ message: 'Too many re-renders.', at }]),
      digestOf([{ message: 'Minified React error #310; visit https://react.dev', at }]),
      digestOf([{ message: 'Minified React error #301; visit https://react.dev', at }]),
    ].map(({ digest }) => digest);
    expect(new Set(digests).size).toBe(5);
  });
});

describe('special classes', () => {
  it.each([
    [
      'load',
      [
        'Failed to fetch dynamically imported module: https://a.example/x-1.js',
        'error loading dynamically imported module: https://a.example/x-2.js',
        'Importing a module script failed.',
      ],
    ],
    ['network', ['Failed to fetch', 'NetworkError when attempting to fetch resource.', 'Load failed', 'fetch failed']],
    [
      'hydration',
      [
        "Hydration failed because the server rendered HTML didn't match the client.",
        'Minified React error #418; visit https://react.dev/errors/418?args[]=text',
      ],
    ],
    ['script-error', ['Script error.', 'Script error']],
  ])('%s has one digest in all engines', (kind, messages) => {
    const results = messages.map((message) =>
      digestOf([{ class: kind === 'network' ? 'TypeError' : 'Error', message }], { route: '/a' }),
    );
    expect(results.map((result) => result.kind)).toEqual(messages.map(() => kind));
    expect(new Set(results.map(({ digest }) => digest)).size).toBe(1);
    expect(results[0]?.weak).toBeUndefined();
  });

  it('a file that does not load has one title, whoever reports it', () => {
    const route = { class: 'RouteLoadError', message: 'The script or the styles of route "a" could not be loaded.' };
    const module = { class: 'TypeError', message: 'Failed to fetch dynamically imported module: https://a.example/x' };
    const element = { class: 'LoadError', message: 'https://a.example/assets/x-1.js could not be loaded.' };
    const results = [[route], [route, module], [module], [element]].map((errors) => digestOf(errors, { kind: 'load' }));
    expect(new Set(results.map(({ digest, title }) => `${digest} ${title}`))).toEqual(
      new Set([`${results[0]?.digest} LoadError: A script or a style sheet could not be loaded.`]),
    );
  });

  it('hydration errors and timeouts differ by route, requests by the called route', () => {
    const hydration = (route: string) => digestOf([{ message: 'Minified React error #418;' }], { route }).digest;
    expect(hydration('/a')).not.toBe(hydration('/b'));
    const aborted = (name: string, route: string) => digestOf([{ class: name }], { route });
    expect(aborted('TimeoutError', '/a').kind).toBe('timeout');
    expect(aborted('TimeoutError', '/a').digest).not.toBe(aborted('AbortError', '/a').digest);
    expect(aborted('TimeoutError', '/a').digest).not.toBe(aborted('TimeoutError', '/b').digest);
    const request = (called: string, route: string) =>
      digestOf([{ class: 'TypeError', message: 'Load failed' }], { route, details: { called } }).digest;
    expect(request('/api/x', '/a')).toBe(request('/api/x', '/b'));
    expect(request('/api/x', '/a')).not.toBe(request('/api/y', '/a'));
  });

  it('kinds that have no error get a digest too', () => {
    const csp = (blocked: string) => digestOf([], { kind: 'csp', details: { directive: 'script-src', blocked } });
    expect(csp('https://a.example').digest).not.toBe(csp('https://b.example').digest);
    expect(csp('https://a.example').title).toBe('csp script-src https://a.example');
    const death = digestOf([], { kind: 'unclean-death' });
    expect(death.weak).toBeUndefined();
    expect(digestOf([{ at: [CART] }], { kind: 'blocked-loop' }).digest).not.toBe(
      digestOf([{ at: [TILL] }], { kind: 'blocked-loop' }).digest,
    );
  });

  it('Trusted Types reports differ by their source', () => {
    const details = { directive: 'require-trusted-types-for', blocked: 'trusted-types-sink' };
    const report = (...at: string[]) =>
      digestOf(at.length > 0 ? [{ class: '', message: '', at }] : [], { kind: 'csp', details });
    const sources = [
      report(),
      report(CART),
      report(TILL),
      report(' node_modules/react-dom/index.js'),
      report(' https://a.example/tag.js'),
      report(' https://b.example/tag.js'),
      report(' client/assets/old-ABCDEFGH.js'),
    ];
    expect(new Set(sources.map(({ digest }) => digest)).size).toBe(sources.length);
    expect(sources[0]?.digest).toBe('0CMK8ZMK');
    expect(sources[1]).toMatchObject({ site: { path: 'src/shared/product/cart.ts', function: 'checkout' } });
    expect(report(' client/assets/old-12345678.js').digest).toBe(sources.at(-1)?.digest);
    const title = 'csp require-trusted-types-for trusted-types-sink';
    expect(sources.map((source) => source.title)).toEqual([
      ...Array(4).fill(title),
      `${title} https://a.example/tag.js`,
      `${title} https://b.example/tag.js`,
      title,
    ]);
  });

  it('a product error around a failed request has its own digest', () => {
    const request = { class: 'TypeError', message: 'fetch failed' };
    expect(digestOf([{ class: 'AppError', at: [CART] }, request]).kind).toBe('exception');
    expect(digestOf([{ class: 'LoadError', at: ['load src/client/engine/load.ts'] }, request]).kind).toBe('network');
    expect(digestOf([{ ...request, at: [CART] }]).kind).toBe('network');
  });
});

describe('the key', () => {
  it('is the same as in earlier releases (a change needs a new DIGEST_RULE)', () => {
    expect(DIGEST_RULE).toBe(2);
    const digests = [
      digestOf([{ at: [CART] }]),
      digestOf([{ class: 'TypeError', message: "Cannot read properties of undefined (reading 'total')", at: [CART] }]),
      digestOf([{ message: 'No order 7' }], { route: '/orders/:id' }),
      digestOf([{ class: 'TypeError', message: 'Load failed' }], { route: '/a' }),
    ].map(({ digest }) => digest);
    expect(digests).toEqual(['RCN94YN2', 'S2PH82ZY', 'D3CQM07P', 'VF2BMYE8']);
  });

  it('cannot be made equal by moving text from one field to the next', () => {
    const of = (route: string, message: string) => digestOf([{ message }], { route }).digest;
    expect(of('a', 'bc')).not.toBe(of('ab', 'c'));
    expect(of('1:a', 'x')).not.toBe(of('1:', 'ax'));
  });

  it('depends on the namespace and on splitBy, and not on Unicode normalization', () => {
    const errors = [{ message: 'caf\u00e9' }];
    const { digest } = digestOf(errors);
    expect(digestOf([{ message: 'cafe\u0301' }]).digest).toBe(digest);
    expect(digestOf(errors, {}, 'm').digest).not.toBe(digest);
    expect(digestOf(errors, { splitBy: ['tenant-a'] }).digest).not.toBe(
      digestOf(errors, { splitBy: ['tenant-b'] }).digest,
    );
  });

  it('does not contain the name that a minifier gave to a class', () => {
    expect(digestOf([{ class: 't', at: [CART] }]).digest).toBe(digestOf([{ class: 'xe', at: [CART] }]).digest);
    expect(digestOf([{ class: 'CartError', at: [CART] }]).digest).not.toBe(
      digestOf([{ class: 'TillError', at: [CART] }]).digest,
    );
  });
});
