import type { Config } from '../../config.ts';
import { toHttpUrl } from '../../engine/connection/listen.ts';
import { ConfigError } from '../../engine/settings.ts';
import type { NotifySettings } from './settings.ts';

/**
 * Returns the notification settings; undefined if there are no recipients and no heartbeat.
 *
 * @throws ConfigError if mail is only partly configured
 */
export function toNotifySettings(config: Config): NotifySettings | undefined {
  const mail = toMailSettings(config);
  const { webhookUrls: webhooks, heartbeatUrl } = config;
  if (webhooks.length === 0 && !mail && heartbeatUrl === undefined) return undefined;
  return {
    webhooks,
    webhookFormat: config.webhookFormat,
    webhookSecret: config.webhookSecret,
    mail,
    after: config.notifyAfter,
    privateTargets: config.notifyPrivateTargets,
    heartbeatUrl,
    deskOrigin: toDeskOrigin(config),
    environment: config.sentryEnvironment,
  };
}

function toMailSettings({
  smtpUrl,
  mailFrom,
  mailTo,
  mailPeople: people,
  mailSummary: summaryAt,
}: Config): NotifySettings['mail'] {
  const hasRecipients = mailTo.length > 0 || Object.keys(people).length > 0;
  if (smtpUrl !== undefined && mailFrom !== undefined) {
    return hasRecipients ? { smtpUrl, from: mailFrom, to: mailTo, people, summaryAt } : undefined;
  }
  if (smtpUrl === undefined && mailFrom === undefined && !hasRecipients) return undefined;
  throw new ConfigError([
    'SMTP_URL and MAIL_FROM are not both set. Set both to send mail, and MAIL_TO or MAIL_PEOPLE for notifications by email, or none of the four.',
  ]);
}

/** Undefined if the origin is unknown: the system chooses the port, or the host is a wildcard address. */
export function toDeskOrigin({ deskOrigin, publicOrigins, host, port, deskPort }: Config): string | undefined {
  if (deskOrigin !== undefined) return deskOrigin;
  if (deskPort === undefined && publicOrigins[0] !== undefined) return publicOrigins[0];
  const at = deskPort ?? port;
  return at === 0 || /^(?:0\.0\.0\.0|::)$/.test(host) ? undefined : toHttpUrl(host, at);
}
