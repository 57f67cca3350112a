import type { ServerPages } from '#engine/server';
import type { routes } from '#product/routes.tsx';
import type { AppContext } from '../context.ts';

export const pages = {
  root: null,
  home: null,
} satisfies ServerPages<typeof routes, AppContext>;
