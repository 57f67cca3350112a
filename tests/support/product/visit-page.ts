import { pages } from '../../../src/server/product/pages/index.ts';
import { routes } from '../../../src/shared/product/routes.tsx';
import { createVisitPage } from '../render-page.tsx';
import { loaderArgs } from './page-args.ts';
import { renderPage } from './render-page.ts';

/** A page of the product with what its loaders bring: `await visitPage('/orders/7', { context: { orders } })`. */
export const visitPage = createVisitPage({ routes, pages, toArgs: loaderArgs, renderPage });
