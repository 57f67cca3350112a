import { join } from 'node:path';
import { startSite } from './start/site.ts';
import { startOrExit } from './start/start-or-exit.ts';

const dist = join(import.meta.dirname, '..');

await startOrExit(dist, async () => {
  // Imported only now, so that no product code runs before: it can be what is broken.
  const { product } = await import('./product/index.ts');
  if (process.argv.includes('--check')) {
    const { runCheck } = await import('./start/check.ts');
    process.exit(await runCheck(process.argv, { dist, env: process.env, settings: product.settings }));
  }
  const { routes } = await import('../shared/product/routes.tsx');
  const { Document: document } = await import('../shared/product/document.tsx');
  const { errorPages } = await import('../shared/product/error-pages.tsx');
  await startSite({ dist, product, routes, document, errorPages });
});
