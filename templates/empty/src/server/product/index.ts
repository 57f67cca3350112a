import { defineProduct } from '#engine/server';
import { createApi } from './api/index.ts';
import { pages } from './pages/index.ts';
import { settings } from './settings.ts';

/**
 * Your side of the server. Other options: `services`, `context`, `steps`, `routes`, `upgrades`, `existingApp`,
 * `contentSources`, `apiOrigins`, `apiDocument`, `apiStore` and `reporting`.
 */
export const product = defineProduct({
  settings,
  pages,
  api: createApi,
});
