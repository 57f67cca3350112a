import { defineRoutes } from '#engine';

/**
 * Every page of the product. The server joins the halves that load and act by id, in
 * `src/server/product/pages/index.ts`; a forgotten or misspelt id does not compile.
 */
export const routes = defineRoutes([
  {
    id: 'root',
    page: () => import('./pages/root/root.tsx'),
    children: [{ id: 'home', path: '/', page: () => import('./pages/home/home.tsx') }],
  },
]);
