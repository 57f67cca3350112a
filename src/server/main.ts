import { join } from 'node:path';
import { startOrExit } from './start/start.ts';

await startOrExit({
  dist: join(import.meta.dirname, '..'),
  tracker: (await import('../desk/server/index.ts')).desk,
  load: async () => ({
    product: (await import('./product/index.ts')).product,
    routes: (await import('../shared/product/routes.tsx')).routes,
    document: (await import('../shared/product/document.tsx')).Document,
    errorPages: (await import('../shared/product/error-pages.tsx')).errorPages,
  }),
});
