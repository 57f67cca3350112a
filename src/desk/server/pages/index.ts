import type { ServerPages } from '../../../server/pages/server-page.ts';
import type { DeskActions } from '../../shared/actions.ts';
import type { routes } from '../../shared/routes.tsx';
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
