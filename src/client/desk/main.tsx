import { Document } from '../../shared/desk/document.tsx';
import { errorPages } from '../../shared/desk/error-pages.tsx';
import { DESK_PATH, routes } from '../../shared/desk/routes.tsx';
import { hydrate } from '../engine/hydration/hydrate.tsx';

await hydrate({
  routes,
  base: DESK_PATH,
  document: Document,
  errorPages,
  loadReporter: async (early) => (await import('../engine/reporting/courier.ts')).createReporter(early),
});
