import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { ASSET_PREFIX } from '../shared/engine/wire/protocol.ts';
import { Day, MiB, Second } from '../shared/units.ts';
import { ONLY_OPERATOR, ONLY_VIEWER, parseTokens, TOKEN_SENTENCE } from './desk/access/operator-tokens.ts';
import { ISSUE_FIELDS, parseIssueLink, parseSourceLink, parseTraceLink } from './desk/links.ts';
import {
  listInEnvironment,
  parseHttpUrls,
  parseMailAddress,
  parseMailAddresses,
  parsePeople,
  parsePrivateTargets,
  parseSmtpUrl,
  parseThresholds,
  parseTimeOfDay,
} from './desk/notifications/settings.ts';
import {
  parseScrubKeys,
  parseScrubPatterns,
  SCRUB_KEYS_SENTENCE,
  SCRUB_PATTERNS_SENTENCE,
} from './engine/errors/scrub/scrub-settings.ts';
import { toCheckedHost } from './engine/protection/host.ts';
import { isTakenPath } from './engine/request/api-path.ts';
import {
  type Environment,
  OFF,
  parsed,
  port,
  readSettings,
  type SettingsTable,
  seconds,
  toggle,
  whole,
} from './engine/settings.ts';
import { KEEP_ALIVE_TIMEOUT, REQUEST_TIMEOUT, SOCKET_TIMEOUT } from './limits.ts';
import { parseDsn } from './sentry/dsn.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const WEBHOOK_FORMATS = ['json', 'slack'] as const;
/** Headers that the server itself reads, so it cannot remove them from requests. */
const OTHER_HEADERS =
  /^(?:accept|authorization$|connection$|content-|cookie$|host$|if-|origin$|sec-|transfer-encoding$|upgrade$|x-auth-proxy-secret$|x-forwarded-(?:for|host|proto)$|x-request-id$)/i;
const NETWORK_NAMES = new Set(['loopback', 'linklocal', 'uniquelocal']);

