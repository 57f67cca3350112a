import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHANGED, type Clone, createClone, hasGit, project } from './clone.ts';

let clone: Clone;
let copy: string;
beforeAll(() => {
  clone = createClone();
  copy = clone.folder;
});
afterAll(() => clone?.remove());

const run = (command: string) => clone.run(command);
const read = (path: string) => clone.read(path);

const RELEASED = 'src/shared/product/api/released.json';

describe('npm run own', () => {
  test.skipIf(!hasGit)('refuses if there are uncommitted changes, and removes nothing', async () => {
    await run('git init');
    await expect(run('npm run own -- --yes')).rejects.toThrow('There are uncommitted changes');
    expect(existsSync(join(copy, 'src/shared/product/pages/cards/cards.tsx'))).toBe(true);
    rmSync(join(copy, '.git'), { recursive: true });
  });

  test('asks before it removes anything, and requires `--yes` without a terminal', async () => {
    await expect(run('npm run own < /dev/null')).rejects.toThrow('Run `npm run own -- --yes`');
  });

  test('lists what it removes, and what to do next', async () => {
    await run('npm run release:api');
    expect(Object.keys(JSON.parse(read(RELEASED)).paths)).toContain('/api/tour/todos');
    const said = await run('npm run own -- --yes');
    expect(said).toContain('src/shared/product');
    expect(said).toContain('npm run new -- page /about');
    expect(existsSync(join(copy, 'tests/bin/product'))).toBe(false);
    expect(existsSync(join(copy, RELEASED))).toBe(false);
    const { version, files } = JSON.parse(read('.spillway.json'));
    expect(version).toBe(JSON.parse(read('package.json')).version);
    expect(Object.keys(files)).toContain('src/server/app.ts');
    expect(Object.keys(files).filter((path) => /^(?:src|tests)\/\w+\/product\//.test(path))).toEqual([]);
  });

  test('leaves no mention of the tour in files that you edit', () => {
    expect(read('.env.example')).not.toMatch(/tour/i);
    expect(read('.env.example')).toMatch(/[^\n]\n$/);
    const hint =
      'Put text about the tour between <!-- tour --> and <!-- /tour -->, so that it is removed with the tour.';
    expect(read('README.md'), hint).not.toMatch(/\btour\b/i);
    expect(read('src/shared/product/routes.tsx')).not.toMatch(/\btour\b/i);
  });

  test('keeps all tests in `npm run test:all`', () => {
    const scripts = (text: string) => JSON.parse(text).scripts;
    expect(scripts(read('package.json'))['test:all']).toBe(
      scripts(readFileSync(join(project, 'package.json'), 'utf8')).test,
    );
  });

  test('refuses to remove the tour twice', async () => {
    await expect(run('npm run own -- --yes --force')).rejects.toThrow('The tour has already been removed');
    expect(existsSync(join(copy, 'src/shared/product/routes.tsx'))).toBe(true);
  });
});

describe('npm run new, in the app that is left', () => {
  test('writes pages and a resource, and overwrites nothing', async () => {
    await run('npm run new -- page /about');
    await run('npm run new -- page /orders/:id');
    await run('npm run new -- api gauges');
    const before = read('src/shared/product/routes.tsx');
    await expect(run('npm run new -- page /orders/:number')).rejects.toThrow(
      'A page with the path /orders/:id already exists',
    );
    await expect(run('npm run new -- api gauges')).rejects.toThrow('The resource gauges already exists');
    expect(read('src/shared/product/routes.tsx')).toBe(before);
  });
});

describe('the app that both leave', () => {
  test('type-checks and lints', async () => {
    // The stricter check of the three trees is done with the tests of the recipes.
    await Promise.all([run('npx tsc -p tsconfig.json'), run(`npm run lint -- ${CHANGED.join(' ')}`)]);
  }, 120_000);

  test('has passing tests: its own by `npm test`, and those of all sources', async () => {
    // The tests of the build and the recipes have their own product. No other test imports the product, as the type
    // check has just shown, except the test of the released API below.
    const said = await run('npm test -- tests/architecture');
    expect(said).toMatch(/^[1-9]\d* passed, 0 failed$/m);
    const own = [
      'tests/shared/product/pages/home/home.test.ts',
      'tests/e2e/product/home.test.ts',
      ...['pages/about.test.ts', 'pages/order.test.ts', 'api/gauges/handlers.test.ts'].map(
        (path) => `tests/server/product/${path}`,
      ),
    ];
    for (const path of [...own, 'tests/architecture.test.ts']) expect(said).toContain(path);
    expect(said).not.toContain('tests/server/engine');
  }, 300_000);

  test('keeps the promises of its API in `npm run check`', async () => {
    const { check } = JSON.parse(read('package.json')).scripts;
    const command = `npx ${check.split(' && ').at(-1)}`;
    await run('npm run release:api');
    await run('npm run lint -- src/shared/product/api');
    expect(await run(command)).toMatch(/^[1-9]\d* passed, 0 failed$/m);
    const path = 'src/shared/product/api/gauges.ts';
    const before = read(path);
    writeFileSync(join(copy, path), before.replace('id: z.int(),', 'id: z.string(),'));
    await expect(run(command)).rejects.toThrow('GET /api/gauges: `[].id` in the reply 200 can be a string now.');
    writeFileSync(join(copy, path), before);
  }, 120_000);

  test('serves its pages, with settings from `.env` unless the environment sets them', async () => {
    writeFileSync(join(copy, '.env'), 'PORT=1\nDATA_DIR=./data-of-env\n');
    const url = await clone.start();
    expect(existsSync(join(copy, 'data-of-env/desk-token'))).toBe(true);
    const home = await fetch(url);
    expect([home.status, await home.text()]).toEqual([200, expect.stringContaining('npm run new -- page /about')]);
    const nothing = await fetch(`${url}/nothing`);
    expect([nothing.status, await nothing.text()]).toEqual([404, expect.stringContaining('Page not found')]);
    expect((await fetch(`${url}/api/nothing`)).headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(await (await fetch(`${url}/about`)).text()).toContain('<h1>About</h1>');
    expect(await (await fetch(`${url}/orders/12`)).text()).toMatch(/<h1>Order (?:<!-- -->)?12<\/h1>/);
    const added = await fetch(`${url}/api/gauges`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'At the bridge' }),
    });
    expect([added.status, added.headers.get('location')]).toEqual([201, '/api/gauges/1']);
    expect(await (await fetch(`${url}/api/gauges`)).json()).toEqual([await added.json()]);
  });
});
