import { defineProduct } from '#engine/server';
import { createApi } from './api/index.ts';
import { pages } from './pages/index.ts';
import { services } from './services.ts';
import { settings } from './settings.ts';

/**
 * Your side of the server. Other options: `context`, `steps`, `routes`, `upgrades`, `existingApp`, `contentSources`,
 * `apiOrigins`, `apiDocument`, `apiStore` and `reporting`.
 */
export const product = defineProduct({
  settings,
  services,
  pages,
  api: createApi,
});
