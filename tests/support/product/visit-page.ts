import { pages } from '../../../src/server/product/pages/index.ts';
import { Document } from '../../../src/shared/product/document.tsx';
import { errorPages } from '../../../src/shared/product/error-pages.tsx';
import { routes } from '../../../src/shared/product/routes.tsx';
import { createVisitPage } from '../render-page.tsx';
import { loaderArgs } from './page-args.ts';

/** A page of the product with what its loaders bring: `await visitPage('/orders/7', { context: { orders } })`. */
export const visitPage = createVisitPage({ routes, document: Document, errorPages, pages, toArgs: loaderArgs });
