import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { defineProduct, defineSettings } from '../../../src/server/define-product.ts';
import { open } from '../../../src/server/start/open.ts';
import { createFolder } from '../../support/folder.ts';
import { TEST_ERROR_PAGES, TestDocument } from '../../support/pages-app.tsx';

it.each([
  ['/robots.txt', 'robots.txt'],
  ['/:lang?/größe.txt', 'größe.txt'],
] as const)('refuses a page at %s, which a public file hides', async (path, file) => {
  const dist = createFolder(onTestFinished);
  const entry = { script: '/assets/main-1.js', preloads: [], styles: [] };
  writeFileSync(join(dist, 'manifest.json'), JSON.stringify({ buildId: 'BUILD7K3Q', entry, routes: {} }));
  mkdirSync(join(dist, 'client'));
  writeFileSync(join(dist, 'client', file), 'text');
  vi.stubEnv('DATA_DIR', createFolder(onTestFinished));
  vi.stubEnv('LOG_LEVEL', 'silent');
  onTestFinished(() => void vi.unstubAllEnvs());
  const product = defineProduct({ settings: defineSettings({}), pages: { text: null } });
  const routes = [{ id: 'text', path, page: async () => ({ default: () => 'a page' }) }];
  await expect(open({ dist, product, routes, document: TestDocument, errorPages: TEST_ERROR_PAGES })).rejects.toThrow(
    `The route "text" ('${path}') in src/shared/product/routes.tsx would never be shown, because src/client/public/${file} answers /${file}. Give the route another path.`,
  );
});
