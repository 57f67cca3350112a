import { createRenderPage } from '#engine/testing';
import { Document } from '#product/document.tsx';
import { errorPages } from '#product/error-pages.tsx';
import { routes } from '#product/routes.tsx';

/** Renders a page of the product as a visitor gets it: `await renderPage('/orders/7', { data: { total: 3 } })`. */
export const renderPage = createRenderPage({ routes, document: Document, errorPages });
