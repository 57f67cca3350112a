import type { ServerPages } from '#engine/server';
import type { href } from '#product/href.ts';
import type { routes } from '#product/routes.tsx';
import type { AppContext } from '../context.ts';

export const pages = {
  root: null,
  home: null,
} satisfies ServerPages<typeof routes, AppContext, typeof href>;
