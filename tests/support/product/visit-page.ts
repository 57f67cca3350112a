import { createVisitPage } from '#engine/testing';
import { Document } from '#product/document.tsx';
import { errorPages } from '#product/error-pages.tsx';
import { routes } from '#product/routes.tsx';
import { pages } from '#product-server/pages/index.ts';
import { loaderArgs } from './page-args.ts';

/** Renders a page of the product with its loaders: `await visitPage('/orders/7', { context: { orders } })`. */
export const visitPage = createVisitPage({ routes, document: Document, errorPages, pages, toArgs: loaderArgs });
