import { describe, expect, it } from 'vitest';
import {
  createDigest,
  DIGEST_RULE,
  type DigestInput,
  type DigestResult,
} from '../../../../src/server/errors/digest/create-digest.ts';
import { emptyLocationTable } from '../../../../src/server/errors/digest/location-table.ts';
import { OBJECT } from '../../../../src/server/errors/digest/read-error.ts';
import type { ErrorRecord } from '../../../../src/server/errors/failure.ts';

interface Told extends Partial<Omit<ErrorRecord, 'frames'>> {
  /** Entries look like `name file`, from the throw outwards. */
  readonly at?: readonly string[];
}

type Given = readonly [errors: readonly Told[], input?: Partial<DigestInput>, namespace?: string];

function read(...[errors, input = {}, namespace = 'n']: Given): DigestResult {
  const records = errors.map(({ at = [], ...told }): ErrorRecord => {
    const frames = at.map((text) => {
      const [name = '', file = ''] = text.split(' ');
      return { file, line: 1, column: 1, function: name };
    });
    return { class: 'Error', message: 'boom', ...told, frames };
  });
  return createDigest({ side: 'server', errors: records, ...input }, { namespace, table: emptyLocationTable });
}

const digestOf = (...given: Given) => read(...given).digest;

const CART = 'checkout src/shared/product/cart.ts';
const TILL = 'checkout src/shared/product/till.ts';
const ENGINE = 'href src/shared/routing/href.ts';
const WRAPPER = { class: 'AppError', message: 'not loaded', at: [CART] };
const MANY = { class: 'AggregateError', message: 'All promises were rejected' };
const DEPENDENCY = ['query node_modules/pg/lib/client.js', CART];
const FETCH = { class: 'TypeError', message: 'Load failed' };
const THROWN = { class: 'TypeError', message: "Cannot read properties of undefined (reading 'a')", at: [CART] };
const TRUSTED_TYPES = { directive: 'require-trusted-types-for', blocked: 'trusted-types-sink' };
/** An error that was thrown in these places. */
const at = (...places: string[]): Given => [[{ at: places }]];
const said = (message: string, route: string): Given => [[{ message }], { route }];
const csp = (blocked: string): Given => [[], { kind: 'csp', details: { directive: 'script-src', blocked } }];
const called = (path: string, route: string): Given => [[FETCH], { route, details: { called: path } }];

it.each<[string, Given[]]>([
  [
    'whose first product frame is the same, with any frames around it',
    [at(CART), at('parse node_modules/zod/index.js', 'x node:fs', CART, TILL)],
  ],
  [
    'of thrown objects, whatever they hold',
    ['', ': { code: 7 }', ": { name: 'Ada' }"].map((held) => [[{ class: 'NonError', message: `${OBJECT}${held}` }]]),
  ],
  [
    'on another side and route',
    [
      [[{ at: [CART] }], { route: '/a', side: 'browser' }],
      [[{ at: [CART] }], { route: '/b' }],
    ],
  ],
  [
    "in React's wrapper, and with an SDK's component stack",
    [
      [[THROWN]],
      [
        [
          { message: 'Minified React error #422; visit https://react.dev/errors/422' },
          THROWN,
          { ...THROWN, class: 'React ErrorBoundary TypeError', at: ['Page src/shared/product/page.tsx'] },
        ],
      ],
    ],
  ],
  [
    'of an AggregateError, with any message',
    [[[{ ...MANY, members: ['TypeError'] }]], [[{ ...MANY, message: '', members: ['TypeError'] }]]],
  ],
  [
    'without a place, for other data',
    [said('No order 7 for "ann"', '/orders/:id'), said('No order 8 for "bob"', '/orders/:id')],
  ],
  ['of a failed request, on another page', [called('/api/x', '/a'), called('/api/x', '/b')]],
  ['that ended the server', [at(CART), [[{ at: [CART] }], { kind: 'server-exit' }]]],
  ['in another Unicode normalization', [[[{ message: 'caf\u00e9' }]], [[{ message: 'cafe\u0301' }]]]],
  [
    'with another name that a minifier gave to a class',
    [[[{ class: 't', at: [CART] }]], [[{ class: 'xe', at: [CART] }]]],
  ],
])('an error %s has the same digest', (_name, given) => {
  expect(new Set(given.map((one) => digestOf(...one))).size).toBe(1);
});

