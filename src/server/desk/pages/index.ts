import type { DeskActions } from '../../../shared/desk/actions.ts';
import type { routes } from '../../../shared/desk/routes.tsx';
import type { ServerPages } from '../../engine/pages/server-page.ts';
import type { DeskContext } from './context.ts';
import { home } from './home.ts';
import { root } from './root.ts';

export const pages = {
  root,
  home,
} satisfies ServerPages<typeof routes, DeskContext, DeskActions>;
