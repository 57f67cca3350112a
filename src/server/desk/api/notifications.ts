import { operation } from '../../engine/api/operation.ts';
import { type Resource, resource } from '../../engine/api/resource.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import { presentNotification } from '../pages/notifications.ts';
import type { ApiContext } from './context.ts';
import { NotificationList, TestResults } from './replies.ts';
import { LimitQuery } from './requests.ts';

export function notificationsResource({ ask, facts }: ApiContext): Resource {
  return resource('/notifications', {
    GET: operation({
      id: 'listNotifications',
      summary: 'List waiting and finished notifications',
      query: LimitQuery,
      replies: { 200: { about: 'The latest notifications of each.', body: NotificationList } },
    }).handle(async ({ query }) => {
      const { waiting, waitingCount, done } = await ask('listNotifications', query.limit);
      return {
        status: 200,
        body: {
          targets: facts.notify?.targets ?? [],
          waiting: waiting.map(presentNotification),
          waitingCount,
          done: done.map(presentNotification),
        },
      };
    }),
  });
}

export function testNotificationsResource({ ask, facts }: ApiContext): Resource {
  const nobody = 'No notification targets are configured. Set WEBHOOK_URL or SMTP_URL.';
  return resource('/notifications/test', {
    POST: operation({
      id: 'testNotifications',
      summary: 'Send a test notification to all targets',
      replies: { 200: { about: 'The result for each target.', body: TestResults } },
      problems: { 409: nobody },
    }).handle(async () => {
      if ((facts.notify?.targets ?? []).length === 0) throw new HttpError(409, nobody);
      return { status: 200, body: { results: await ask('sendTestNotifications') } };
    }),
  });
}
