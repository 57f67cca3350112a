import { afterAll, expect, it } from 'vitest';
import { startServer } from '../support/e2e-server.ts';
import { askRaw } from '../support/raw-http.ts';

const server = await startServer();
afterAll(server.stop);
const page = await (await fetch(server.url)).text();
const assets = [...new Set(page.match(/\/assets\/[\w.-]+/g))];

const ask = async (path: string) => askRaw(Number(new URL(server.url).port), `GET ${path} HTTP/1.1`);

it.each([
  ...['/.env', '/.env.production', '/.git/config', '/.gitignore', '/.npmrc', '/.ssh/id_rsa', '/.dockerenv', '/data/'],
  ...['/package.json', '/package-lock.json', '/node_modules/express/package.json', '/tsconfig.json', '/build.mjs'],
  ...[
    '/dist/server/main.js',
    '/server/main.js',
    '/server/site.js',
    '/server/site.js.map',
    '/main.js',
    '/sites.json',
    '/packages.json',
  ],
  ...['/maps/', '/client/', '/dist/', '/assets', '/assets/', '/assets/.', '/src/server/main.ts', '/README.md'],
  ...['/data/desk.sqlite', '/desk-token'],
  ...['/server-status', '/debug/pprof/', '/__manifest', '/_dev/events', '/@vite/client', '/@fs/etc/passwd', '/id_rsa'],
])('%s does not exist', async (path) => {
  const { status, headers } = await ask(path);
  expect([400, 404]).toContain(status);
  expect(headers['cache-control']).toBe('no-store');
});

it('serves no source maps, and names no product in its headers', async () => {
  expect(assets.length).toBeGreaterThan(0);
  for (const asset of assets) {
    const { status, headers, body } = await ask(asset);
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty('sourcemap');
    expect(headers).not.toHaveProperty('server');
    expect(body).not.toMatch(/sourceMappingURL|sourcesContent/);
    expect(body).not.toContain(import.meta.dirname.slice(0, -'/tests/server'.length));
    expect((await ask(`${asset}.map`)).status).toBe(404);
  }
});
