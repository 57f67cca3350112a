import { invalid, type LoaderArgs } from '#engine/server';
import type { ActingPage, LoadingPage } from '#engine/tracker';
import type { DeskActions } from '../../shared/actions.ts';
import type { NotificationShape, NotificationsData } from '../../shared/page-data.ts';
import { EVENT_LABELS } from '../notifications/message.ts';
import { splitKey } from '../store/incident-key.ts';
import type { NotificationRecord } from '../store/notification-table.ts';
import { presentTitle } from '../views/present-incident-row.ts';
import { canChange, type DeskContext } from './context.ts';

/** The most notifications shown (a count). */
const SHOWN = 50;

export const notifications = {
  loader: load,

  actions: {
    async test({ context }) {
      if (context.facts.targets.length === 0) {
        return invalid({ errors: { '': 'No notification targets are configured. Set WEBHOOK_URL or MAIL_TO.' } });
      }
      return { results: [...(await context.calls.sendTestNotifications())] };
    },
  },
} satisfies LoadingPage<'notifications', NotificationsData, DeskContext> &
  ActingPage<'notifications', DeskActions['notifications'], DeskContext>;

async function load({ context }: LoaderArgs<DeskContext>): Promise<NotificationsData> {
  const shown = await context.calls.listNotifications(SHOWN);
  return {
    now: Date.now(),
    canChange: canChange(context),
    targets: context.facts.targets,
    notifications: shown.map((one) => presentNotification(one, context.facts.environment)),
  };
}

function presentNotification({ event, key, kind, title, ...rest }: NotificationRecord, own: string): NotificationShape {
  const { digest, environment } = splitKey(key);
  return {
    ...rest,
    label: EVENT_LABELS[event],
    digest,
    scope: environment === own ? '' : environment,
    ...(title !== undefined && kind && { title: presentTitle({ kind, title }) }),
  };
}
