import { Document } from '../shared/product/document.tsx';
import { errorPages } from '../shared/product/error-pages.tsx';
import { routes } from '../shared/product/routes.tsx';
import { hydrate } from './hydration/hydrate.tsx';
import { start } from './product/index.ts';

await hydrate({
  routes,
  document: Document,
  errorPages,
});
start();
