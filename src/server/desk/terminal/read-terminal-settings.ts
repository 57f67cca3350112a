import { resolve } from 'node:path';
import { Day } from '../../../shared/units.ts';
import { SETTINGS } from '../../config.ts';
import { ConfigError, type Environment, readSettings } from '../../engine/settings.ts';
import { listTargets } from '../notifications/list-targets.ts';
import type { NotificationRules } from '../store/notifications/notification-rules.ts';

/** What of the server's settings the command needs. The others may be wrong: that may be why it is needed. */
export interface TerminalSettings {
  /** Absolute. */
  readonly dataDir: string;
  /** Undefined for SQLite in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly namespace: string;
  /** The environment whose incidents are listed and changed, unless `--environment` names another one. */
  readonly environment: string;
  /** How long occurrences are kept (ms). */
  readonly maxAge: number;
  readonly sourceLink: string | undefined;
  /** Who is told of what the command takes in. It is sent by the next server that runs. */
  readonly news: NotificationRules;
}

/** @throws ConfigError with a sentence for each wrong value */
export function readTerminalSettings(env: Environment): TerminalSettings {
  const { DATA_DIR, DESK_DATABASE_URL, DESK_RETENTION_DAYS, DIGEST_NAMESPACE, SENTRY_ENVIRONMENT, SOURCE_LINK } =
    SETTINGS;
  const table = { DATA_DIR, DESK_DATABASE_URL, DESK_RETENTION_DAYS, DIGEST_NAMESPACE, SENTRY_ENVIRONMENT, SOURCE_LINK };
  const values = readSettings(table, env);
  return {
    dataDir: resolve(values.DATA_DIR),
    databaseUrl: values.DESK_DATABASE_URL || undefined,
    namespace: values.DIGEST_NAMESPACE,
    environment: values.SENTRY_ENVIRONMENT,
    maxAge: values.DESK_RETENTION_DAYS * Day,
    sourceLink: values.SOURCE_LINK,
    news: readNews(env),
  };
}

/** Where nothing is said of it, or something wrong, it is left to the server: the command may run in another environment. */
function readNews(env: Environment): NotificationRules {
  const { WEBHOOK_URL, WEBHOOK_FORMAT, SMTP_URL, MAIL_FROM, MAIL_TO, NOTIFY_AFTER } = SETTINGS;
  try {
    const values = readSettings({ WEBHOOK_URL, WEBHOOK_FORMAT, SMTP_URL, MAIL_FROM, MAIL_TO, NOTIFY_AFTER }, env);
    const { WEBHOOK_URL: webhooks, WEBHOOK_FORMAT: webhookFormat, MAIL_TO: to } = values;
    const mail = to.length === 0 ? undefined : { smtpUrl: values.SMTP_URL ?? '', from: values.MAIL_FROM ?? '', to };
    const targets = listTargets({ webhooks, webhookFormat, mail });
    return { after: values.NOTIFY_AFTER, targets, isLeft: targets.length === 0 };
  } catch (error) {
    if (error instanceof ConfigError) return { after: 1, targets: [], isLeft: true };
    throw error;
  }
}
