import { resolve } from 'node:path';
import { Day } from '../../../shared/units.ts';
import { SETTINGS } from '../../config.ts';
import { ConfigError, type Environment, readSettings } from '../../engine/settings.ts';
import type { DeskLinks } from '../links.ts';
import { listTargets } from '../notifications/list-targets.ts';
import { listInEnvironment } from '../notifications/settings.ts';
import type { NotificationRules } from '../store/notifications/notification-rules.ts';

/** The server's settings that the command needs. The others can be invalid, which may be why the command is needed. */
export interface TerminalSettings {
  /** An absolute path. */
  readonly dataDir: string;
  /** Undefined for SQLite in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly namespace: string;
  /** The environment whose incidents are listed and changed, unless `--environment` names another one. */
  readonly environment: string;
  /** How long occurrences are kept (ms). */
  readonly maxAge: number;
  readonly links: DeskLinks;
  /** The notifications that storing a journal causes. The next server that runs sends them. */
  readonly news: NotificationRules;
}

/** @throws ConfigError with a sentence for each invalid value */
export function readTerminalSettings(env: Environment): TerminalSettings {
  const { DATA_DIR, DESK_DATABASE_URL, DESK_RETENTION_DAYS, DIGEST_NAMESPACE } = SETTINGS;
  const { SENTRY_ENVIRONMENT, SOURCE_LINK, TRACE_LINK } = SETTINGS;
  const places = { DATA_DIR, DESK_DATABASE_URL, DESK_RETENTION_DAYS, DIGEST_NAMESPACE };
  const table = { ...places, SENTRY_ENVIRONMENT, SOURCE_LINK, TRACE_LINK };
  const values = readSettings(table, env);
  return {
    dataDir: resolve(values.DATA_DIR),
    databaseUrl: values.DESK_DATABASE_URL || undefined,
    namespace: values.DIGEST_NAMESPACE,
    environment: values.SENTRY_ENVIRONMENT,
    maxAge: values.DESK_RETENTION_DAYS * Day,
    links: { source: values.SOURCE_LINK, trace: values.TRACE_LINK },
    news: readNews(env),
  };
}

/**
 * Leaves notifications to the server if none or invalid ones are set here: the command can have other environment
 * variables.
 */
function readNews(env: Environment): NotificationRules {
  const { WEBHOOK_URL, WEBHOOK_FORMAT, MAIL_TO, NOTIFY_AFTER, SENTRY_ENVIRONMENT } = SETTINGS;
  try {
    const values = readSettings({ WEBHOOK_URL, WEBHOOK_FORMAT, MAIL_TO, NOTIFY_AFTER, SENTRY_ENVIRONMENT }, env);
    const { WEBHOOK_FORMAT: webhookFormat, SENTRY_ENVIRONMENT: environment } = values;
    const webhooks = listInEnvironment(values.WEBHOOK_URL, environment);
    const mail = { to: listInEnvironment(values.MAIL_TO, environment), people: {} };
    const targets = listTargets({ webhooks, webhookFormat, mail });
    return { after: values.NOTIFY_AFTER, targets, isLeft: targets.length === 0 };
  } catch (error) {
    if (error instanceof ConfigError) return { after: [], targets: [], isLeft: true };
    throw error;
  }
}