it.each<[string, Given[]]>([
  ['the product frame', [at(CART), at(TILL)]],
  ['the class', [[[{ class: 'CartError', at: [CART] }]], [[{ class: 'TillError', at: [CART] }]]]],
  [
    'the innermost error, if the product wrapped it',
    [
      [[WRAPPER]],
      [[WRAPPER, { class: 'TypeError', message: 'x', at: [TILL] }]],
      [[WRAPPER, { code: 'ECONNREFUSED', at: ['c node:net'] }]],
      [[WRAPPER, { code: 'ETIMEDOUT', at: ['c node:net'] }]],
    ],
  ],
  [
    'the members of an AggregateError',
    [[[{ ...MANY, members: ['TypeError'] }]], [[{ ...MANY, members: ['RangeError'] }]]],
  ],
  [
    'message and route without a place',
    [said('No order 7', '/orders/:id'), said('No order 7', '/carts/:id'), said('No cart 7', '/orders/:id')],
  ],
  ['the origin of a foreign script', [at('f https://a.example/t.js'), at('f https://b.example/t.js')]],
  [
    'the code of an error of a dependency, or its message',
    [
      [[{ code: '23505', message: 'duplicate key', at: DEPENDENCY }]],
      [[{ code: '42P01', message: 'no such table', at: DEPENDENCY }]],
      [[{ message: 'Too many re-renders.', at: DEPENDENCY }]],
      [[{ message: 'Minified React error #310; visit https://react.dev', at: DEPENDENCY }]],
      [[{ message: 'Minified React error #301; visit https://react.dev', at: DEPENDENCY }]],
    ],
  ],
  ['the route of a hydration error', ['/a', '/b'].map((route) => said('Minified React error #418;', route))],
  [
    'class and route of a timeout',
    [
      [[{ class: 'TimeoutError' }], { route: '/a' }],
      [[{ class: 'AbortError' }], { route: '/a' }],
      [[{ class: 'TimeoutError' }], { route: '/b' }],
    ],
  ],
  ['the path that was requested', [called('/api/x', '/a'), called('/api/y', '/a')]],
  ['what a policy blocked', [csp('https://a.example'), csp('https://b.example')]],
  [
    'where the loop was blocked',
    [[CART], [TILL], ['a node_modules/pg/a.js', ENGINE], ['b node_modules/ws/b.js', ENGINE]].map((at) => [
      [{ at }],
      { kind: 'blocked-loop' },
    ]),
  ],
  ['the namespace', [[[{}]], [[{}], {}, 'm']]],
  ['splitBy', ['a', 'b'].map((tenant) => [[{}], { splitBy: [tenant] }])],
  // Text cannot move from one field to the next.
  ['the ends of its fields', [said('bc', 'a'), said('c', 'ab')]],
  ['their lengths', [said('x', '1:a'), said('ax', '1:')]],
])('a digest depends on %s', (_name, given) => {
  expect(new Set(given.map((one) => digestOf(...one))).size).toBe(given.length);
});

it.each([
  ['the first product frame', [CART, TILL], 'src/shared/product/cart.ts'],
  ['the product, if it called Spillway', [ENGINE, CART], 'src/shared/product/cart.ts'],
  ['Spillway, if the product did not call it', [ENGINE], 'src/shared/routing/href.ts'],
  ['the caller of a helper that throws', ['invariant src/shared/product/check.ts', CART], 'src/shared/product/cart.ts'],
])('the site is %s', (_name, at, path) => {
  expect(read([{ at }])).toMatchObject({ kind: 'exception', location: { path } });
});

it('an error that a package threw, which Spillway called for the product, gets no site', () => {
  expect(read([{ at: ['query node_modules/pg/lib/client.js', ENGINE] }]).location).toBeUndefined();
});

