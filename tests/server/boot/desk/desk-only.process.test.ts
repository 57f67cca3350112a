import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startServer } from '../../../support/e2e-server.ts';
import { until } from '../../../support/until.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const TOKEN = 'a-token-of-sixteen-characters';

/** Returns the built server with a product that throws when it is loaded. */
function breakProduct(): string {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-broken-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const main = join(folder, 'dist/server/main.js');
  const marker = '\n  "src/server/product/settings.ts"() {\n';
  const text = readFileSync(main, 'utf8');
  expect(text.split(marker)).toHaveLength(2);
  writeFileSync(main, text.replace(marker, `${marker}throw new Error('the product is broken');\n`));
  return main;
}

describe('DESK_ONLY', () => {
  it('serves the desk and the health checks if the product cannot be loaded', async () => {
    const main = breakProduct();
    await expect(startServer({}, main)).rejects.toThrow('the product is broken');

    const server = await startServer({ DESK_ONLY: '1', OPERATOR_TOKEN: TOKEN }, main);
    onTestFinished(() => server.stop());
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
    expect((await fetch(`${server.url}/tour/forms`)).status).toBe(404);
    const body = new URLSearchParams({ _action: 'root.signIn', token: TOKEN });
    const signedIn = await fetch(`${server.url}/desk`, { method: 'POST', body, redirect: 'manual' });
    expect(signedIn.status).toBe(303);
    const Cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const page = await fetch(`${server.url}/desk`, { headers: { Cookie } });
    expect(page.status).toBe(200);
    const html = await page.text();
    const Authorization = `Bearer ${TOKEN}`;
    expect((await fetch(`${server.url}/api/desk/incidents`, { headers: { Authorization } })).status).toBe(200);
    const [script] = /\/assets\/desk-\w+\.js/.exec(html) ?? [''];
    expect((await fetch(`${server.url}${script}`)).status).toBe(200);
  });

  it('is rejected if the value is invalid', async () => {
    await expect(startServer({ DESK_ONLY: 'perhaps' })).rejects.toThrow(
      /ended with 1 .*\nThe setting DESK_ONLY is neither on nor off/,
    );
  });
});

describe('DESK_PORT', () => {
  it('moves the desk to a separate listener', async () => {
    const server = await startServer({ DESK_PORT: '0', PUBLIC_ORIGINS: 'https://example.com' });
    onTestFinished(() => server.stop());
    await until(() => /The desk is on (http\S+)\/desk/.test(server.log()), 'the desk');
    const url = /The desk is on (http[^"\s]+)\/desk/.exec(server.log())?.[1] ?? '';
    expect((await fetch(`${url}/desk`)).status).toBe(401);
    expect((await fetch(`${url}/`, { redirect: 'manual' })).status).toBe(302);
    expect((await fetch(`${url}/api/desk/openapi.json`)).status).toBe(200);
    expect((await fetch(`${server.url}/api/desk/openapi.json`)).status).toBe(421);
    const Host = { Host: 'example.com' };
    expect((await fetch(`${server.url}/api/desk/openapi.json`, { headers: Host })).status).not.toBe(200);
    expect((await fetch(`${server.url}/desk`)).status).toBe(421);
    expect((await fetch(`${server.url}/desk`, { headers: { Host: 'example.com' } })).status).not.toBe(200);
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
  });
});

describe('with DESK_DATABASE_URL', () => {
  it('refuses to start without OPERATOR_TOKEN and says why', async () => {
    const start = startServer({ DESK_DATABASE_URL: 'postgres://desk@127.0.0.1:1/desk' });
    await expect(start).rejects.toThrow(/ended with 1 .*\nThe setting OPERATOR_TOKEN is missing/);
  });
});
