import type { Config } from '../../config.ts';
import { toHttpUrl } from '../../engine/connection/listen.ts';
import { ConfigError } from '../../engine/settings.ts';
import type { NotifySettings } from './settings.ts';

/**
 * What of the settings is about telling. Undefined where nobody is told anything.
 *
 * @throws ConfigError where a part of what mail needs is missing
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

function toMailSettings({ smtpUrl, mailFrom, mailTo }: Config): NotifySettings['mail'] {
  if (smtpUrl === undefined && mailFrom === undefined && mailTo.length === 0) return undefined;
  if (smtpUrl !== undefined && mailFrom !== undefined && mailTo.length > 0) {
    return { smtpUrl, from: mailFrom, to: mailTo };
  }
  throw new ConfigError([
    'Of the settings SMTP_URL, MAIL_FROM and MAIL_TO some are set and some are not. Mail needs all three: set them, or none.',
  ]);
}

/** Undefined where only a path can be told: a port that the system chooses, an address that means all. */
function toDeskOrigin({ deskOrigin, publicOrigins, host, port, deskPort }: Config): string | undefined {
  if (deskOrigin !== undefined) return deskOrigin;
  if (deskPort === undefined && publicOrigins[0] !== undefined) return publicOrigins[0];
  const at = deskPort ?? port;
  return at === 0 || /^(?:0\.0\.0\.0|::)$/.test(host) ? undefined : toHttpUrl(host, at);
}
