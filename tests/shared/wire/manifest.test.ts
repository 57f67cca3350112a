import { expect, it } from 'vitest';
import { type AssetManifest, toAppManifest } from '../../../src/shared/wire/manifest.ts';

const entry = { script: '/assets/main.js', preloads: [], styles: [] };
const admin = { entry: { ...entry, script: '/assets/admin.js' }, routes: { list: entry } };
const manifest: AssetManifest = { buildId: 'b', release: 'v1', entry, routes: { home: entry }, apps: { admin } };

it('returns the same build with the assets of another app', () => {
  expect(toAppManifest(manifest, 'admin')).toEqual({ buildId: 'b', release: 'v1', ...admin });
});

it('says what to do if the build does not have the app', () => {
  expect(() => toAppManifest(manifest, 'shop')).toThrow(/no app named "shop"\. Build again/);
});
