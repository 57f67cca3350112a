import type { DeskActions } from '../../../shared/desk/actions.ts';
import type { routes } from '../../../shared/desk/routes.tsx';
import type { ServerPages } from '../../engine/pages/server-page.ts';
import type { DeskContext } from './context.ts';
import { incident } from './incident.ts';
import { incidents } from './incidents.ts';
import { notifications } from './notifications.ts';
import { root } from './root.ts';

export const pages = {
  root,
  incidents,
  incident,
  notifications,
} satisfies ServerPages<typeof routes, DeskContext, DeskActions>;
