import { toPlural } from '../../../shared/desk/words.ts';
import { listTargets } from '../notifications/list-targets.ts';
import type { NotifySettings } from '../notifications/settings.ts';

/** What the desk says of who is told, without what is secret in it. */
export interface NotifyFacts {
  readonly targets: readonly string[];
  readonly settings: readonly (readonly [name: string, words: string])[];
}

export function presentNotify(notify: NotifySettings | undefined): NotifyFacts {
  if (!notify) return { targets: [], settings: [] };
  const { webhooks, webhookSecret, after, deskOrigin, privateTargets, heartbeatUrl } = notify;
  const targets = listTargets(notify).map(({ name }) => name);
  const isSigned =
    webhookSecret === undefined ? 'No: set WEBHOOK_SECRET, so that receivers know whom it is from' : 'Yes';
  return {
    targets,
    settings: [
      ...(targets.length > 0
        ? [['Told of an incident', after === 1 ? 'when it first happens' : `after ${toPlural(after, 'time')}`] as const]
        : []),
      ...(webhooks.length > 0 ? [['Signed', isSigned] as const] : []),
      ...(targets.length > 0 ? [['Links lead to', deskOrigin ?? 'nowhere: set DESK_ORIGIN'] as const] : []),
      ...(privateTargets.length > 0 ? [['Private targets', privateTargets.join(', ')] as const] : []),
      ['Heartbeat', heartbeatUrl === undefined ? 'None' : `${new URL(heartbeatUrl).host}, every minute`],
    ],
  };
}
