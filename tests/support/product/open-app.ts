import { createProductApp } from '#engine/testing';
import { Document } from '#product/document.tsx';
import { errorPages } from '#product/error-pages.tsx';
import { routes } from '#product/routes.tsx';
import { product } from '#product-server/index.ts';
import { createTestSettings } from './test-settings.ts';

/** Opens the whole product for requests of supertest: `const { app, failures } = await openApp()`. */
export const openApp = createProductApp({
  product,
  routes,
  document: Document,
  errorPages,
  createTestSettings,
});
