import { defineProduct } from '#engine/server';
import { createApiStore } from './api/create-api-store.ts';
import { createApi } from './api/index.ts';
import { createContext } from './context.ts';
import { pages } from './pages/index.ts';
import { services } from './services.ts';
import { settings } from './settings.ts';

/**
 * Your side of the server. Other options: `steps`, `routes`, `upgrades`, `existingApp`, `contentSources`, `apiOrigins`
 * and `reporting`.
 */
export const product = defineProduct({
  settings,
  services,
  context: createContext,
  pages,
  api: createApi,
  apiStore: createApiStore,
});
