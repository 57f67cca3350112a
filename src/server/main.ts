import { join } from 'node:path';
import { isDeskOnly, startDesk } from './boot/desk-only.ts';
import { startSite } from './boot/site.ts';
import { startOrExit } from './boot/start-or-exit.ts';

const dist = join(import.meta.dirname, '..');

await startOrExit(async () => {
  if (isDeskOnly()) return startDesk(dist);
  // Imported only now: with DESK_ONLY, no product code runs, because it can be what is broken.
  const { product } = await import('./product/index.ts');
  const { routes } = await import('../shared/product/routes.tsx');
  const { Document: document } = await import('../shared/product/document.tsx');
  const { errorPages } = await import('../shared/product/error-pages.tsx');
  await startSite({ dist, product, routes, document, errorPages });
});
