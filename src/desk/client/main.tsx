import { hydrate } from '#engine/client';
import { Document } from '../shared/document.tsx';
import { errorPages } from '../shared/error-pages.tsx';
import { DESK_PATH } from '../shared/href.ts';
import { routes } from '../shared/routes.tsx';

await hydrate({
  routes,
  base: DESK_PATH,
  document: Document,
  errorPages,
});
