import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Router } from 'express';
import request from 'supertest';
import { expect, it, onTestFinished, vi } from 'vitest';
import { defineProduct, defineSettings } from '../../src/server/define-product.ts';
import { parsed } from '../../src/server/settings.ts';
import { routes } from '../fixtures/app/src/shared/product/routes.tsx';
import { TEST_ERROR_PAGES, TestDocument } from './pages-app.tsx';
import { createProductApp } from './product-app.ts';

const DATABASE_URL = { about: 'A database.', example: 'x', schema: parsed('', (text) => text).prefault('') };

it('opens services with a temporary folder and the settings that a test gives, not those of the environment', async () => {
  vi.stubEnv('DATABASE_URL', 'postgres://localhost/development');
  vi.stubEnv('DATA_DIR', './data');
  const opened: { dataDir: string; url: string }[] = [];
  const closed: boolean[] = [];
  // Runs after the hooks of the app, because they run in reverse order.
  onTestFinished(() => {
    vi.unstubAllEnvs();
    expect(closed).toEqual([true, true, true, true]);
    expect(opened.map(({ dataDir }) => existsSync(dataDir))).toEqual([false, false, false, false]);
  });
  const product = defineProduct({
    settings: defineSettings({ DATABASE_URL }, (values, { dataDir }) => ({ dataDir, url: values.DATABASE_URL })),
    services: {
      open: (settings) => opened[opened.push(settings) - 1],
      close: (settings) => void closed.push(existsSync(settings?.dataDir ?? '')),
    },
    pages: { root: null, home: null },
  });
  const openApp = createProductApp({ product, routes, document: TestDocument, errorPages: TEST_ERROR_PAGES });
  const openWithSettings = createProductApp({
    product,
    routes,
    document: TestDocument,
    errorPages: TEST_ERROR_PAGES,
    createTestSettings: async () => ({ DATABASE_URL: 'postgres://localhost/of-tests' }),
  });
  await openApp();
  await openApp({ env: { DATABASE_URL: 'postgres://localhost/test' } });
  await openWithSettings();
  await openWithSettings({ env: { DATABASE_URL: 'postgres://localhost/test' } });
  const [own, ofTests] = ['postgres://localhost/test', 'postgres://localhost/of-tests'];
  expect(opened.map(({ url }) => url)).toEqual(['', own, ofTests, own]);
  expect(dirname(opened[0]?.dataDir ?? '')).toBe(tmpdir());
});

it('lists the failures also while a timer of a service starts itself again and again', async () => {
  let timer: NodeJS.Timeout | undefined;
  const poll = () => {
    timer = setTimeout(poll, 500);
  };
  const services = { open: poll, close: () => clearTimeout(timer) };
  const product = defineProduct({ settings: defineSettings({}), services, pages: { root: null, home: null } });
  const openApp = createProductApp({ product, routes, document: TestDocument, errorPages: TEST_ERROR_PAGES });
  const { failures } = await openApp();
  await sleep(600); // its next timer is followed
  expect(await failures()).toEqual([]);
}, 10_000);

it('gives `fetches` also to clients that a service keeps, such as that of Stripe', async () => {
  const services = {
    open: () => {
      const { fetch: kept } = globalThis;
      return { pay: async () => (await kept('https://pay.example/charges', { method: 'POST' })).status };
    },
  };
  const product = defineProduct({
    settings: defineSettings({}),
    services,
    pages: { root: null, home: null },
    routes: ({ services }) => Router().get('/pay', async (_req, res) => void res.json(await services.pay())),
  });
  const openApp = createProductApp({ product, routes, document: TestDocument, errorPages: TEST_ERROR_PAGES });
  const { app } = await openApp({ fetches: { 'POST https://pay.example/charges': 402 } });
  expect((await request(app).get('/pay')).body).toBe(402);
});
