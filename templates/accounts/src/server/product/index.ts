import { defineProduct } from '#engine/server';
import { createRoutes } from './accounts/routes.ts';
import { readVisitorId } from './accounts/visitor.ts';
import { createApi } from './api/index.ts';
import { createContext } from './context.ts';
import { pages } from './pages/index.ts';
import { services } from './services.ts';
import { settings } from './settings.ts';

/**
 * Your side of the server. Other options: `steps`, `upgrades`, `existingApp`, `contentSources`, `apiOrigins`
 * and `apiDocument`.
 */
export const product = defineProduct({
  settings,
  services,
  context: createContext,
  pages,
  api: createApi,
  apiStore: ({ services }) => services.counts,
  routes: createRoutes,
  reporting: { visitorId: readVisitorId },
});
