import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { layOutImage, placePackages } from '../../bin/image.mjs';
import { createNew } from '../../bin/new/new.mjs';
import type { IncidentShape } from '../../src/desk/shared/shapes.ts';
import { writeFiles } from '../build/write-files.ts';
import { shareBrowser } from '../support/browser.ts';
import { buildApp } from '../support/build-app.ts';
import { createFolder } from '../support/folder.ts';
import { findFreePort } from '../support/free-port.ts';
import { createOwnedApp, project, startApp } from '../support/owned-app.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

/** A page and a loader that use TypeScript of `packages/ui`, in front of the app in `apps/api`. */
const IN_WORKSPACE = {
  'packages/ui/package.json': '{ "name": "@shop/ui", "type": "module", "exports": "./src/card.tsx" }',
  'packages/ui/src/card.tsx': `export function Card({ title }: { title?: string | null }) {
  return <button onClick={() => press(title)}>{(title as string).trim()}</button>;
}

function press(title?: string | null): void {
  throw new RangeError(title + ' was pressed.');
}

export function toPrice(text: string | null): number {
  if (text === 'none') throw new Error('There is no price.');
  return 1;
}
`,
  'apps/api/package.json': '{ "name": "@shop/api", "type": "module", "exports": "./src/app.ts" }',
  'apps/api/src/app.ts': `import express, { type Request } from 'express';

const query = (req: Request, name: string) => (req.query as any)[name];
export const app = express();
app.get('/old/:name', (req, res) => void res.json(req.params.name === 'one' ? first(req) : second(req)));

function first(req: Request) {
  return query(req, 'missing').name;
}

function second(req: Request) {
  return query(req, 'missing').name;
}
`,
  'apps/web/src/shared/product/pages/home/home.tsx': `import { useSearchParams } from 'react-router';
import { Card } from '@shop/ui';

export default function Home() {
  const [search] = useSearchParams();
  return <Card title={search.has('untitled') ? undefined : 'A card'} />;
}
`,
  'apps/web/src/server/product/pages/index.ts': `import { toPrice } from '@shop/ui';

export const pages = {
  root: null,
  home: { loader: ({ url }: { url: URL }) => ({ price: toPrice(url.searchParams.get('price')) }) },
};
`,
  'apps/web/src/server/product/index.ts': `import { app } from '@shop/api';
import { defineProduct } from '#engine/server';
import { pages } from './pages/index.ts';
import { settings } from './settings.ts';

export const product = defineProduct({ settings, pages, existingApp: app });
`,
};

const PRICE = {
  file: 'packages/ui/src/card.tsx',
  line: 10,
  text: "  if (text === 'none') throw new Error('There is no price.');",
};
const TITLE = {
  file: 'packages/ui/src/card.tsx',
  line: 2,
  text: '  return <button onClick={() => press(title)}>{(title as string).trim()}</button>;',
};
const PRESS = { file: 'packages/ui/src/card.tsx', line: 6, text: "  throw new RangeError(title + ' was pressed.');" };
const FIRST = { file: 'apps/api/src/app.ts', line: 8, text: "  return query(req, 'missing').name;" };
const SECOND = { ...FIRST, line: 12 };

/** A temporary folder, with the path that programs see. */
const createRoot = () => realpathSync(createFolder(onTestFinished));

/** Makes an app in `apps/web` of a workspace, whose packages are above it. @returns its folder */
function createInWorkspace(workspace: string): string {
  const app = join(workspace, 'apps/web');
  mkdirSync(join(workspace, 'apps'));
  renameSync(createOwnedApp().folder, app);
  renameSync(join(app, 'node_modules'), join(workspace, 'node_modules'));
  return app;
}

it('an app in apps/web of a workspace, whose packages are above it, builds, starts and gets new pages', async () => {
  const workspace = createRoot();
  const app = createInWorkspace(workspace);
  const told: string[] = [];
  createNew(['page', '/orders'], { root: app, log: (line: string) => told.push(line) });
  expect(told.join('\n')).not.toContain('could not be formatted');
  await buildApp(app);
  const server = await startApp(app);
  onTestFinished(async () => void (await server.stop()));
  const html = await (await fetch(`${server.url}/orders`)).text();
  expect(html).toContain('This text is from src/server/product/pages/orders.ts.');
  layOutImage(app, join(workspace, 'image'));
  expect(() => realpathSync(join(workspace, 'image/app/node_modules/pino/package.json'))).not.toThrow();
}, 120_000);

it('the packages of an image are found where pnpm links them, and a second version stays with its package', () => {
  const root = createRoot();
  const store = 'node_modules/.pnpm';
  const of: Record<string, Record<string, string>> = {
    'log@1': { pump: '2', '@scope/clock': '1' },
    'pump@2': { '@scope/clock': '2', log: '1', missing: '1' },
    'pump@3': {},
    '@scope/clock@1': {},
    '@scope/clock@2': {},
  };
  const toFolder = (id: string): string => join(root, store, id, 'node_modules', id.slice(0, id.lastIndexOf('@')));
  const link = (from: string, id: string): void => {
    const path = join(from, id.slice(0, id.lastIndexOf('@')));
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(relative(dirname(path), toFolder(id)), path);
  };
  for (const [id, dependencies] of Object.entries(of)) {
    writeFiles(toFolder(id), { 'package.json': JSON.stringify({ dependencies }) });
    for (const [name, version] of Object.entries(dependencies))
      if (name !== 'missing') link(join(root, store, id, 'node_modules'), `${name}@${version}`);
  }
  link(join(root, 'node_modules'), 'log@1');
  expect(Object.fromEntries(placePackages(root, ['log', 'native']))).toEqual({
    'node_modules/log': toFolder('log@1'),
    'node_modules/pump': toFolder('pump@2'),
    'node_modules/@scope/clock': toFolder('@scope/clock@1'),
    'node_modules/pump/node_modules/@scope/clock': toFolder('@scope/clock@2'),
  });
  link(join(root, 'node_modules'), 'pump@3');
  expect(Object.fromEntries(placePackages(root, ['log', 'pump']))).toMatchObject({
    'node_modules/pump': toFolder('pump@3'),
    'node_modules/log/node_modules/pump': toFolder('pump@2'),
  });
});

