import { defineRoutes } from '#engine';

export const routes = defineRoutes([
  {
    id: 'root',
    page: () => import('./pages/root.tsx'),
    children: [
      { id: 'cards', path: '/cards', page: () => import('./pages/cards.tsx') },
      { id: 'large', path: '/large', page: () => import('./pages/large.tsx') },
      { id: 'feed', path: '/feed', page: () => import('./pages/feed.tsx') },
    ],
  },
  { id: 'prose', path: '/prose', mode: 'static', page: () => import('./pages/prose.tsx') },
]);
