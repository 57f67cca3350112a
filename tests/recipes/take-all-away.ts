import type { OwnedApp } from '../support/owned-app.ts';

/** Reduces a product to settings and pages, the minimum for an app. */
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
