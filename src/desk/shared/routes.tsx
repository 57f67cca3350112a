import { defineRoutes } from '#engine';

/**
 * The desk's route table, separate from the product's. The server adds loaders and actions by id in
 * `src/desk/server/pages/desk-pages.ts`.
 */
export const routes = defineRoutes([
  {
    id: 'root',
    page: () => import('./pages/root/root.tsx'),
    children: [
      { id: 'incidents', path: '/desk', page: () => import('./pages/incidents/incidents.tsx') },
      {
        id: 'notifications',
        path: '/desk/notifications',
        page: () => import('./pages/notifications/notifications.tsx'),
      },
      { id: 'incident', path: '/desk/:digest/:occurrence?', page: () => import('./pages/incident/incident.tsx') },
    ],
  },
]);
