import { defineRoutes } from '#engine';

/**
 * All pages. `src/server/product/pages/index.ts` adds loaders, guards and actions by route id. A missing or misspelt id
 * does not compile.
 */
export const routes = defineRoutes([
  {
    id: 'root',
    page: () => import('./pages/root/root.tsx'),
    children: [{ id: 'home', path: '/', page: () => import('./pages/home/home.tsx') }],
  },
]);
