import { defineRoutes, type RouteIdOf } from '#engine';

/**
 * All pages. `src/server/product/pages/index.ts` adds loaders, guards and actions by route id. A missing or misspelt id
 * does not compile.
 */
export const routes = defineRoutes([
  {
    id: 'root',
    page: () => import('./pages/root/root.tsx'),
    children: [
      { id: 'home', path: '/', page: () => import('./pages/home/home.tsx') },
      { id: 'streaming', path: '/tour/streaming', page: () => import('./pages/streaming/streaming.tsx') },
      {
        id: 'layout',
        page: () => import('./pages/layout/layout.tsx'),
        children: [
          {
            id: 'layout-start',
            path: '/tour/layout',
            page: () => import('./pages/layout/start.tsx'),
          },
          {
            id: 'layout-tab',
            path: '/tour/layout/:tab',
            page: () => import('./pages/layout/tab.tsx'),
          },
        ],
      },
      { id: 'navigation', path: '/tour/navigation', page: () => import('./pages/navigation/navigation.tsx') },
      { id: 'forms', path: '/tour/forms', page: () => import('./pages/forms/forms.tsx') },
      {
        id: 'static',
        path: '/tour/static',
        mode: 'static',
        page: () => import('./pages/static/static.tsx'),
      },
      { id: 'shell', path: '/tour/shell', mode: 'shell', page: () => import('./pages/shell/shell.tsx') },
      { id: 'cards', path: '/tour/cards', page: () => import('./pages/cards/cards.tsx') },
      { id: 'api', path: '/tour/api', page: () => import('./pages/api/api.tsx') },
      {
        id: 'late-not-found',
        path: '/tour/late-not-found',
        page: () => import('./pages/late-responses/late-not-found.tsx'),
      },
      {
        id: 'late-redirect',
        path: '/tour/late-redirect',
        page: () => import('./pages/late-responses/late-redirect.tsx'),
      },
      { id: 'failures', path: '/tour/failures', page: () => import('./pages/failures/failures.tsx') },
      {
        id: 'fail',
        page: () => import('./pages/fail/fail.tsx'),
        children: [
          { id: 'fail-loader', path: '/tour/fail/loader', page: () => import('./pages/fail/loader.tsx') },
          { id: 'fail-render', path: '/tour/fail/render', page: () => import('./pages/fail/render.tsx') },
          { id: 'fail-late', path: '/tour/fail/late', page: () => import('./pages/fail/late.tsx') },
          { id: 'fail-client', path: '/tour/fail/client', page: () => import('./pages/fail/client.tsx') },
          { id: 'fail-effect', path: '/tour/fail/effect', page: () => import('./pages/fail/effect.tsx') },
          { id: 'fail-hydration', path: '/tour/fail/hydration', page: () => import('./pages/fail/hydration.tsx') },
          { id: 'fail-chunk', path: '/tour/fail/chunk', page: () => import('./pages/fail/chunk.tsx') },
          {
            id: 'fail-unauthorized',
            path: '/tour/fail/unauthorized',
            page: () => import('./pages/fail/unauthorized.tsx'),
          },
          { id: 'fail-forbidden', path: '/tour/fail/forbidden', page: () => import('./pages/fail/forbidden.tsx') },
          { id: 'fail-not-found', path: '/tour/fail/not-found', page: () => import('./pages/fail/not-found.tsx') },
        ],
      },
    ],
  },
]);

export type RouteId = RouteIdOf<typeof routes>;
