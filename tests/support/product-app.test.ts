import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { defineProduct, defineSettings } from '../../src/server/engine/product.ts';
import { parsed } from '../../src/server/engine/settings.ts';
import { Document } from '../fixtures/app/src/shared/product/document.tsx';
import { errorPages } from '../fixtures/app/src/shared/product/error-pages.tsx';
import { routes } from '../fixtures/app/src/shared/product/routes.tsx';
import { createProductApp } from './product-app.ts';

const DATABASE_URL = { about: 'A database.', example: 'x', schema: parsed('', (text) => text).prefault('') };

/** A product that keeps where its services were opened, and whether the folder was still there when they closed. */
function createKeeper() {
  const opened: { dataDir: string; url: string }[] = [];
  const closed: boolean[] = [];
  const product = defineProduct({
    settings: defineSettings({ DATABASE_URL }, (values, { dataDir }) => ({ dataDir, url: values.DATABASE_URL })),
    services: {
      open(settings) {
        opened.push(settings);
        return settings;
      },
      close: ({ dataDir }) => void closed.push(existsSync(dataDir)),
    },
    pages: { root: null, home: null },
  });
  return { opened, closed, openApp: createProductApp({ product, routes, document: Document, errorPages }) };
}

it('opens services with a folder of their own, and without the settings of the environment', async () => {
  vi.stubEnv('DATABASE_URL', 'postgres://localhost/development');
  vi.stubEnv('DATA_DIR', './data');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { opened, closed, openApp } = createKeeper();
  // Runs after the hooks of the app, because they run in reverse order.
  onTestFinished(() => {
    expect(closed).toEqual([true, true]);
    expect(opened.map(({ dataDir }) => existsSync(dataDir))).toEqual([false, false]);
  });
  await openApp();
  await openApp();
  expect(opened.map(({ dataDir, url }) => [dirname(dataDir), url])).toEqual([
    [tmpdir(), ''],
    [tmpdir(), ''],
  ]);
  expect(opened[0]?.dataDir).not.toBe(opened[1]?.dataDir);
});

it('opens services with the settings that a test gives', async () => {
  const { opened, openApp } = createKeeper();
  const given = { DATA_DIR: resolve('given'), DATABASE_URL: 'postgres://localhost/test' };
  await openApp({ env: given });
  expect(opened).toEqual([{ dataDir: given.DATA_DIR, url: given.DATABASE_URL }]);
});
