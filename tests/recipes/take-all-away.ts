import type { OwnedApp } from '../support/owned-app.ts';

/** Leaves a product of settings and pages, which every app has. */
export function takeAllAway(app: OwnedApp): OwnedApp {
  app.write({
    'src/server/product/index.ts': `
      import { defineProduct } from '#engine/server';
      import { pages } from './pages/index.ts';
      import { settings } from './settings.ts';
      export const product = defineProduct({ settings, pages });`,
    'src/server/product/api/index.ts': undefined,
  });
  return app;
}
