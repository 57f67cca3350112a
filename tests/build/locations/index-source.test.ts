import { describe, expect, it } from 'vitest';
import { indexSource } from '../../../build/locations/index-source.mjs';

/** The frame location of the place marked with `|`. */
function siteAt(marked: string, options = {}) {
  const offset = marked.indexOf('|');
  const { starts, locations } = indexSource('src/a.tsx', marked.replace('|', ''), options);
  return locations[starts.findLastIndex((start: number) => start <= offset)];
}

describe('the function of a frame location', () => {
  it.each([
    ['top of the module', '|f();', ''],
    ['a function', 'function pay() { |f(); }', 'pay'],
    ['a function in a function', 'function shop() { function pay() { |f(); } }', 'shop.pay'],
    ['a named arrow', 'const pay = async () => { |f(); };', 'pay'],
    ['a callback is named after its parent', 'function pay() { return items.map((item) => |f(item)); }', 'pay'],
    ['a method', 'class Cart { pay() { |f(); } }', 'Cart.pay'],
    ['a private method', 'class Cart { #pay() { |f(); } }', 'Cart.#pay'],
    ['a getter', 'class Cart { get total() { return |f(); } }', 'Cart.total'],
    ['an arrow of a class', 'class Cart { pay = () => { |f(); }; }', 'Cart.pay'],
    ['a field of a class', 'class Cart { total = |f(); }', 'Cart'],
    ['a method of an object', 'export const page = { actions: { remove() { |f(); } } };', 'page.actions.remove'],
    ['an object of a type', 'const page = { loader: () => |f() } as Page;', 'page.loader'],
    ['an object that satisfies a type', 'const page = { loader: () => |f() } satisfies Page;', 'page.loader'],
    ['a default export', 'export default () => { |f(); };', 'default'],
    ['a wrapped arrow', 'const load = cache(async () => { |f(); });', 'load'],
    [
      'a wrapped arrow in a component',
      'function Page() { const onClick = useCallback(() => { |f(); }, []); }',
      'Page.onClick',
    ],
    ['a registered handler', "function routes() { router.get('/cart', (req) => { |f(); }); }", 'routes.get("/cart")'],
    ['a handler in the markup', 'function Page() { return <a onClick={() => |f()}>x</a>; }', 'Page.onClick'],
    ['an assigned function', 'function setUp() { link.onerror = () => { |f(); }; }', 'setUp.link.onerror'],
    ['a callback at the top of the module', 'app.use(() => { |f(); });', 'use()'],
    ['a generator', 'function* pages() { yield |f(); }', 'pages'],
    ['after a function', 'function pay() { f(); } |f();', ''],
  ])('%s', (_what, source, name) => {
    expect(siteAt(source)?.function).toBe(name);
  });
});

/** The function of each place marked with `|`. */
function functionsAt(path: string, marked: string): (string | undefined)[] {
  const parts = marked.split('|');
  const { starts, locations } = indexSource(path, parts.join(''));
  return parts.slice(1).map((_, index) => {
    const offset = parts.slice(0, index + 1).join('').length;
    return locations[starts.findLastIndex((start: number) => start <= offset)]?.function;
  });
}