it('an image is made through a symbolic link too', () => {
  const root = createRoot();
  symlinkSync(project, join(root, 'current'), 'junction');
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'current/bin/image.mjs')], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('Usage: node bin/image.mjs') });
});

it('an image has the files that packages read beside their code, and native code for other systems', () => {
  const root = createRoot();
  writeFiles(root, {
    'dist/packages.json': '{ "loaded": ["native"] }',
    'node_modules/native/package.json': '{}',
    'node_modules/native/prebuilds/darwin-arm64/native.node': 'not of Linux',
    'node_modules/native/libother.so.8.1': '',
    'node_modules/native/native.cc': '',
    'node_modules/native/table.sql': '',
    'node_modules/native/views/docs/page.html': '',
    'node_modules/native/index.js.map': '',
    'node_modules/native/index.d.ts': '',
    'node_modules/native/tests/native.js': '',
    'node_modules/native/.env': 'of a package in a workspace',
  });
  layOutImage(root, join(root, 'image'));
  const image = join(root, 'image/app/node_modules/native');
  expect(readdirSync(image).sort()).toEqual(['libother.so.8.1', 'package.json', 'prebuilds', 'table.sql', 'views']);
  expect(readdirSync(join(image, 'views/docs'))).toEqual(['page.html']);
});

it('failures in packages of a workspace have their file, line and source, the same in development', async () => {
  const workspace = createRoot();
  const app = createInWorkspace(workspace);
  writeFiles(workspace, { 'package-lock.json': '{}', ...IN_WORKSPACE });
  const own = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8'));
  Object.assign(own.dependencies, { '@shop/ui': '*', '@shop/api': '*' });
  writeFiles(app, { 'package.json': JSON.stringify(own) });
  mkdirSync(join(app, 'node_modules/@shop'), { recursive: true });
  symlinkSync(join(workspace, 'packages/ui'), join(app, 'node_modules/@shop/ui'), 'junction');
  symlinkSync(join(workspace, 'apps/api'), join(app, 'node_modules/@shop/api'), 'junction');
  const token = { OPERATOR_TOKEN: 'ada:0123456789abcdef0123456789abcdef' };

  await buildApp(app);
  const production = await startApp(app, token);
  const built = await readFailures(production);
  await production.stop();
  expect(built.map(({ shown }) => shown)).toEqual([PRICE, TITLE, FIRST, SECOND, PRESS]);
  expect(new Set(built.map(({ digest }) => digest)).size).toBe(5);

  const settings = {
    ...token,
    NODE_ENV: 'development',
    npm_lifecycle_event: 'dev',
    PORT: String(await findFreePort()),
  };
  const development = await startServerProcess([join(app, 'bin/dev.mjs')], settings, app);
  onTestFinished(async () => void (await development.stop()));
  expect(await readFailures(development)).toEqual(built);
}, 180_000);

/** Lets everything fail, and reads what the desk shows of it. */
async function readFailures({ url }: ServerProcess) {
  const failures = [];
  for (const path of ['/?price=none', '/?untitled', '/old/one', '/old/two']) {
    const reply = await fetch(url + path);
    const text = await reply.text();
    expect(text).not.toMatch(/packages\/|apps\//);
    const address = reply.headers.get('x-error-digest') ?? /data-dgst="([\w-]+)"/.exec(text)?.[1] ?? '';
    failures.push(toShown(await ask<IncidentShape>(`${url}/api/desk/incidents/${address}`)));
  }
  return [...failures, await failInBrowser(url)];
}

async function failInBrowser(url: string) {
  const page = await (await shareBrowser()).newPage();
  await page.goto(url);
  for (;;) {
    await page.click('button', { timeout: 10_000 }); // it can be too early for hydration
    await sleep(200);
    const { incidents } = await ask<{ incidents: { digest: string; title: string }[] }>(`${url}/api/desk/incidents`);
    const found = incidents.find(({ title }) => title.includes('was pressed'));
    if (!found) continue;
    await page.close();
    return toShown(await ask<IncidentShape>(`${url}/api/desk/incidents/${found.digest}`));
  }
}

function toShown({ digest, shown }: IncidentShape) {
  const [frame] = shown?.full?.errors[0]?.frames ?? [];
  const { file, line = 0, source: { start = 0, lines = [] } = {} } = frame ?? {};
  return { digest, shown: { file, line, text: lines[line - start] } };
}

/** Asks the desk until the failure is stored. */
async function ask<Reply>(url: string): Promise<Reply> {
  const headers = { authorization: 'Bearer 0123456789abcdef0123456789abcdef' };
  for (;;) {
    const reply = await fetch(url, { headers });
    if (reply.ok) return (await reply.json()) as Reply;
    await sleep(50);
  }
}
