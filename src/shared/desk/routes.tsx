import { defineRoutes } from '../engine/routing/routes.ts';

/** All pages of the desk are at this path or below it, and so is their data. */
export const DESK_PATH = '/desk';

/**
 * Every page of the desk: a table of its own, beside the product's. The server joins the other halves
 * by id, in `src/server/desk/pages/index.ts`.
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
