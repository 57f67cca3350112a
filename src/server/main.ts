import { join } from 'node:path';
import { startSite } from './boot/site.ts';
import { startOrExit } from './boot/start-or-exit.ts';
import { findOtherStart } from './destination.ts';

const dist = join(import.meta.dirname, '..');

await startOrExit(dist, async () => {
  const startOther = findOtherStart();
  if (startOther) return startOther(dist);
  // Imported only now, so that no product code runs before: it can be what is broken.
  const { product } = await import('./product/index.ts');
  const { routes } = await import('../shared/product/routes.tsx');
  const { Document: document } = await import('../shared/product/document.tsx');
  const { errorPages } = await import('../shared/product/error-pages.tsx');
  await startSite({ dist, product, routes, document, errorPages });
});
