import type { NotificationTarget } from '../store/notifications/notification-rules.ts';
import { type MailSettings, type NotifySettings, toTargetId, type WebhookFormat } from './settings.ts';

/** Lists the targets without what sends to them, for display and for the store's queue. */
export function listTargets({
  webhooks,
  webhookFormat,
  mail,
}: Pick<NotifySettings, 'webhooks' | 'webhookFormat'> & {
  readonly mail: Pick<MailSettings, 'to' | 'people'> | undefined;
}): readonly NotificationTarget[] {
  const targets = [
    ...webhooks.map((url) => nameWebhook(url, webhookFormat)),
    ...(mail?.to.length ? [nameMail(mail)] : []),
  ];
  const people = Object.entries(mail?.people ?? {});
  const numbered = targets.map(({ id, name }, index) => {
    const before = targets.slice(0, index).filter((other) => other.name === name).length;
    return { id, name: before === 0 ? name : `${name} (${before + 1})` };
  });
  return [
    ...numbered,
    ...people.map(([person, address]) => ({ id: toTargetId('person', address), name: `Mail to ${person}`, person })),
  ];
}

/** Names a webhook without its path, which is a secret for most receivers. */
function nameWebhook(url: string, format: WebhookFormat | undefined): NotificationTarget {
  const kind = toFormat(url, format) === 'slack' ? 'Slack webhook' : 'Webhook';
  return { id: toTargetId('webhook', url), name: `${kind} ${new URL(url).host}` };
}

function nameMail({ to }: Pick<MailSettings, 'to'>): NotificationTarget {
  return { id: toTargetId('mail', to.join(',')), name: `Mail to ${to.join(', ')}` };
}

/** Returns the format of a webhook. Slack's own hosts get Slack's format by default. */
export function toFormat(url: string, asked: WebhookFormat | undefined): WebhookFormat {
  return asked ?? (/^hooks\.slack(?:-gov)?\.com$/.test(new URL(url).hostname) ? 'slack' : 'json');
}
