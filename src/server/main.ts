import { join } from 'node:path';
import { isDeskOnly, startDesk } from './boot/desk-only.ts';
import { startSite } from './boot/site.ts';
import { startOrExit } from './boot/start-or-exit.ts';

const dist = join(import.meta.dirname, '..');

await startOrExit(async () => {
  if (isDeskOnly()) return startDesk(dist);
  // Not before: with DESK_ONLY nothing of the product runs, because it may be what is broken.
  const { product } = await import('./product/index.ts');
  const { routes } = await import('../shared/product/routes.tsx');
  const { Document: document } = await import('../shared/product/document.tsx');
  const { errorPages } = await import('../shared/product/error-pages.tsx');
  await startSite({ dist, product, routes, document, errorPages });
});
