import { createVisitPage } from '#engine/testing';
import { Document } from '#product/document.tsx';
import { errorPages } from '#product/error-pages.tsx';
import { routes } from '#product/routes.tsx';
import type { AppContext } from '#product-server/context.ts';
import { product } from '#product-server/index.ts';
import { pages } from '#product-server/pages/index.ts';
import { loaderArgs, type PageArgsOptions } from './page-args.ts';
import { createTestSettings } from './test-settings.ts';

/**
 * Renders a page of the product with its loaders: `await visitPage('/orders/7', { context: { orders } })`. Your services
 * are open while it runs, unless the context has some.
 */
export const visitPage = createVisitPage<AppContext, PageArgsOptions>({
  routes,
  document: Document,
  errorPages,
  pages,
  services: product.services,
  createTestSettings,
  toArgs: loaderArgs,
});