/** The settings of Spillway. The settings of your app are in `product/settings.ts`. */
export const SETTINGS = {
  PORT: {
    about: 'The port to listen on. 0 takes any free port.',
    example: '3000',
    schema: port().prefault('3000'),
  },
  HOST: {
    about:
      'The address to listen on. 127.0.0.1 accepts only connections from this machine, 0.0.0.0 from every network.',
    example: '127.0.0.1',
    schema: parsed('is not an address or a host name. Use 127.0.0.1, 0.0.0.0, :: or a name without a port.', (text) => {
      return isIP(text) > 0 || /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text) ? text : undefined;
    }).prefault('127.0.0.1'),
  },
  DATA_DIR: {
    about: 'The folder for stored data. Each replica needs a separate one.',
    example: './data',
    schema: parsed('contains a character that paths cannot contain.', (text) => {
      return text.includes('\0') ? undefined : text;
    }).prefault('./data'),
  },
  PUBLIC_ORIGINS: {
    about:
      'The origins that visitors use, separated by commas. The first is the main one. Requests for other hosts get 421. Default: requests for any host are accepted.',
    example: 'https://example.com,https://www.example.com',
    schema: parsed(
      'contains something that is not an origin. Use http(s) origins without a path, separated by commas, such as https://example.com.',
      parseOrigins,
    ).prefault(''),
  },
  TRUST_PROXY: {
    about:
      'The proxies whose X-Forwarded headers are trusted: the number of proxies in front of the server, or their addresses and networks (10.0.0.0/8,loopback). Default: none.',
    example: '1',
    schema: parsed(
      'does not say which proxies to trust. Use the number of proxies in front of the server (1), or their addresses or networks separated by commas (10.0.0.0/8,loopback). If every address were trusted, any visitor could forge theirs.',
      parseTrust,
    ).prefault('0'),
  },
  KEEP_ALIVE: {
    about:
      "Seconds until an idle connection is closed. Set it higher than the proxy's own limit: the proxy must close idle connections first. Default: 72, for proxies that wait 60 s. Google Cloud's load balancers wait 600 s.",
    example: '620',
    schema: seconds({ from: 1, to: 7200, such: '72 or 620' }).optional(),
  },
  REQUEST_TIMEOUT: {
    about: 'Seconds within which a request and its body must arrive. Set it to the duration of the longest upload.',
    example: '300',
    schema: seconds({ from: 1, to: 86_400, such: '30 or 300' }).optional(),
  },
  SOCKET_TIMEOUT: {
    about:
      'Seconds without traffic after which a connection with an open request is closed. Set it longer than a long poll waits.',
    example: '180',
    schema: seconds({ from: 1, to: 86_400, such: '60 or 180' }).optional(),
  },
  TRACE_TARGETS: {
    about:
      'The origins to which context.fetch sends trace headers (traceparent, sentry-trace, baggage), separated by commas. Default: none.',
    example: 'https://api.example.com',
    schema: parsed(
      'contains something that is not an origin. Use http(s) origins without a path, separated by commas, such as https://api.example.com.',
      parseOrigins,
    ).prefault(''),
  },
  LOG_LEVEL: {
    about: `The lowest level that is logged: ${LOG_LEVELS.join(', ')}.`,
    example: 'info',
    schema: parsed(`is not a log level. Use one of ${LOG_LEVELS.join(', ')}.`, (text) => {
      return LOG_LEVELS.find((level) => level === text.toLowerCase());
    }).prefault('info'),
  },
  COMPRESSION: {
    about: 'Compresses pages. Turn it off if the proxy compresses them.',
    example: 'on',
    schema: toggle().prefault('on'),
  },
  RELEASE: {
    about: 'The name of this release in logs and reports. Default: the commit that was built.',
    example: 'v1.4.0',
    schema: parsed('is not a release name. Use up to 100 letters, digits and . _ / @ + -.', (text) => {
      return text === '' || /^[\w./@+-]{1,100}$/.test(text) ? text : undefined;
    }).prefault(''),
  },
  DIGEST_NAMESPACE: {
    about:
      'Text that is part of every digest. Use the same on all replicas and releases. Set it to a secret so that strangers cannot compute digests from your source.',
    example: 'spillway',
    schema: parsed('is too long or contains a line break. Use up to 200 characters.', (text) => {
      return /^.{1,200}$/u.test(text) ? text : undefined;
    }).prefault('spillway'),
  },
  DESK_DATABASE_URL: {
    about:
      'A PostgreSQL database for the desk, which several replicas need. Default: a SQLite file in DATA_DIR, for one instance.',
    example: 'postgres://spillway@db.internal:5432/spillway',
    schema: parsed(
      'is not the URL of a PostgreSQL database. Use postgres://user:password@host:5432/database.',
      parseDatabase,
    ).prefault(''),
  },
  DESK_RETENTION_DAYS: {
    about:
      'Days that the desk keeps occurrences and feedback. Incidents and their counts stay. A short time protects privacy, a long time lets you compare releases.',
    example: '90',
    schema: whole({ what: 'days', from: 1, to: 3650 }).prefault('90'),
  },
  DESK_MAX_SIZE: {
    about:
      'Megabytes that the desk can store. The files of builds need up to 200 more. When the desk is full, it deletes the oldest full occurrences first and logs it.',
    example: '500',
    schema: whole({ what: 'megabytes', from: 10, to: 1_000_000 }).prefault('500'),
  },
  OPERATOR_TOKEN: {
    about:
      'The token that operators sign in to the desk with. For several operators, use name:token, separated by commas: each change then shows its author. Default: a token is created at the first start and stored in DATA_DIR/desk-token. Required with DESK_DATABASE_URL.',
    example: 'ada:6f1d0c5e9b7a4823,grace:b80e57d2a6c94f31',
    schema: parsed(TOKEN_SENTENCE, (text) => parseTokens(text, ONLY_OPERATOR)).prefault(''),
  },
  VIEWER_TOKEN: {
    about: 'The same for viewers, who can read the desk but change nothing. Default: no viewers.',
    example: '3ac97e4410d8b26f',
    schema: parsed(TOKEN_SENTENCE, (text) => parseTokens(text, ONLY_VIEWER)).prefault(''),
  },
  AUTH_PROXY_HEADER: {
    about:
      'The header in which an authenticating proxy names the person that it signed in. Replaces tokens for people. Requires AUTH_PROXY_SECRET, and the addresses of the proxy in TRUST_PROXY. Default: no header is trusted.',
    example: 'X-Forwarded-User',
    schema: parsed(
      'is not the name of a header that can contain a user. Use letters, digits and -, such as X-Forwarded-User.',
      (text) => {
        return /^[a-z0-9-]{0,64}$/i.test(text) && !OTHER_HEADERS.test(text) ? text.toLowerCase() : undefined;
      },
    ).prefault(''),
  },
  AUTH_PROXY_SECRET: {
    about:
      'A secret that the authenticating proxy sends in the header X-Auth-Proxy-Secret. It proves that the proxy set AUTH_PROXY_HEADER. Required with AUTH_PROXY_HEADER.',
    example: '4f1d8e0b6c2a97533be1c05d',
    schema: parsed('is not a secret that fits in a header. Use 16 to 200 ASCII characters without spaces.', (text) => {
      return text === '' || /^[\x21-\x7e]{16,200}$/.test(text) ? text : undefined;
    }).prefault(''),
  },
  AUTH_PROXY_OPERATORS: {
    about:
      'The people who can make changes on the desk, by the name that the proxy sends, separated by commas. * is everyone. All others are viewers.',
    example: 'ada@example.com,grace@example.com',
    schema: parsed('contains a name of more than 80 characters.', (text) => {
      const names = text.split(',').map((name) => name.trim());
      return names.every((name) => name.length <= 80) ? names.filter((name) => name !== '') : undefined;
    }).prefault(''),
  },
  DESK_PORT: {
    about:
      'A separate port for the desk and /metrics, which PORT then no longer serves. Requests for any host are accepted there, and metrics need no token, so make it reachable only from an internal network. 0 takes any free port. Default: the desk is on PORT.',
    example: '3001',
    schema: port().optional(),
  },
  DESK_ONLY: {
    about:
      'Serves only the desk and health checks, on DESK_PORT or PORT, and does not load your code. Use it when your app cannot start.',
    example: 'off',
    schema: toggle().prefault('off'),
  },
  DESK_MCP: {
    about:
      'Serves the desk to coding agents at /api/desk/mcp by the Model Context Protocol, read-only, with a token of VIEWER_TOKEN or OPERATOR_TOKEN.',
    example: 'off',
    schema: toggle().prefault('off'),
  },
  DESK_ORIGIN: {
    about:
      'The origin of links to the desk in notifications. Default: the first of PUBLIC_ORIGINS or, with DESK_PORT, the address of that port.',
    example: 'https://desk.example.com',
    schema: parsed(
      'is not an origin. Use one http(s) origin without a path, such as https://desk.example.com.',
      (text) => {
        const origins = parseOrigins(text);
        return origins && origins.length <= 1 ? (origins[0] ?? '') : undefined;
      },
    ).prefault(''),
  },
  WEBHOOK_URL: {
    about:
      'The URLs that notifications of new incidents, regressions and storms are posted to, separated by commas. staging:https://… is only used in that environment (SENTRY_ENVIRONMENT). Default: none.',
    example: 'https://hooks.example.com/spillway',
    schema: parsed(
      'contains something that is not a URL to post to. Use http(s) URLs without user and password, separated by commas.',
      parseHttpUrls,
    ).prefault(''),
  },
  WEBHOOK_FORMAT: {
    about:
      'The format of what is posted: json, or slack for Slack, Mattermost and Rocket.Chat. Default: slack for hooks.slack.com, json for all others.',
    example: 'json',
    schema: parsed('is not a format. Use json or slack.', (text) => {
      return WEBHOOK_FORMATS.find((format) => format === text.toLowerCase());
    }).optional(),
  },
  WEBHOOK_SECRET: {
    about:
      'The key that posted messages are signed with (HMAC-SHA256), so that receivers can verify them. Default: messages are not signed.',
    example: '9d3f61c07be84a25a1f0c6d2',
    schema: parsed('is not a signing key. Use 16 to 200 characters without spaces.', (text) => {
      return text === '' || /^\S{16,200}$/.test(text) ? text : undefined;
    }).prefault(''),
  },
  SMTP_URL: {
    about:
      'The mail server for notifications by email, and for mail of your app. Requires MAIL_FROM. smtps uses TLS from the start (port 465), smtp upgrades to TLS (587) and sends no password without it. Default: no emails.',
    example: 'smtps://user:password@mail.example.com',
    schema: parsed(
      'is not the URL of a mail server. Use smtps://user:password@host or smtp://host:port. Write characters such as @ in a password as %40.',
      (text) => (text === '' ? text : parseSmtpUrl(text)),
    ).prefault(''),
  },
  MAIL_FROM: {
    about: 'The sender of emails.',
    example: 'desk@example.com',
    schema: parsed('is not an email address. Use one such as desk@example.com.', (text) => {
      return text === '' ? text : parseMailAddress(text);
    }).prefault(''),
  },
  MAIL_TO: {
    about:
      'The recipients of notifications by email, separated by commas. staging:ada@example.com is only used in that environment. Default: no notifications by email.',
    example: 'ada@example.com,grace@example.com',
    schema: parsed(
      'contains something that is not an email address. Use addresses such as ada@example.com, separated by commas.',
      parseMailAddresses,
    ).prefault(''),
  },
  MAIL_PEOPLE: {
    about:
      'The email addresses of operators, as name:address separated by commas. An incident that is assigned to one of them is announced only to them. Default: to WEBHOOK_URL and MAIL_TO.',
    example: 'ada:ada@example.com,grace:grace@example.com',
    schema: parsed(
      'contains something that is not name:address. Use pairs such as ada:ada@example.com, separated by commas.',
      parsePeople,
    ).prefault(''),
  },
  MAIL_SUMMARY: {
    about: 'The time of day, in UTC, at which MAIL_TO gets a summary of the last 24 hours. Default: no summary.',
    example: '07:30',
    schema: parsed('is not a time of day. Use hours and minutes, such as 07:30.', parseTimeOfDay).optional(),
  },
  NOTIFY_AFTER: {
    about:
      'When a notification of an incident is sent: after a number of occurrences (3), of occurrences within minutes (10 in 5m) or of visitors (20 visitors). Of several, separated by commas, the first that is reached counts.',
    example: '10 in 5m,20 visitors',
    schema: parsed(
      'is not a threshold. Use a whole number from 1 to 1000000, such as 3 or 20 visitors, or up to 1000 occurrences in up to 60 minutes, such as 10 in 5m. Separate several with commas.',
      parseThresholds,
    ).prefault('1'),
  },
  NOTIFY_PRIVATE_TARGETS: {
    about:
      'Host names, addresses and networks in a private network that WEBHOOK_URL, SMTP_URL and HEARTBEAT_URL can lead to, separated by commas. Default: none. Only public addresses are allowed.',
    example: 'mail.internal,10.0.0.0/24',
    schema: parsed(
      'contains something that is not a host. Use host names without a port, addresses and networks, separated by commas, such as mail.internal,10.0.0.0/24.',
      parsePrivateTargets,
    ).prefault(''),
  },
  HEARTBEAT_URL: {
    about:
      'A URL that is requested every minute while the server and its store work. An uptime monitor can then raise an alarm when requests stop. Default: none.',
    example: 'https://hc.example.com/ping/1f9c',
    schema: parsed('is not an http(s) URL. Use one without user and password.', (text) => {
      const urls = parseHttpUrls(text);
      return urls && urls.length <= 1 ? (urls[0] ?? '') : undefined;
    }).prefault(''),
  },
  SENTRY_DSN: {
    about: 'The DSN of a Sentry project that failures are also sent to. Default: none.',
    example: 'https://publickey@o1.ingest.sentry.io/2',
    schema: parsed(
      'is not a DSN. Use https://<public key>@<host>/<project>, as your Sentry shows it.',
      parseDsn,
    ).optional(),
  },
  SENTRY_ENVIRONMENT: {
    about:
      'The name of this environment on the desk, in reports and in trace headers. Each environment has separate incidents, states and notifications, even if several share a database.',
    example: 'production',
    schema: parsed('is not an environment name. Use up to 64 letters, digits and . _ -.', (text) => {
      return /^[\w.-]{1,64}$/.test(text) ? text : undefined;
    }).prefault('production'),
  },
  SOURCE_LINK: {
    about:
      'The URL that the desk opens for a line of source, in your editor or repository. It contains {file}, and optionally {line}, {column}, {release} and {build}. Default: no links.',
    example: 'https://github.com/acme/shop/blob/{release}/{file}#L{line}',
    schema: parsed(
      'is not a URL that contains {file}. Use one such as https://github.com/acme/shop/blob/{release}/{file}#L{line} or vscode://file/home/ada/shop/{file}:{line}:{column}.',
      parseSourceLink,
    ).optional(),
  },
  ISSUE_LINK: {
    about: `The URL that "Create an issue" opens on an incident, so that your issue tracker fills its form. It contains {digest} or {url}. All placeholders: ${ISSUE_FIELDS.map((name) => `{${name}}`).join(', ')}. Default: no link.`,
    example: 'https://github.com/acme/shop/issues/new?title={title}&body={url}',
    schema: parsed(
      'is not an http(s) URL that contains {digest} or {url}, or it has an unknown placeholder. Use one such as https://github.com/acme/shop/issues/new?title={title}&body={url}.',
      parseIssueLink,
    ).optional(),
  },
  TRACE_LINK: {
    about:
      'The URL that the desk opens for the trace of a failure, in your tracing tool. It contains {traceId}. Default: no link.',
    example: 'https://jaeger.example.com/trace/{traceId}',
    schema: parsed(
      'is not an http(s) URL that contains {traceId} and no other placeholder. Use one such as https://jaeger.example.com/trace/{traceId}.',
      parseTraceLink,
    ).optional(),
  },
  TUNNEL_PATH: {
    about: 'The path that browsers send reports to. Avoid words such as error or sentry, which ad blockers match.',
    example: '/_report',
    schema: parsed(
      'is not a path for reports. Use an absolute path of letters, digits, - and _ that is not under /api, /assets, /desk or /_data, such as /_report.',
      parseTunnelPath,
    ).prefault('/_report'),
  },
  SCRUB_KEYS: {
    about:
      'More names of fields, headers and parameters whose values are never stored, separated by commas. Case, - and _ are ignored.',
    example: 'patient_id,customer number',
    schema: parsed(SCRUB_KEYS_SENTENCE, parseScrubKeys).prefault(''),
  },
  SCRUB_PATTERNS: {
    about: 'More regular expressions for text that is never stored, separated by commas.',
    example: '/KD-\\d{8}/i',
    schema: parsed(SCRUB_PATTERNS_SENTENCE, parseScrubPatterns).prefault(''),
  },
  OVERLOAD_DELAY: {
    about:
      'Seconds that pages can wait to be rendered, or half the seconds that the event loop can lag, before new pages get 503 with Retry-After. Prefetches are refused earlier, forms and the API later, health checks, the desk and assets never. 0 turns it off.',
    example: '0.5',
    schema: seconds().prefault('0.5'),
  },
  MAX_PAGES: {
    about:
      'The number of pages that can be in progress at the same time, from their first guard to their shell. Further ones get 503. Default: one for each 4 MB of the heap limit, from 32 to 1000.',
    example: '200',
    schema: whole({ what: 'pages', from: 1, to: 100_000 }).optional(),
  },
  MAX_CONNECTIONS_PER_ADDRESS: {
    about:
      'Connections that one address, or one /64 of IPv6, can hold. Beyond that its idle connections are closed, then new ones are refused. Does not apply to proxies in TRUST_PROXY. Default: a quarter of all connections that the server can hold, 2048 of 8192.',
    example: '512',
    schema: whole({ what: 'connections', from: 1, to: 100_000 }).optional(),
  },
  DRAIN_LAG: {
    about:
      'Seconds to continue serving after SIGTERM, while /readyz already answers 503. Set it to at least the time that the proxy takes to notice. Default: 1, and 0 on a terminal.',
    example: '1',
    schema: seconds().optional(),
  },
  DRAIN_DEADLINE: {
    about: 'Seconds that open requests then have to finish before they are cut off.',
    example: '8',
    schema: seconds().prefault('8'),
  },
} satisfies SettingsTable;

