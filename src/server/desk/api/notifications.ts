import { operation } from '../../../shared/engine/api/operation.ts';
import { type ApiPart, implement } from '../../engine/api/implement.ts';
import { HttpError } from '../../engine/errors/http-error.ts';
import { presentNotification } from '../pages/notifications.ts';
import type { ApiContext } from './context.ts';
import { NotificationList, TestResults } from './replies.ts';
import { LimitQuery } from './requests.ts';

const NO_TARGETS = 'No notification targets are configured. Set WEBHOOK_URL or MAIL_TO.';

const operations = {
  listNotifications: operation({
    method: 'GET',
    path: '/notifications',
    summary: 'List waiting and finished notifications',
    query: LimitQuery,
    replies: { 200: { about: 'The latest notifications of each.', body: NotificationList } },
  }),
  testNotifications: operation({
    method: 'POST',
    path: '/notifications/test',
    summary: 'Send a test notification to all targets',
    replies: { 200: { about: 'The result for each target.', body: TestResults } },
    problems: { 409: NO_TARGETS },
  }),
};

export function notificationsApi({ auth, calls, facts }: ApiContext): ApiPart {
  const targets = facts.notify?.targets ?? [];
  return implement(
    operations,
    {
      async listNotifications({ query }) {
        const { waiting, done } = await calls.listNotifications(query.limit);
        return {
          status: 200,
          body: {
            targets,
            waiting: waiting.map(presentNotification),
            done: done.map(presentNotification),
          },
        };
      },
      async testNotifications() {
        if (targets.length === 0) throw new HttpError(409, NO_TARGETS);
        return { status: 200, body: { results: [...(await calls.sendTestNotifications())] } };
      },
    },
    { auth },
  );
}
