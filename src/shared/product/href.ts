import { createHref } from '#engine';
import type { navigationSearch } from '#product-server/pages/navigation.ts';
import type { routes } from './routes.tsx';

/** Returns the URL of a page: `href('/orders/:id', { id: 7 }, { search: { page: 2 } })`. */
export const href = createHref<typeof routes, { '/tour/navigation': typeof navigationSearch }>();
