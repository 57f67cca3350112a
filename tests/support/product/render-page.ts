import { Document } from '../../../src/shared/product/document.tsx';
import { errorPages } from '../../../src/shared/product/error-pages.tsx';
import { routes } from '../../../src/shared/product/routes.tsx';
import { createRenderPage } from '../render-page.tsx';

/** A page of the product as a visitor would get it: `await renderPage('/orders/7', { data: { total: 3 } })`. */
export const renderPage = createRenderPage({ routes, document: Document, errorPages });