export interface DeskRetention {
  readonly maxAge: number;
  readonly maxBytes: number;
}

/** The parsed settings. */
export type Config = Readonly<ReturnType<typeof readConfig>>;

/**
 * Reads Spillway's settings.
 *
 * @param terminal whether the process runs on a terminal, where Ctrl-C must stop it immediately
 * @throws ConfigError with a sentence for each invalid value
 */
export function readConfig(env: Environment, { terminal = false } = {}) {
  const values = readSettings(SETTINGS, env);
  return {
    port: values.PORT,
    host: values.HOST,
    /** Only this machine can reach the server, unless a proxy is in front of it. */
    isLoopback: values.HOST === 'localhost' || (isIP(values.HOST) > 0 && /^(?:127\.|::1$)/.test(values.HOST)),
    // Absolute, because Node hangs when it creates a relative folder and the working folder is gone.
    dataDir: resolve(values.DATA_DIR),
    publicOrigins: values.PUBLIC_ORIGINS,
    /** The number of proxies, or their addresses and networks. */
    trustProxy: values.TRUST_PROXY,
    /** Limits for idle connections, for the arrival of a request, and for connections without traffic (ms). */
    times: {
      keepAlive: values.KEEP_ALIVE ?? KEEP_ALIVE_TIMEOUT,
      request: values.REQUEST_TIMEOUT ?? REQUEST_TIMEOUT,
      socket: values.SOCKET_TIMEOUT ?? SOCKET_TIMEOUT,
    },
    /** Origins that get trace headers. */
    traceTargets: values.TRACE_TARGETS,
    logLevel: values.LOG_LEVEL,
    compression: values.COMPRESSION,
    /** Undefined: use the build id. */
    release: values.RELEASE || undefined,
    digestNamespace: values.DIGEST_NAMESPACE,
    /** In ms and bytes. */
    deskRetention: { maxAge: values.DESK_RETENTION_DAYS * Day, maxBytes: values.DESK_MAX_SIZE * MiB },
    /** Undefined: SQLite in `dataDir`. */
    deskDatabaseUrl: values.DESK_DATABASE_URL || undefined,
    /** Empty: the token in `dataDir` is used. */
    operatorTokens: values.OPERATOR_TOKEN,
    viewerTokens: values.VIEWER_TOKEN,
    /** In lower case. */
    authProxyHeader: values.AUTH_PROXY_HEADER || undefined,
    authProxySecret: values.AUTH_PROXY_SECRET || undefined,
    authProxyOperators: values.AUTH_PROXY_OPERATORS,
    /** Undefined: the desk is on `port`. */
    deskPort: values.DESK_PORT,
    deskOnly: values.DESK_ONLY,
    deskMcp: values.DESK_MCP,
    /** Undefined: it follows from other settings. */
    deskOrigin: values.DESK_ORIGIN || undefined,
    webhookUrls: listInEnvironment(values.WEBHOOK_URL, values.SENTRY_ENVIRONMENT),
    /** Undefined: it depends on the host. */
    webhookFormat: values.WEBHOOK_FORMAT,
    webhookSecret: values.WEBHOOK_SECRET || undefined,
    smtpUrl: values.SMTP_URL || undefined,
    mailFrom: values.MAIL_FROM || undefined,
    mailTo: listInEnvironment(values.MAIL_TO, values.SENTRY_ENVIRONMENT),
    /** Addresses by name. */
    mailPeople: values.MAIL_PEOPLE,
    /** Milliseconds since midnight, UTC. */
    mailSummary: values.MAIL_SUMMARY,
    notifyAfter: values.NOTIFY_AFTER,
    /** Names, addresses and networks. */
    notifyPrivateTargets: values.NOTIFY_PRIVATE_TARGETS,
    heartbeatUrl: listInEnvironment([values.HEARTBEAT_URL], values.SENTRY_ENVIRONMENT)[0] || undefined,
    sentryDsn: values.SENTRY_DSN,
    sentryEnvironment: values.SENTRY_ENVIRONMENT,
    /** URLs with placeholders such as `{file}`. */
    links: { source: values.SOURCE_LINK, issue: values.ISSUE_LINK, trace: values.TRACE_LINK },
    tunnelPath: values.TUNNEL_PATH,
    scrubKeys: values.SCRUB_KEYS,
    scrubPatterns: values.SCRUB_PATTERNS,
    /** Milliseconds. 0 turns load shedding off. */
    overloadDelay: values.OVERLOAD_DELAY,
    /** Undefined: it follows from the heap limit. */
    maxPages: values.MAX_PAGES,
    /** Undefined: a share of all connections. */
    maxConnectionsPerAddress: values.MAX_CONNECTIONS_PER_ADDRESS,
    /** Milliseconds. */
    drainLag: values.DRAIN_LAG ?? (terminal ? 0 : 1 * Second),
    /** Milliseconds. */
    drainDeadline: values.DRAIN_DEADLINE,
  };
}