it.each([
  ['Not found.\nSee the log.', 'Error: Not found.'],
  ['[\n  {\n    "code": "invalid_type"\n  }\n]', 'Error: [ { "code": "invalid_type" } ]'],
])('the title of %j is %s', (message, title) => {
  expect(read([{ message }]).title).toBe(title);
});

it('is unresolved with frames of an unknown build', () => {
  expect(read(...at('f client/assets/main-OLD.js')).unresolved).toBe(true);
  expect(read(...at('f client/assets/home-OLD.js', CART))).toMatchObject({ location: {}, unresolved: true });
  expect(read(...at('f https://a.example/tag.js')).unresolved).toBeUndefined();
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
    const name = kind === 'network' ? 'TypeError' : 'Error';
    const results = messages.map((message) => read([{ class: name, message }], { route: '/a' }));
    expect(results.map((result) => result.kind)).toEqual(messages.map(() => kind));
    expect(new Set(results.map(({ digest }) => digest)).size).toBe(1);
  });

  it('a file that does not load has one title, whoever reports it', () => {
    const route = { class: 'RouteLoadError', message: 'The script or the styles of route "a" could not be loaded.' };
    const module = { class: 'TypeError', message: 'Failed to fetch dynamically imported module: https://a.example/x' };
    const element = { class: 'LoadError', message: 'https://a.example/assets/x-1.js could not be loaded.' };
    const results = [[route], [route, module], [module], [element]].map((errors) => read(errors, { kind: 'load' }));
    expect(new Set(results.map(({ digest }) => digest)).size).toBe(1);
    const title = 'LoadError: A script or a style sheet could not be loaded.';
    expect(results.map((result) => result.title)).toEqual(Array(4).fill(title));
  });

  it('Trusted Types reports differ by their source', () => {
    const report = (at?: string) =>
      read(at === undefined ? [] : [{ class: '', message: '', at: [at] }], { kind: 'csp', details: TRUSTED_TYPES });
    const sources = [
      ...[undefined, CART, TILL, ' node_modules/react-dom/index.js', ' https://a.example/tag.js'],
      ...[' https://b.example/tag.js', ' client/assets/old-ABCDEFGH.js'],
    ].map(report);
    expect(new Set(sources.map(({ digest }) => digest)).size).toBe(sources.length);
    expect(sources[0]?.digest).toBe('0CMK8ZMK');
    expect(sources[1]).toMatchObject({ location: { path: 'src/shared/product/cart.ts', function: 'checkout' } });
    expect(sources[3]?.location).toEqual({ path: 'node_modules/react-dom', function: '', detail: '' });
    expect(report(' client/assets/old-12345678.js').digest).toBe(sources.at(-1)?.digest);
    const title = 'csp require-trusted-types-for trusted-types-sink';
    const [a, b] = ['a', 'b'].map((name) => `${title} https://${name}.example/tag.js`);
    expect(sources.map((source) => source.title)).toEqual([...Array(4).fill(title), a, b, title]);
    expect(read(...csp('https://a.example')).title).toBe('csp script-src https://a.example');
  });

  it.each([
    ['exception', [WRAPPER, FETCH]],
    ['network', [{ class: 'LoadError', at: ['load src/client/load.ts'] }, FETCH]],
    ['network', [{ ...FETCH, at: [CART] }]],
    ['timeout', [{ class: 'TimeoutError' }]],
  ])('the kind is %s for %j', (kind, errors) => {
    expect(read(errors).kind).toBe(kind);
  });
});

it('a digest is the same as in earlier releases (a change needs a new DIGEST_RULE)', () => {
  expect(DIGEST_RULE).toBe(2);
  const total = "Cannot read properties of undefined (reading 'total')";
  expect([
    digestOf(...at(CART)),
    digestOf([{ class: 'TypeError', message: total, at: [CART] }]),
    digestOf(...said('No order 7', '/orders/:id')),
    digestOf([FETCH], { route: '/a' }),
  ]).toEqual(['RCN94YN2', 'S2PH82ZY', 'D3CQM07P', 'VF2BMYE8']);
});