describe('anonymous handlers of an existing app', () => {
  it.each([
    ['use()', 'app.use(() => |a.b); app.use(() => |a.b); app.use(() => |a.b);', ['use()', 'use() 2', 'use() 3']],
    [
      'use() in a function',
      'function setUp(app) { app.use(() => |a.b); app.use(() => { |a.b; x.map(() => |a.b); }); }',
      ['setUp', 'setUp.use()', 'setUp.use()'],
    ],
    ['lists of paths', "app.get(['/a', '/b'], () => |a.b); app.get(['/c'], () => |a.b);", ['get()', 'get(["/c"])']],
    [
      'route()',
      "app.route('/a').get(() => |a.b).post(() => |a.b); app.route('/c').get(() => |a.b).post(() => |a.b);",
      ['get()', 'post()', 'route("/c").get()', 'route("/c").post()'],
    ],
    ['patterns', 'app.get(/a/, () => |a.b); app.get(`/b/:c`, () => |a.b);', ['get()', 'get(`/b/:c`)']],
    ['several in one call', "app.get('/a', () => |a.b, () => |a.b, [() => |a.b]);", ['get("/a")', 'get("/a") 2', '']],
    ['two routers', "a.get('/', () => |a.b); b.get('/', () => |a.b);", ['get("/")', 'get("/") 2']],
    [
      'wrappers',
      "app.get('/a', wrap(() => |a.b)); app.get('/b', wrap(() => |a.b)); app.get('/b', () => |a.b);",
      ['wrap()', 'get("/b").wrap()', 'get("/b")'],
    ],
    [
      'functions in them',
      'app.use(() => { function f() { |a.b; } }); app.use(() => { function f() { |a.b; } function g() { |a.b; } });',
      ['use().f', 'use() 2.f', 'use().g'],
    ],
    [
      'statements that throw, if they are equal',
      'app.use(() => { |throw new Error(1); }); app.use(() => { |throw new Error(2); |throw new Error(1); |f(); });',
      ['use()', 'use()', 'use() 2', 'use() 2'],
    ],
    ['named functions', 'app.use(function a() { |a.b; }); app.use(function b() { |a.b; });', ['a', 'b']],
    ['other callbacks', 'function load() { x.then(() => |a.b); x.then(() => |a.b); }', ['load', 'load']],
  ])('have names of their own: %s', (_what, source, names) => {
    expect(functionsAt('legacy/app.js', source)).toEqual(names);
  });

  it("are told apart only outside of the product's files, whose digests stay", () => {
    expect(functionsAt('src/server/product/routes.ts', 'app.use(() => |a.b); app.use(() => |a.b);')).toEqual([
      'use()',
      'use()',
    ]);
  });
});

describe('the detail of a frame location', () => {
  const detailOf = (source: string) => indexSource('src/a.tsx', source).locations.find(({ detail }) => detail)?.detail;

  it.each([
    ['a throw', "function f() { throw |new Error('a'); }", 'throw new Error("a")', 'thrown'],
    ['an error that is created', "function f() { reject(|new RangeError('a')); }", 'new RangeError("a")', 'thrown'],
    [
      'a class of errors without the suffix',
      'class Refusal extends Error {} f(|new Refusal());',
      'new Refusal()',
      'thrown',
    ],
    ['a check by a helper', "function f() { |invariant(a > 0, 'a'); }", 'invariant(a>0,"a")', 'thrown'],
    ['a call that can throw', 'function f() { return |JSON.parse(a); }', 'JSON.parse(a)', 'call'],
    ['a function within a throw', 'throw new Error(() => { |f(); })', '', ''],
    ['after a throw', "if (a) throw new Error('a'); |f();", '', ''],
    ['no error', 'f(|new Map());', '', ''],
  ])('%s', (_what, source, detail, kind) => {
    expect(siteAt(source)).toMatchObject({ detail, kind });
  });

  it('does not depend on formatting', () => {
    const spellings = [
      "throw new AppError('An address needs a street.', 422);",
      'throw new AppError(\n  "An address needs a street.",\n  422,\n)',
      "throw  new AppError( 'An address needs a street.' /* said */, 422 ) // now\n",
    ];
    expect(new Set(spellings.map(detailOf))).toEqual(new Set(['throw new AppError("An address needs a street.",422)']));
  });

  it('has at most 200 characters, and keeps templates, regular expressions and text between tags unchanged', () => {
    expect(detailOf(`throw new Error('${'a'.repeat(500)}')`)).toHaveLength(200);
    const texts = 'throw new AppError(`No $' + "{what.name} for 'x'`,/a b/,<p>a b</p>)";
    expect(detailOf(texts)).toBe(texts);
  });
});

it('marks constructors of errors, and not their methods', () => {
  expect(siteAt('class AppError extends Error { constructor() { |super(); } }')?.isErrorClass).toBe(true);
  expect(siteAt('class AppError extends Error { name = |f(); }')?.isErrorClass).toBe(true);
  expect(siteAt('class AppError extends Error { show() { |f(); } }')?.isErrorClass).toBe(false);
  expect(siteAt('class Cart extends Base { constructor() { |super(); } }')?.isErrorClass).toBe(false);
});

it('marks helpers by name, by file and as listed by the product', () => {
  expect(siteAt('function assertDefined() { throw |new Error(); }')?.isHelper).toBe(true);
  expect(siteAt('function check() { throw |new Error(); }')?.isHelper).toBe(false);
  expect(siteAt('function check() { throw |new Error(); }', { helpers: ['src/a.tsx'] })?.isHelper).toBe(true);
  const imported = "import { check } from './check.ts'; function f() { |check(a); }";
  expect(siteAt(imported, { helpers: ['src/check.ts'] })).toMatchObject({ detail: 'check(a)', kind: 'thrown' });
});
