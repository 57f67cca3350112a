import { cpSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { layOutImage } from '../../../bin/image.mjs';
import type { IncidentShape } from '../../../src/desk/shared/shapes.ts';
import { writeFiles } from '../../build/write-files.ts';
import { shareBrowser } from '../../support/browser.ts';
import { buildApp } from '../../support/build-app.ts';
import { createFolder } from '../../support/folder.ts';
import { findFreePort } from '../../support/free-port.ts';
import { createInWorkspace, startApp } from '../../support/owned-app.ts';
import { type ServerProcess, startServerProcess } from '../../support/server-process.ts';

/** A page and a loader that use TypeScript of `packages/ui`, in front of the app in `apps/api`, which is not bundled. */
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
  'apps/api/package.json':
    '{ "name": "@shop/api", "type": "module", "exports": "./src/app.js", "dependencies": { "express": "*" } }',
  'apps/api/src/app.js': `import express from 'express';

const query = (req, name) => req.query[name];
export const app = express();
app.get('/old/:name', (req, res) => void res.json(req.params.name === 'one' ? first(req) : second(req)));

function first(req) {
  return query(req, 'missing').name;
}

function second(req) {
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
const FIRST = { file: 'apps/api/src/app.js', line: 8, text: "  return query(req, 'missing').name;" };
const SECOND = { ...FIRST, line: 12 };

/** A temporary folder, with the path that programs see. */
const createRoot = () => realpathSync(createFolder(onTestFinished));

it('failures in packages of a workspace have their file, line and source, the same in an image and in development', async () => {
  const workspace = createRoot();
  const app = createInWorkspace(workspace);
  writeFiles(workspace, { 'package-lock.json': '{}', ...IN_WORKSPACE });
  const own = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8'));
  Object.assign(own.dependencies, { '@shop/ui': '*', '@shop/api': '*' });
  writeFiles(app, {
    'package.json': JSON.stringify(own),
    'src/server/product/build.mjs': "export default { external: ['@shop/api'] };",
  });
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

  const image = join(createRoot(), 'image');
  layOutImage(app, image);
  for (const path of ['dist', 'package.json']) cpSync(join(app, path), join(image, 'app', path), { recursive: true });
  const inImage = await startApp(join(image, 'app'), token);
  expect(await readFailures(inImage)).toEqual(built);
  await inImage.stop();

  const settings = {
    ...token,
    NODE_ENV: 'development',
    npm_lifecycle_event: 'dev',
    PORT: String(await findFreePort()),
  };
  const development = await startServerProcess([join(app, 'bin/dev.mjs')], settings, app);
  onTestFinished(async () => void (await development.stop()));
  expect(await readFailures(development)).toEqual(built);
}, 300_000);

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
  let digest: string | undefined;
  async function press() {
    await page.dispatchEvent('button', 'click'); // too early for hydration, or below the message about the last click
    const { incidents } = await ask<{ incidents: { digest: string; title: string }[] }>(`${url}/api/desk/incidents`);
    digest = incidents.find(({ title }) => title.includes('was pressed'))?.digest;
    return digest;
  }
  await expect.poll(press, { interval: 200, timeout: 60_000 }).toBeDefined();
  await page.close();
  return toShown(await ask<IncidentShape>(`${url}/api/desk/incidents/${digest}`));
}

function toShown({ digest, shown }: IncidentShape) {
  const [frame] = shown?.full?.errors[0]?.frames ?? [];
  const { file, line = 0, source: { start = 0, lines = [] } = {} } = frame ?? {};
  return { digest, shown: { file, line, text: lines[line - start] } };
}

/** Asks the desk until the failure is stored. */
async function ask<Reply>(url: string): Promise<Reply> {
  const headers = { authorization: 'Bearer 0123456789abcdef0123456789abcdef' };
  const read = () => fetch(url, { headers });
  await expect.poll(async () => (await read()).status, { message: url, timeout: 60_000 }).toBe(200);
  return (await (await read()).json()) as Reply;
}
