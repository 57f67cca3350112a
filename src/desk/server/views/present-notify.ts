import type { NotifySettings } from '../notifications/settings.ts';
import { createTargets } from '../notifications/targets.ts';

/** The notification settings that the desk shows, without secrets. */
export interface NotifyFacts {
  readonly targets: readonly string[];
  readonly settings: readonly (readonly [name: string, words: string])[];
}

export function presentNotify(notify: NotifySettings | undefined): NotifyFacts {
  if (!notify) return { targets: [], settings: [] };
  const { webhooks, webhookSecret, after, deskOrigin } = notify;
  const targets = createTargets(notify).map(({ name }) => name);
  const isSigned =
    webhookSecret === undefined ? 'No. Set WEBHOOK_SECRET, so that receivers can verify the sender' : 'Yes';
  return {
    targets,
    settings: [
      ...(targets.length > 0
        ? [['Notify', after === 1 ? 'at the first occurrence' : `after ${after} occurrences`] as const]
        : []),
      ...(webhooks.length > 0 ? [['Signed', isSigned] as const] : []),
      ...(targets.length > 0
        ? [['Links to the desk', deskOrigin ?? 'Paths only. Set DESK_ORIGIN for full links'] as const]
        : []),
    ],
  };
}
