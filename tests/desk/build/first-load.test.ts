import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { type AppAssets, type AssetManifest, toAppManifest } from '../../../src/shared/wire/manifest.ts';

const dist = fileURLToPath(new URL('../../../dist', import.meta.url));
const manifest = JSON.parse(readFileSync(`${dist}/manifest.json`, 'utf8')) as AssetManifest;

it('keeps pages of the product out of the desk, and pages of the desk out of the product', () => {
  const listScripts = ({ entry, routes }: AppAssets) =>
    [entry, ...Object.values(routes)].flatMap(({ script, preloads }) => [script, ...preloads]);
  const read = (urls: string[]) => urls.map((url) => readFileSync(`${dist}/client${url}`, 'utf8')).join('\n');
  const desk = read(listScripts(toAppManifest(manifest, 'desk')));
  const product = read(listScripts(manifest));
  expect(desk).toContain('Sign in to the desk');
  expect(product).not.toMatch(/Sign in to the desk|root\.signOut|Desk itself/);
  expect(desk).not.toMatch(/\/tour\/|Leave note/);
});
