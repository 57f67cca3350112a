import type { DeskActions } from '../../../shared/desk/actions.ts';
import type { NotificationShape, NotificationsData } from '../../../shared/desk/shapes.ts';
import { type ActingPage, invalid, type LoadingPage } from '../../engine/pages/server-page.ts';
import { LABELS } from '../notifications/message.ts';
import { toDigest } from '../store/incident-key.ts';
import type { ListedNotification } from '../store/notifications/notification-table.ts';
import { presentTitle } from '../views/present-title.ts';
import { type DeskContext, operatorOf } from './context.ts';
import { unlessAway } from './unless-away.ts';

/** The most notifications shown of each kind (a count). */
const SHOWN = 50;

export const notifications = {
  loader: ({ context }) => unlessAway(load(context)),

  actions: {
    async test({ context }) {
      if ((context.facts.notify?.targets ?? []).length === 0) {
        return invalid({ errors: { '': 'No notification targets are configured. Set WEBHOOK_URL or SMTP_URL.' } });
      }
      return { results: await unlessAway(context.ask('sendTestNotifications')) };
    },
  },
} satisfies LoadingPage<'notifications', NotificationsData, DeskContext> &
  ActingPage<'notifications', DeskActions['notifications'], DeskContext>;

async function load(context: DeskContext): Promise<NotificationsData> {
  const { name, role } = operatorOf(context);
  const { waiting, done, waitingCount } = await context.ask('listNotifications', SHOWN);
  return {
    now: Date.now(),
    operator: { name, canChange: role === 'operator' },
    environment: context.facts.environment,
    targets: context.facts.notify?.targets ?? [],
    settings: context.facts.notify?.settings ?? [],
    waiting: waiting.map(presentNotification),
    waitingCount,
    done: done.map(presentNotification),
  };
}

export function presentNotification(notification: ListedNotification): NotificationShape {
  const { id, kind, digest, incident, state, madeAt, doneAt, dueAt, tries, outcome, targetName } = notification;
  return {
    id,
    label: LABELS[kind],
    ...(digest !== undefined && { digest: toDigest(digest) }),
    ...(incident && { environment: incident.environment, title: presentTitle(incident) }),
    state,
    at: doneAt ?? madeAt,
    ...(state === 'waiting' && { dueAt }),
    tries,
    outcome,
    target: targetName,
  };
}
