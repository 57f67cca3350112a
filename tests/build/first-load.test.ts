import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commands } from '../../build/destination.mjs';
import type { AssetManifest } from '../../src/shared/engine/wire/manifest.ts';
import { startServer } from '../support/e2e-server.ts';

const dist = fileURLToPath(new URL('../../dist', import.meta.url));
const manifest = JSON.parse(readFileSync(`${dist}/manifest.json`, 'utf8')) as AssetManifest;

describe('the production build', () => {
  it('hydrates the home page with at most 85 kB of JavaScript, compressed with gzip', () => {
    const { entry, routes } = manifest;
    const scripts = new Set([entry.script, ...entry.preloads]);
    for (const id of ['root', 'home']) {
      const route = routes[id];
      if (route) for (const url of [route.script, ...route.preloads]) scripts.add(url);
    }
    const sizes = [...scripts].map((url) => gzipSync(readFileSync(`${dist}/client${url}`), { level: 9 }).length);
    expect(scripts.size).toBeGreaterThan(2);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(85_000);
  });

  it('loads the SDK that reports failures later', () => {
    const { entry, routes } = manifest;
    const urls = new Set([entry, ...Object.values(routes)].flatMap((part) => [part.script, ...part.preloads]));
    for (const url of urls)
      expect(readFileSync(`${dist}/client${url}`, 'utf8'), url).not.toMatch(/__SENTRY__|sentry\.javascript/);
    const courier = readdirSync(`${dist}/client/assets`).filter((name) => /^courier-\w+\.js$/.test(name));
    const sizes = courier.map((name) => gzipSync(readFileSync(`${dist}/client/assets/${name}`), { level: 9 }).length);
    expect(Math.min(...sizes)).toBeLessThan(28_000);
  });

  it('adds at most 1 KB to a page for its first script and its trace, compressed with gzip', async () => {
    const server = await startServer();
    onTestFinished(() => server.stop());
    const page = await (await fetch(server.url)).text();
    const without = page
      .replace(/<script[^>]*>\{const SETTINGS=.*?<\/script>/s, '')
      .replaceAll(/<meta name="(?:sentry-trace|baggage)"[^>]*>/g, '');
    expect(page.length - without.length).toBeGreaterThan(1000);
    expect(gzipSync(page).length - gzipSync(without).length).toBeLessThanOrEqual(1024);
  });

  it('loads neither Express nor React into the commands', () => {
    for (const command of commands) {
      const text = readFileSync(`${dist}/server/${command}.js`, 'utf8');
      expect(text, command).not.toMatch(/^\/\/ node_modules\/(?:express|react|react-dom|react-router|@sentry|pino)\//m);
    }
  });

  it('contains no code of `npm run dev`', () => {
    const urls = new Set(
      [manifest.entry, ...Object.values(manifest.routes)].flatMap((part) => [part.script, ...part.preloads]),
    );
    const files = [...[...urls].map((url) => `${dist}/client${url}`), `${dist}/server/main.js`];
    for (const file of files)
      expect(readFileSync(file, 'utf8'), file).not.toMatch(/\/_dev\/|__spillway\b|react-refresh/);
  });
});
