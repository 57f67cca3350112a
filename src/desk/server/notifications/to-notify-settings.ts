import type { Config } from '../../../server/config.ts';
import { toHttpUrl } from '../../../server/connection/listen.ts';
import { ConfigError } from '../../../server/settings.ts';
import type { NotifySettings } from './settings.ts';

/**
 * Returns the notification settings; undefined if there are no recipients.
 *
 * @throws ConfigError if mail is only partly configured
 */
export function toNotifySettings(config: Config): NotifySettings | undefined {
  const mail = toMailSettings(config);
  const { webhookUrls: webhooks } = config;
  if (webhooks.length === 0 && !mail) return undefined;
  return {
    webhooks,
    webhookSecret: config.webhookSecret,
    mail,
    after: config.notifyAfter,
    deskOrigin: toDeskOrigin(config),
  };
}

function toMailSettings({ smtpUrl, mailFrom, mailTo }: Config): NotifySettings['mail'] {
  if (smtpUrl !== undefined && mailFrom !== undefined) {
    return mailTo.length > 0 ? { smtpUrl, from: mailFrom, to: mailTo } : undefined;
  }
  if (smtpUrl === undefined && mailFrom === undefined && mailTo.length === 0) return undefined;
  throw new ConfigError([
    'SMTP_URL and MAIL_FROM are not both set. Set both to send mail, and MAIL_TO for notifications by email, or none of the three.',
  ]);
}

/** Undefined if the origin is unknown: the system chooses the port, or the host is a wildcard address. */
export function toDeskOrigin({ deskOrigin, publicOrigins, host, port, deskPort }: Config): string | undefined {
  if (deskOrigin !== undefined) return deskOrigin;
  if (deskPort === undefined && publicOrigins[0] !== undefined) return publicOrigins[0];
  const at = deskPort ?? port;
  return at === 0 || /^(?:0\.0\.0\.0|::)$/.test(host) ? undefined : toHttpUrl(host, at);
}
