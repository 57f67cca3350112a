import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { AssetManifest } from '../../src/shared/wire/manifest.ts';

const dist = fileURLToPath(new URL('../../dist', import.meta.url));
const manifest = JSON.parse(readFileSync(`${dist}/manifest.json`, 'utf8')) as AssetManifest;

/** All scripts of the product's pages. */
const scripts = new Set(
  [manifest.entry, ...Object.values(manifest.routes)].flatMap((part) => [part.script, ...part.preloads]),
);

describe('the production build', () => {
  it('hydrates the home page with at most 85 kB of JavaScript, compressed with gzip', () => {
    const { entry, routes } = manifest;
    const home = new Set([entry.script, ...entry.preloads]);
    for (const id of ['root', 'home']) {
      const route = routes[id];
      if (route) for (const url of [route.script, ...route.preloads]) home.add(url);
    }
    const sizes = [...home].map((url) => gzipSync(readFileSync(`${dist}/client${url}`), { level: 9 }).length);
    expect(home.size).toBeGreaterThan(2);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(85_000);
  });

  it('contains no code of `npm run dev`', () => {
    const files = [...[...scripts].map((url) => `${dist}/client${url}`), `${dist}/server/site.js`];
    for (const file of files)
      expect(readFileSync(file, 'utf8'), file).not.toMatch(/\/_dev\/|__spillway\b|react-refresh/);
  });
});
