import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addImports, addMember, addProperty, addReturned, addRoute, listRoutes } from '../../bin/new/insert.mjs';
import { parseFields } from '../../bin/new/model/fields.mjs';
import { toModelNames } from '../../bin/new/model/names.mjs';
import { parsePagePath, parseResource, toConstName, toPlural, toSingular, toTypeName } from '../../bin/new/names.mjs';
import type { OwnedApp } from '../support/owned-app.ts';
import { changeFirstThings, createNewApp, failTests } from './new-app.ts';

const bin = fileURLToPath(new URL('../../bin', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'spillway-new-'));
const routesFile = join(root, 'src/shared/product/routes.tsx');
afterAll(() => rmSync(root, { recursive: true }));

function runNew(...args: string[]): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(root, 'bin/new.mjs'), ...args], (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, said: stdout + stderr });
    });
  });
}

const read = (path: string) => readFileSync(join(root, path), 'utf8');

describe('the id of a page', () => {
  it.each([
    ['/', 'home'],
    ['/about', 'about'],
    ['/orders', 'orders'],
    ['/orders/:id', 'order'],
    ['/orders/:id/edit', 'order-edit'],
    ['/orders/:orderId/items/:itemId', 'order-item'],
    ['/admin/users', 'admin-users'],
    ['/categories/:slug', 'category'],
    ['/news/:slug', 'news'],
    ['/:slug', 'slug'],
    ['/compare/:left/:right', 'compare-right'],
    ['/myOrders', 'my-orders'],
    ['/FAQ', 'faq'],
    ['/apiary', 'apiary'],
  ])('of %s is %s', (path, id) => {
    expect(parsePagePath(path).id).toBe(id);
  });

  it('can be chosen', () => {
    expect(parsePagePath('/orders/:id', 'purchase')).toMatchObject({ id: 'purchase', params: ['id'] });
    expect(() => parsePagePath('/orders', 'My Orders')).toThrow('is not a valid id for a page');
  });
});

