import { ConfigError } from '#engine/server';
import { type Config, type Environment, readSettings, type SettingsValues, toHttpUrl } from '#engine/tracker';
import { Day, MiB } from '../../shared/units.ts';
import { listProxyProblems, type ProxySignIn } from './access/proxy-operator.ts';
import type { DeskLinks } from './links.ts';
import type { NotifySettings } from './notifications/settings.ts';
import { DESK_SETTINGS } from './settings.ts';

/** What the desk stores at most, in ms and bytes. */
export interface DeskRetention {
  readonly maxAge: number;
  readonly maxBytes: number;
}

export interface DeskSettings {
  /** The URL of a PostgreSQL database. Undefined: SQLite in DATA_DIR. */
  readonly databaseUrl: string | undefined;
  readonly retention: DeskRetention;
  /** Undefined if no proxy signs people in. */
  readonly proxy: ProxySignIn | undefined;
  /** Undefined if there are no recipients. */
  readonly notify: NotifySettings | undefined;
  readonly links: DeskLinks;
}

type Values = SettingsValues<typeof DESK_SETTINGS>;

/** @throws ConfigError with a sentence for each value that is wrong, by itself or beside others */
export function readDeskSettings(env: Environment, config: Config): DeskSettings {
  const values = readSettings(DESK_SETTINGS, env);
  const databaseUrl = values.DESK_DATABASE_URL || undefined;
  const proxy = {
    header: values.AUTH_PROXY_HEADER,
    secret: values.AUTH_PROXY_SECRET,
    operators: values.AUTH_PROXY_OPERATORS,
  };
  const sentences = [
    ...(databaseUrl !== undefined && config.operatorTokens.length === 0 ? [NO_COMMON_TOKEN] : []),
    ...listProxyProblems(proxy, config.trustProxy),
    ...listMailProblems(values, config),
  ];
  if (sentences.length > 0) throw new ConfigError(sentences);
  const origin = toDeskOrigin(values, config);
  return {
    databaseUrl,
    retention: { maxAge: values.DESK_RETENTION_DAYS * Day, maxBytes: values.DESK_MAX_SIZE * MiB },
    proxy: proxy.header === '' ? undefined : proxy,
    notify: toNotifySettings(values, config, origin),
    links: { source: values.SOURCE_LINK, issue: values.ISSUE_LINK, trace: values.TRACE_LINK, origin },
  };
}

const NO_COMMON_TOKEN =
  'The setting OPERATOR_TOKEN is missing. With DESK_DATABASE_URL, replicas share the desk and need the same token. Set it to the same value on all of them, for example the output of "openssl rand -hex 32".';

function listMailProblems({ MAIL_TO }: Values, { smtpUrl, mailFrom }: Config): string[] {
  const isComplete = smtpUrl !== undefined && mailFrom !== undefined;
  const isAbsent = smtpUrl === undefined && mailFrom === undefined && MAIL_TO.length === 0;
  if (isComplete || isAbsent) return [];
  return [
    'SMTP_URL and MAIL_FROM are not both set. Set both to send mail, and MAIL_TO for notifications by email, or none of the three.',
  ];
}

function toNotifySettings(
  { WEBHOOK_URL: webhooks, WEBHOOK_SECRET, MAIL_TO: to, NOTIFY_AFTER: after }: Values,
  { smtpUrl, mailFrom: from }: Config,
  deskOrigin: string | undefined,
): NotifySettings | undefined {
  const mail = smtpUrl !== undefined && from !== undefined && to.length > 0 ? { smtpUrl, from, to } : undefined;
  if (webhooks.length === 0 && !mail) return undefined;
  return { webhooks, webhookSecret: WEBHOOK_SECRET || undefined, mail, after, deskOrigin };
}

/** Undefined if the origin is unknown: the system chooses the port, or the host is a wildcard address. */
function toDeskOrigin({ DESK_ORIGIN }: Values, { publicOrigins, host, port, deskPort }: Config): string | undefined {
  if (DESK_ORIGIN) return DESK_ORIGIN;
  if (deskPort === undefined && publicOrigins[0] !== undefined) return publicOrigins[0];
  const at = deskPort ?? port;
  return at === 0 || /^(?:0\.0\.0\.0|::)$/.test(host) ? undefined : toHttpUrl(host, at);
}