function parseOrigins(text: string): readonly string[] | undefined {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const origins = parts.map((part) => {
    const url = URL.canParse(part) ? new URL(part) : undefined;
    if (!url || url.href !== `${url.origin}/` || /[?#]/.test(part)) return undefined;
    const scheme = url.protocol === 'https:' ? 'https' : url.protocol === 'http:' ? 'http' : undefined;
    return scheme && toCheckedHost(url.host, scheme) ? url.origin : undefined;
  });
  return origins.every((origin) => origin !== undefined) ? [...new Set(origins)] : undefined;
}

function parseDatabase(text: string): string | undefined {
  if (text === '') return text;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && /^postgres(?:ql)?:$/.test(url.protocol) && url.hostname !== '' ? text : undefined;
}

function parseTunnelPath(text: string): string | undefined {
  const isTaken = isTakenPath(text) || `${text}/`.startsWith(ASSET_PREFIX);
  return /^(?:\/[\w-]{1,60}){1,4}$/.test(text) && !isTaken ? text : undefined;
}

function parseTrust(text: string): number | readonly string[] | undefined {
  if (/^\d{1,2}$/.test(text)) return Number(text);
  if (OFF.has(text.toLowerCase())) return 0;
  const parts = text.split(',').map((part) => part.trim().toLowerCase());
  return parts.every(isNetwork) ? parts : undefined;
}

function isNetwork(text: string): boolean {
  if (NETWORK_NAMES.has(text)) return true;
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  // A prefix of length 0 matches every address.
  return prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}