describe('an invalid path', () => {
  it.each([
    ['about', 'starts with a slash'],
    ['/about/', 'does not end with a slash: "/about"'],
    ['//', 'does not end with a slash: "/"'],
    ['/a//b', 'double slash'],
    ['/my page', 'add this page manually'],
    ['/caf%C3%A9', 'add this page manually'],
    ['/files/*', 'add this page manually'],
    ['/:lang?/about', 'add this page manually'],
    ['/a?b', 'add this page manually'],
    ['/../a', 'add this page manually'],
    ['/:id/x/:id', 'two parameters with the same name'],
    ['/api', 'would never be shown'],
    ['/API/orders', 'would never be shown'],
    ['/_data/x', 'would never be shown'],
    ['/assets/x', 'would never be shown'],
    ['/_dev', 'would never be shown'],
    // #region desk
    ['/desk/x', 'would never be shown'],
    // #endregion desk
  ])('%s is rejected with an explanation', (path, words) => {
    expect(() => parsePagePath(path)).toThrow(new RegExp(words.replace(/[?*"/]/g, '\\$&'), 'i'));
  });
});

describe('names', () => {
  it.each([
    ['gauges', 'gauge'],
    ['water-levels', 'water-level'],
    ['boxes', 'box'],
    ['branches', 'branch'],
    ['cases', 'case'],
    ['companies', 'company'],
    ['people', 'person'],
    ['status', 'status'],
    ['address', 'address'],
    ['equipment', 'equipment'],
  ])('one of %s is a %s', (many, one) => {
    expect(toSingular(many)).toBe(one);
  });

  it.each([
    ['note', 'notes'],
    ['water-level', 'water-levels'],
    ['box', 'boxes'],
    ['class', 'classes'],
    ['company', 'companies'],
    ['day', 'days'],
    ['person', 'people'],
    ['status', 'statuses'],
  ])('several of a %s are %s', (one, many) => {
    expect(toPlural(one)).toBe(many);
  });

  it('avoid reserved words and globals', () => {
    expect([toConstName('static'), toConstName('404'), toConstName('order-item')]).toEqual([
      'staticPage',
      'page404',
      'orderItem',
    ]);
    expect([toTypeName('map', 'Page'), toTypeName('404', 'Page'), toTypeName('event', 'Item')]).toEqual([
      'MapPage',
      'Page404',
      'EventItem',
    ]);
  });

  it.each(['Gauges', '/gauges', 'api/gauges', 'a b', '7', ''])('of a resource cannot be "%s"', (name) => {
    expect(() => parseResource(name)).toThrow();
  });
});

describe('a model', () => {
  it('has a name in code, in URLs and in the database', () => {
    expect(toModelNames('order-item')).toMatchObject({
      camel: { one: 'orderItem', many: 'orderItems' },
      sqlTable: 'order_items',
      ids: ['order-items', 'new-order-item', 'order-item', 'edit-order-item'],
    });
  });

  it.each(['notes', 'user', 'Note', '7', 'static', 'escape', 'class', 'style', 'map'])(
    'cannot have the name %s',
    (name) => {
      expect(() => toModelNames(name)).toThrow(/name/);
    },
  );

  it('has fields, whose columns are quoted if SQL reserves their names', () => {
    const fields = parseFields(['title:text', 'dueDate:date', 'order:number'], { one: 'note' });
    expect(fields.map(({ column, label, sql }) => [column, label, sql])).toEqual([
      ['title', 'Title', 'text'],
      ['due_date', 'Due date', 'date'],
      ['"order"', 'Order', 'double precision'],
    ]);
  });

  it.each([
    [['title'], 'is not a field'],
    [['title:words'], 'The types are text, longtext, number, boolean, date.'],
    [['title:text:x'], 'is not a field'],
    [['id:text'], 'cannot have the name "id", because it is reserved. Choose another one.'],
    [['user:text'], 'cannot have the name "user", because it is reserved. Choose another one.'],
    [['class:text'], 'cannot have the name "class", because it is reserved. Choose another one.'],
    [['due-date:date'], 'cannot have the name "due-date". Use letters and digits, such as dueDate.'],
    [['title:text', 'title:date'], 'two fields with the name title'],
    [['due:date'], 'needs a field of the type text'],
    [[], 'npm run new -- model note title:text'],
  ])('is refused with the fields %j', (fields, words) => {
    expect(() => parseFields(fields, { one: 'note' })).toThrow(words);
  });
});

describe('the line of a route', () => {
  const route = "{ id: 'new' }";

  it('is added to the end of the children of the first layout', () => {
    const source = `
// defineRoutes([{ children: [] }])
export const routes = defineRoutes([
  { id: 'bare', path: '/bare', page: () => import('./bare.tsx') },
  {
    id: 'root', // children: [
    title: 'children: [ "}',
    children: [
      { id: 'inner', children: [{ id: 'deep' }] },
      { id: 'last', path: '/a]' }, // the last one
    ],
  },
  { id: 'other', children: [] },
]);
`;
    expect(addRoute(source, route)).toBe(source.replace('// the last one\n', `// the last one\n      ${route},\n`));
  });

  it('is added to the layout with an id', () => {
    const source = "defineRoutes([\n  { id: 'root', children: [] },\n  { id: 'static', children: [] },\n])";
    expect(addRoute(source, route, 'static')).toBe(
      source.replace("'static', children: []", `'static', children: [${route}]`),
    );
    expect(addRoute(source, route, 'other')).toBeUndefined();
  });

  it.each([
    ['[]', `[${route}]`],
    ["[{ id: 'a' }]", `[{ id: 'a' }, ${route}]`],
    ["[{ id: 'a' },]", `[{ id: 'a' }, ${route}]`],
    ["[\n    { id: 'a' }\n  ]", `[\n    { id: 'a' },\n    ${route},\n  ]`],
    ['[\n  ]', `[\n    ${route},\n  ]`],
    ["[{\n    id: 'a',\n  }]", `[{\n    id: 'a',\n  },\n    ${route},\n  ]`],
  ])('fits into %j', (before, after) => {
    const toSource = (list: string) => `defineRoutes([\n  { children: ${list} },\n])`;
    expect(addRoute(toSource(before), route)).toBe(toSource(after));
  });

  it.each([
    'export const routes = [];',
    'defineRoutes(pages)',
    'defineRoutes([...pages])',
    'defineRoutes([{ id: "root", children: pages }])',
    'defineRoutes([{ id: "root", children: [',
  ])('finds no place in %j', (source) => {
    expect(addRoute(source, route)).toBeUndefined();
  });

  it('is not read from a comment', () => {
    const source = "/* id: 'a' */ [{ id: 'b', path: '/b' /* path: '/c' */ }, { id: `d` }] // id: 'e'";
    expect(listRoutes(source)).toEqual({ ids: ['b', 'd'], paths: ['/b'] });
  });
});

it('inserts a property, an import and an item in the right places', () => {
  expect(addProperty("const pages = {\n  'a-b': null,\n} satisfies X;\n", 'pages', 'c')).toBe(
    "const pages = {\n  'a-b': null,\n  c,\n} satisfies X;\n",
  );
  expect(addProperty('const other = {};', 'pages', 'c')).toBeUndefined();
  expect(addProperty('const LINKS = [{ to: 1 }];', 'LINKS', '{ to: 2 }')).toBe('const LINKS = [{ to: 1 }, { to: 2 }];');
  expect(addMember('interface Tables {\n  a: { b: 1 };\n}\n', 'Tables', 'c: 2')).toBe(
    'interface Tables {\n  a: { b: 1 };\n  c: 2;\n}\n',
  );
  expect(addMember('type Tables = {};', 'Tables', 'c: 2')).toBeUndefined();
  expect(
    addImports("import {\n  a,\n} from './a.ts';\nimport './b.css';\n\nrun();\n", ["import c from './c.ts';"]),
  ).toBe("import {\n  a,\n} from './a.ts';\nimport './b.css';\nimport c from './c.ts';\n\nrun();\n");
  expect(addReturned('function createApi() {\n  return [];\n}\n', 'createApi', 'a()')).toBe(
    'function createApi() {\n  return [a()];\n}\n',
  );
  expect(addReturned('function createApi() {\n  return [a(), (b)];\n}\n', 'createApi', 'c()')).toBe(
    'function createApi() {\n  return [a(), (b), c()];\n}\n',
  );
  expect(addReturned('function createApi() {\n  return Router();\n}\n', 'createApi', 'a()')).toBeUndefined();
});

describe('npm run new', () => {
  /** Copies the empty app without the engine and without a formatter, so that files keep the text that was written. */
  beforeEach(() => {
    rmSync(root, { recursive: true });
    cpSync(bin, join(root, 'bin'), { recursive: true });
    cpSync(join(bin, '../build/destination.mjs'), join(root, 'build/destination.mjs'));
    cpSync(join(bin, 'own/empty/src'), join(root, 'src'), { recursive: true });
  });

  it('writes a page, its server half, its test and its lines in the tables', async () => {
    const { code, said } = await runNew('page', '/orders/:id');
    expect(code).toBe(0);
    expect(read('src/shared/product/pages/order/order.tsx')).toContain('export default function Order({ data }');
    expect(read('src/server/product/pages/order.ts')).toContain('satisfies ServerPage<OrderData, AppContext>');
    expect(read('tests/server/product/pages/order.test.ts')).toContain("visitPage('/orders/7')");
    expect(read('src/server/product/pages/index.ts')).toMatch(/ {2}order,\n\} satisfies/);
    expect(read('src/shared/product/routes.tsx')).toContain("{ id: 'order', path: '/orders/:id', page:");
    for (const path of ['pages/order/order.tsx', 'pages/order.ts', 'order.test.ts', 'routes.tsx']) {
      expect(said).toContain(path);
    }
  });

  it('writes a static page, and a page without data', async () => {
    expect((await runNew('page', '/about', '--static', '--no-data')).code).toBe(0);
    expect(read('src/shared/product/routes.tsx')).toContain("{ id: 'about', path: '/about', mode: 'static', page:");
    expect(read('src/shared/product/pages/about/about.tsx')).toContain('export default function About() {');
    expect(existsSync(join(root, 'src/server/product/pages/about.ts'))).toBe(false);
    expect(read('src/server/product/pages/index.ts')).toMatch(/^ {2}about: null,$/m);
    expect(read('tests/server/product/pages/about.test.ts')).toContain("visitPage('/about')");
  });

  it('reports that nothing was formatted if Biome is not installed', async () => {
    const { code, said } = await runNew('page', '/about');
    expect([code, said.match(/^.*formatted.*$/gm)]).toEqual([
      0,
      ['The files are not formatted, because Biome is not installed. Run `npm install`, then `npm run format`.'],
    ]);
  });

  it.each([
    [0, null],
    [1, ['Some files may be unformatted, because Biome failed. Run `npm run lint` to see why.']],
  ])('reports a failure of Biome, and nothing if it succeeded: %i', async (status, lines) => {
    const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
    mkdirSync(dirname(biome), { recursive: true });
    writeFileSync(biome, `process.exit(${status});`);
    const { code, said } = await runNew('api', 'gauges');
    expect([code, said.match(/^.*formatted.*$/gm)]).toEqual([0, lines]);
  });

  it('overwrites no files, and changes no table when it refuses', async () => {
    await runNew('page', '/orders/:id');
    const before = read('src/shared/product/routes.tsx');
    expect((await runNew('page', '/orders/:number', '--id', 'other')).said).toBe(
      'A page with the path /orders/:id already exists, in src/shared/product/routes.tsx.\n',
    );
    expect((await runNew('page', '/order')).said).toMatch(/^A page with the id "order" already exists\..*--id\.\n$/);
    rmSync(join(root, 'src/shared/product/pages/order'), { recursive: true });
    writeFileSync(join(root, 'src/server/product/pages/about.ts'), 'mine');
    const refused = await runNew('page', '/about');
    expect(refused).toEqual({ code: 1, said: expect.stringMatching(/^The file .*about\.ts already exists\. .*\n$/) });
    expect(read('src/server/product/pages/about.ts')).toBe('mine');
    expect(existsSync(join(root, 'src/shared/product/pages/about'))).toBe(false);
    expect(read('src/shared/product/routes.tsx')).toBe(before);
  });

  it('says what to add manually if it cannot find the place', async () => {
    const table = 'export const routes = defineRoutes(pages);\n';
    writeFileSync(routesFile, table);
    const { code, said } = await runNew('page', '/about');
    expect(code).toBe(1);
    expect(said).toContain(
      "The position in src/shared/product/routes.tsx was not found. Add this manually:\n  { id: 'about'",
    );
    expect(read('src/shared/product/routes.tsx')).toBe(table);
    expect(existsSync(join(root, 'src/shared/product/pages/about/about.tsx'))).toBe(true);
  });

  it('writes a resource and the lines that connect it, once', async () => {
    expect((await runNew('api', 'water-levels')).code).toBe(0);
    expect(read('src/shared/product/api/index.ts')).toContain('export const api = {...waterLevels};\n');
    expect(read('src/server/product/api/index.ts')).toContain('  return [waterLevelsApi(createWaterLevelStore())];\n');
    expect(await runNew('api', 'water-levels')).toEqual({
      code: 1,
      said: 'The resource water-levels already exists, in src/server/product/api/water-levels.\n',
    });
  });

  it('writes a resource into an app without operations, and says what to add to its router', async () => {
    rmSync(join(root, 'src/shared/product/api'), { recursive: true });
    const router = 'export function createApi() {\n  return Router();\n}\n';
    writeFileSync(join(root, 'src/server/product/api/index.ts'), router);
    const { code, said } = await runNew('api', 'store');
    expect(code).toBe(1);
    expect(said).toContain(' storeApi(createStoreStore()), in the list that `createApi` returns\n');
    expect(read('src/shared/product/api/index.ts')).toContain('export const api = {...storeOperations};\n');
    expect(read('src/server/product/api/index.ts')).toBe(router);
  });

  it.each([
    ['migration', 'add-notes'],
    ['model', 'note', 'title:text'],
  ])('refuses a %s in an app without a database', async (...args) => {
    expect(await runNew(...args)).toEqual({
      code: 1,
      said: 'This app has no database. Start with `npm run own -- --with accounts`, or see docs/recipes/database.md.\n',
    });
  });

  it('writes migrations in their order, also with the same name', async () => {
    cpSync(join(bin, 'own/accounts/src'), join(root, 'src'), { recursive: true });
    await runNew('migration', 'jobs');
    expect((await runNew('migration', 'add-notes')).said).toContain('migrations/0004-add-notes.sql');
    expect(read('src/server/product/database/migrations/0004-add-notes.sql')).toMatch(/^-- Write SQL here/);
    const table = read('src/server/product/database/migrations/index.ts');
    expect(table).toContain("import jobs3 from './0003-jobs.sql';\nimport addNotes from './0004-add-notes.sql';\n");
    expect(table).toContain("  '0003-jobs': jobs3,\n  '0004-add-notes': addNotes,\n};\n");
  });

  it('writes a model once, and a static page into the layout for static pages', async () => {
    cpSync(join(bin, 'own/accounts/src'), join(root, 'src'), { recursive: true });
    expect((await runNew('model', 'note', 'title:text', 'due:date')).code).toBe(0);
    expect(read('src/server/product/database/migrations/0003-notes.sql')).toContain('  due date NOT NULL,\n');
    expect(read('src/server/product/api/index.ts')).toContain('[accountApi(services.db), notesApi(services.db)]');
    expect(await runNew('model', 'note', 'title:text')).toEqual({
      code: 1,
      said: 'The table notes already exists, in src/server/product/database/tables.ts.\n',
    });
    await runNew('page', '/about', '--static');
    expect(read('src/shared/product/routes.tsx')).toContain(
      "children: [{ id: 'about', path: '/about', mode: 'static',",
    );
  });

  it.each([
    [],
    ['page'],
    ['page', '/about', 'title:text'],
    ['migration'],
    ['model'],
    ['pages', '/about'],
    ['page', '/about', '--name', 'x'],
    ['api', 'gauges', '--id', 'x'],
    ['api', 'gauges', '--static'],
  ])('prints its usage when called with %j', async (...args) => {
    expect(await runNew(...(args as string[]))).toEqual({ code: 1, said: expect.stringMatching(/^Usage:\n/) });
  });
});

describe('the tests that it writes', () => {
  let app: OwnedApp;
  beforeAll(() => {
    app = createNewApp();
  });
  afterAll(() => app.remove());

  function runTests(): Promise<string> {
    const vitest = join(app.folder, 'node_modules/vitest/vitest.mjs');
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:VITEST|NODE_ENV)/.test(name)));
    const args = [vitest, 'run', '--project', 'unit', 'tests/server/product/pages', 'tests/server/product/api'];
    return new Promise((resolve) => {
      execFile(process.execPath, args, { cwd: app.folder, env }, (_error, stdout, stderr) => resolve(stdout + stderr));
    });
  }

  it('pass, also after the first changes', async () => {
    expect(await runTests()).toMatch(/^8 passed, 0 failed$/m);
    changeFirstThings(app);
    expect(await runTests()).toMatch(/^8 passed, 0 failed$/m);
  }, 120_000);

  it('say what to do when they fail', async () => {
    failTests(app);
    const said = await runTests();
    expect(said).toContain('Does /orders/7 exist? If not, visit one that exists');
    expect(said).toMatch(/NewGauge refuses SENT: .*river/);
  }, 120_000);
});
