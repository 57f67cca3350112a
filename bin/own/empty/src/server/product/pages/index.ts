import type { Actions } from '../../../shared/product/actions.ts';
import type { routes } from '../../../shared/product/routes.tsx';
import type { ServerPages } from '../../engine/pages/server-page.ts';
import type { AppContext } from '../context.ts';

export const pages = {
  root: null,
  home: null,
} satisfies ServerPages<typeof routes, AppContext, Actions>;
