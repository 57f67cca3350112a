import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { findChildren, insert } from '../../bin/new/insert.mjs';
import { parsePagePath, parseResource } from '../../bin/new/names.mjs';

const project = fileURLToPath(new URL('../..', import.meta.url));
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

/** Biome formats what was inserted. */
const squeeze = (text = '') => text.replace(/,?\s*(?=[\]}])|\s+/g, '');

describe('the id of a page', () => {
  it.each([
    ['/', 'home'],
    ['/about', 'about'],
    ['/orders/:id', 'order'],
    ['/orders/:id/edit', 'order-edit'],
    ['/orders/:orderId/items/:itemId', 'order-item'],
    ['/news/:slug', 'news-slug'],
    ['/blog/:slug/edit', 'blog-slug-edit'],
    ['/compare/:left/:right', 'compare-left-right'],
    ['/myOrders', 'my-orders'],
    ['/apiary', 'apiary'],
    ['/:lang?/about', 'about'],
  ])('of %s is %s', (path, id) => {
    expect(parsePagePath(path).id).toBe(id);
  });
});

it.each(['about', '/files/*', '/../a'])('the path %s is rejected with an explanation', (path) => {
  expect(() => parsePagePath(path)).toThrow('is not a path that this command can add');
});

it.each(['/api/x', '/livez', '/Metrics'])('refuses %s, which a page would never get', (path) => {
  expect(() => parsePagePath(path)).toThrow('so a page there would never be shown');
});

describe('names', () => {
  it.each(['Gauges', 'api/gauges', '7', ''])('of a resource cannot be "%s"', (name) => {
    expect(() => parseResource(name)).toThrow();
  });
});

describe('the line of a route', () => {
  const route = "{ id: 'new' }";
  const addRoute = (source: string, layout?: string) =>
    insert(source, (program: object) => findChildren(program, layout), route);

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
    const expected = source.replace("'/a]' }, // the last one\n", `'/a]' }, // the last one\n ${route},\n`);
    expect(squeeze(addRoute(source))).toBe(squeeze(expected));
    expect(addRoute(source, 'static')).toBeUndefined();
  });
});

describe('npm run new', () => {
  /** Copies the empty app without the engine and without a formatter, so that files keep the text that was written. */
  beforeEach(() => {
    rmSync(root, { recursive: true });
    for (const path of ['bin', 'build']) cpSync(join(project, path), join(root, path), { recursive: true });
    cpSync(join(project, 'templates/empty/src'), join(root, 'src'), { recursive: true });
    mkdirSync(join(root, 'node_modules'));
    symlinkSync(join(project, 'node_modules/oxc-parser'), join(root, 'node_modules/oxc-parser'));
  });

  it('writes a page, its server file, its test and its lines in the tables', async () => {
    const { code, said } = await runNew('page', '/orders/:id');
    expect(code).toBe(0);
    expect(read('src/shared/product/pages/order/order.tsx')).toContain('export default function Order({ data }');
    expect(read('src/server/product/pages/order.ts')).toContain('export const order = definePage({');
    expect(read('tests/server/product/pages/order.test.ts')).toContain("visitPage('/orders/7')");
    expect(squeeze(read('src/server/product/pages/index.ts'))).toContain('order}satisfies');
    expect(read('src/shared/product/routes.tsx')).toContain("{ id: 'order', path: '/orders/:id', page:");
    expect(said).toContain('routes.tsx');
    await runNew('page', '/:lang?/about');
    expect(read('src/server/product/pages/about.ts')).toContain("path: '/:lang?/about',");
    expect(read('tests/server/product/pages/about.test.ts')).toContain("visitPage('/about')");
  });

  it.each(['pages', 'routes'])('writes a page at /%s, whose name the table uses itself', async (name) => {
    expect((await runNew('page', `/${name}`)).code).toBe(0);
    expect(read(`src/server/product/pages/${name}.ts`)).toContain(`export const ${name}Page = definePage({`);
    expect(read(`src/shared/product/pages/${name}/${name}.tsx`)).toContain(`PageProps<typeof ${name}Page>`);
    const table = read('src/server/product/pages/index.ts');
    expect(table).toContain(`import { ${name}Page } from './${name}.ts';`);
    expect(squeeze(table)).toContain(`,${name}:${name}Page}satisfies`);
  });

  it('writes a static page, and a page without data', async () => {
    expect((await runNew('page', '/about', '--static', '--no-data')).code).toBe(0);
    expect(read('src/shared/product/routes.tsx')).toContain("{ id: 'about', path: '/about', mode: 'static', page:");
    expect(read('src/shared/product/pages/about/about.tsx')).toContain('export default function About() {');
    expect(existsSync(join(root, 'src/server/product/pages/about.ts'))).toBe(false);
    expect(squeeze(read('src/server/product/pages/index.ts'))).toContain(',about:null}');
    expect(read('tests/server/product/pages/about.test.ts')).toContain("visitPage('/about')");
  });

  it('overwrites no files, and changes no table when it refuses', async () => {
    await runNew('page', '/orders/:id');
    const before = read('src/shared/product/routes.tsx');
    expect((await runNew('page', '/orders/:number')).said).toBe(
      'The file src/shared/product/pages/order/order.tsx already exists. Nothing was written.\n',
    );
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
    expect(squeeze(read('src/shared/product/api/index.ts'))).toContain('api={...waterLevels};');
    expect(squeeze(read('src/server/product/api/index.ts'))).toContain(
      'return[waterLevelsApi(createWaterLevelStore())];',
    );
    expect(await runNew('api', 'water-levels')).toEqual({
      code: 1,
      said: 'The file src/shared/product/api/water-levels.ts already exists. Nothing was written.\n',
    });
  });

  it('writes a static page into the layout for static pages', async () => {
    cpSync(join(project, 'templates/accounts/src'), join(root, 'src'), { recursive: true });
    await runNew('page', '/about', '--static');
    expect(squeeze(read('src/shared/product/routes.tsx'))).toContain(
      "children:[{id:'about',path:'/about',mode:'static',",
    );
  });
});
