import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPage, useRecipe } from '../../recipes/recipe.ts';
import { type RunningApp, startApp } from '../../support/owned-app.ts';

const app = useRecipe('extending', (it) => {
  it.replace('src/server/product/pages/index.ts', 'home: null', 'home');
  it.replace('src/server/product/pages/index.ts', 'import', "import { home } from './home.ts';\nimport");
  it.replace('src/server/product/pages/index.ts', 'home,', 'home, kept: null,');
  it.replace(
    'src/shared/product/routes.tsx',
    "{ id: 'home'",
    "{ id: 'kept', path: '/kept', mode: 'static', page: () => import('./pages/kept.tsx') }, { id: 'home'",
  );
  it.replace(
    'src/server/product/index.ts',
    '  upgrades: createUpgrades,',
    '  upgrades: createUpgrades,\n  contentSources: { inlineScript: [theme] },',
  );
  it.replace('src/server/product/index.ts', 'import', "import { theme } from '../../shared/product/theme.ts';\nimport");
  it.replace(
    'src/shared/product/document.tsx',
    '{head}',
    '<script dangerouslySetInnerHTML={{ __html: theme }} />{head}',
  );
  it.replace('src/shared/product/document.tsx', 'import', "import { theme } from './theme.ts';\nimport");
  it.write({
    'src/server/product/pages/home.ts': `
      import { definePage } from '../context.ts';
      export const home = definePage({
        acceptPostsFrom: ['https://pay.example'],
        actions: { default: ({ form }) => ({ paid: String(form.get('receipt')) }) },
      });`,
    'src/shared/product/pages/kept.tsx': 'export default () => <title>Kept</title>;',
    'src/server/product/api/index.ts': `
      import { Router } from 'express';
      import { resource } from '#engine/server';
      import { pay } from '../provider.ts';
      export function createApi(): Router {
        return Router().use(resource('/payments/:provider', { GET: ({ params }) => pay(String(params.provider)) }));
      }`,
  });
});
let running: RunningApp;
beforeAll(async () => {
  running = await startApp(app.folder);
});
afterAll(() => running?.stop());

describe("the app's files", () => {
  it('provide a page with a nonce', async () => {
    const { url } = running;
    const reply = await fetch(url);
    const html = await reply.text();
    expect(html).toContain('<h1>Home</h1>');
    const nonce = /<script nonce="([^"]+)">window\.started/.exec(html)?.[1];
    expect(reply.headers.get('content-security-policy')).toContain(`'nonce-${nonce}'`);
  });

  it.each(['/', '/kept', '/nowhere'])('set the theme before the page is shown: %s', async (path) => {
    const before = (page: Page) => page.addInitScript(() => localStorage.setItem('theme', 'dark'));
    const { page, complaints } = await openPage(running.url + path, { before });
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
    expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
  });

  it('close a page and its data with one step', async () => {
    const { url } = running;
    expect((await fetch(`${url}/admin`)).status).toBe(403);
    expect((await fetch(`${url}/_data/admin`)).status).toBe(403);
    expect((await fetch(`${url}/administration`)).status).toBe(404);
  });

  it('serve routes that are not pages', async () => {
    const { url } = running;
    const hook = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' };
    expect(await (await fetch(`${url}/webhooks/payment`, hook)).json()).toEqual({ bytes: 7 });
    const foreign = { ...hook, headers: { ...hook.headers, origin: 'https://evil.example' } };
    expect((await fetch(`${url}/webhooks/payment`, foreign)).status).toBe(403);
  });

  it('split failures at one place', async () => {
    const { url, log } = running;
    const digestOf = async (provider: string) => {
      const reply = await fetch(`${url}/api/payments/${provider}`);
      expect(reply.status).toBe(500);
      return ((await reply.json()) as { digest: string }).digest;
    };
    const [first, again, other] = [await digestOf('a'), await digestOf('a'), await digestOf('b')];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    await expect.poll(log).toContain('ProviderError: The provider b did not respond.');
  });

  it('accept posts from the origin that a page lists, only for that page', async () => {
    const { url } = running;
    const post = (path: string, origin: string) =>
      fetch(url + path, { method: 'POST', headers: { origin }, body: new URLSearchParams({ receipt: 'R7' }) });
    expect((await post('/', 'https://pay.example')).status).toBe(200);
    expect((await post('/', 'https://evil.example')).status).toBe(403);
    expect((await post('/nowhere', 'https://pay.example')).status).toBe(403);
  });

  it('add browser code to the first load', async () => {
    const { entry } = JSON.parse(readFileSync(join(app.folder, 'dist/manifest.json'), 'utf8'));
    const scripts = [entry.script, ...entry.preloads].map((path) =>
      readFileSync(join(app.folder, 'dist/client', path), 'utf8'),
    );
    expect(scripts.join('')).toContain('data-offline');
  });
});
