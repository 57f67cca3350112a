import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { ASSET_PREFIX } from '../shared/engine/wire/protocol.ts';
import { Day, MiB, Second } from '../shared/units.ts';
import { ONLY_OPERATOR, ONLY_VIEWER, parseTokens, TOKEN_SENTENCE } from './desk/access/operator-tokens.ts';
import {
  parseHttpUrls,
  parseMailAddress,
  parseMailAddresses,
  parsePrivateTargets,
  parseSmtpUrl,
} from './desk/notifications/settings.ts';
import { parseSourceLink } from './desk/source-link.ts';
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

/**
 * Every setting of the engine. An owner's own stand in `product/settings.ts`.
 */
export const SETTINGS = {
  PORT: {
    about: 'The port to listen on; 0 takes any free one.',
    example: '3000',
    schema: port().prefault('3000'),
  },
  HOST: {
    about: 'The address to listen on. 127.0.0.1 is this machine alone; 0.0.0.0 is every network.',
    example: '127.0.0.1',
    schema: parsed('is no address or host name. Use 127.0.0.1, 0.0.0.0, :: or a name without a port.', (text) => {
      return isIP(text) > 0 || /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text) ? text : undefined;
    }).prefault('127.0.0.1'),
  },
  DATA_DIR: {
    about: 'The folder for what the server keeps. Each replica needs its own.',
    example: './data',
    schema: parsed('holds a character that no path can hold.', (text) => {
      return text.includes('\0') ? undefined : text;
    }).prefault('./data'),
  },
  PUBLIC_ORIGINS: {
    about:
      'The origins that visitors use, separated by commas; the first is the main one. A request for another host gets 421. Unset: any host is answered.',
    example: 'https://example.com,https://www.example.com',
    schema: parsed(
      'holds something that is no origin. Use http(s) origins without a path, separated by commas, such as https://example.com.',
      parseOrigins,
    ).prefault(''),
  },
  TRUST_PROXY: {
    about:
      "Whose X-Forwarded headers count: the number of proxies in front, or their addresses and networks (10.0.0.0/8,loopback). Unset: nobody's.",
    example: '1',
    schema: parsed(
      'does not say whom to trust. Use the number of proxies in front (1), or their addresses or networks separated by commas (10.0.0.0/8,loopback). Trusting everyone would let any visitor forge an address.',
      parseTrust,
    ).prefault('0'),
  },
  KEEP_ALIVE: {
    about:
      "Seconds that an idle connection is kept: longer than the proxy in front keeps it, which must be the one to close. Unset: 72, for those that keep it for 60. Google Cloud's load balancers keep it for 600.",
    example: '620',
    schema: seconds({ from: 1, to: 7200, such: '72 or 620' }).optional(),
  },
  REQUEST_TIMEOUT: {
    about: 'Seconds in which a whole request must have arrived, with its body: as long as the longest upload takes.',
    example: '300',
    schema: seconds({ from: 1, to: 86_400, such: '30 or 300' }).optional(),
  },
  SOCKET_TIMEOUT: {
    about:
      'Seconds after which a connection is closed on which a request waits and no byte moves: longer than a long poll waits.',
    example: '180',
    schema: seconds({ from: 1, to: 86_400, such: '60 or 180' }).optional(),
  },
  TRACE_TARGETS: {
    about:
      'The origins to which context.fetch sends trace headers (traceparent, sentry-trace, baggage), separated by commas. Unset: none.',
    example: 'https://api.example.com',
    schema: parsed(
      'holds something that is no origin. Use http(s) origins without a path, separated by commas, such as https://api.example.com.',
      parseOrigins,
    ).prefault(''),
  },
  LOG_LEVEL: {
    about: `How much is logged: ${LOG_LEVELS.join(', ')}.`,
    example: 'info',
    schema: parsed(`is no level. Use one of ${LOG_LEVELS.join(', ')}.`, (text) => {
      return LOG_LEVELS.find((level) => level === text.toLowerCase());
    }).prefault('info'),
  },
  COMPRESSION: {
    about: 'Compress pages. Switch it off where the proxy does it.',
    example: 'on',
    schema: toggle().prefault('on'),
  },
  RELEASE: {
    about: 'The name of this release in logs and reports. Unset: the commit that was built.',
    example: 'v1.4.0',
    schema: parsed('is no release name. Use up to 100 letters, digits and . _ / @ + -.', (text) => {
      return text === '' || /^[\w./@+-]{1,100}$/.test(text) ? text : undefined;
    }).prefault(''),
  },
  DIGEST_NAMESPACE: {
    about:
      'Mixed into every digest, the same on all replicas and releases. Set it to keep strangers from confirming a guess.',
    example: 'spillway',
    schema: parsed('is too long or holds a line break. Use up to 200 characters.', (text) => {
      return /^.{1,200}$/u.test(text) ? text : undefined;
    }).prefault('spillway'),
  },
  DESK_DATABASE_URL: {
    about:
      'A PostgreSQL database for the desk, for several replicas. Unset: a SQLite file in DATA_DIR, for one instance.',
    example: 'postgres://spillway@db.internal:5432/spillway',
    schema: parsed(
      'is no address of a PostgreSQL database. Use postgres://user:password@host:5432/database.',
      parseDatabase,
    ).prefault(''),
  },
  DESK_RETENTION_DAYS: {
    about:
      'Days that the desk keeps occurrences and feedback. Incidents and their counts stay. Shorter is better for privacy, longer for comparing releases.',
    example: '90',
    schema: whole({ what: 'days', from: 1, to: 3650 }).prefault('90'),
  },
  DESK_MAX_SIZE: {
    about:
      'Megabytes that the desk may store, without the files of builds, which get up to 200 more. When it is full, the oldest full occurrences are deleted first, and the log says so.',
    example: '500',
    schema: whole({ what: 'megabytes', from: 10, to: 1_000_000 }).prefault('500'),
  },
  OPERATOR_TOKEN: {
    about:
      'What operators sign in to the desk with: one token, or several as name:token, separated by commas, so that each change has an author. Unset: one is made at the first start and kept in DATA_DIR/desk-token. With DESK_DATABASE_URL it must be set.',
    example: 'ada:6f1d0c5e9b7a4823,grace:b80e57d2a6c94f31',
    schema: parsed(TOKEN_SENTENCE, (text) => parseTokens(text, ONLY_OPERATOR)).prefault(''),
  },
  VIEWER_TOKEN: {
    about: 'The same for those who may look at the desk and change nothing. Unset: there are none.',
    example: '3ac97e4410d8b26f',
    schema: parsed(TOKEN_SENTENCE, (text) => parseTokens(text, ONLY_VIEWER)).prefault(''),
  },
  AUTH_PROXY_HEADER: {
    about:
      'The header in which an authenticating proxy names the person that it signed in, instead of a token. Needs AUTH_PROXY_SECRET, and the addresses of the proxy in TRUST_PROXY. Unset: no header is believed.',
    example: 'X-Forwarded-User',
    schema: parsed(
      'is not the name of a header that can hold a user. Use letters, digits and -, such as X-Forwarded-User.',
      (text) => {
        return /^[a-z0-9-]{0,64}$/i.test(text) && !OTHER_HEADERS.test(text) ? text.toLowerCase() : undefined;
      },
    ).prefault(''),
  },
  AUTH_PROXY_SECRET: {
    about:
      'A secret that the authenticating proxy sends in the header X-Auth-Proxy-Secret, to prove that it set AUTH_PROXY_HEADER itself. Required with AUTH_PROXY_HEADER.',
    example: '4f1d8e0b6c2a97533be1c05d',
    schema: parsed('is not a secret that fits in a header. Use 16 to 200 ASCII characters without spaces.', (text) => {
      return text === '' || /^[\x21-\x7e]{16,200}$/.test(text) ? text : undefined;
    }).prefault(''),
  },
  AUTH_PROXY_OPERATORS: {
    about:
      'Who of those that the proxy names may change things at the desk, separated by commas; * for all. The others look.',
    example: 'ada@example.com,grace@example.com',
    schema: parsed('holds a name of more than 80 characters.', (text) => {
      const names = text.split(',').map((name) => name.trim());
      return names.every((name) => name.length <= 80) ? names.filter((name) => name !== '') : undefined;
    }).prefault(''),
  },
  DESK_PORT: {
    about:
      'A port for the desk and /metrics alone, where any host is answered and metrics need no token; on PORT both are gone then. For one that only an inner network reaches. 0 takes any free one. Unset: the desk is on PORT.',
    example: '3001',
    schema: port().optional(),
  },
  DESK_ONLY: {
    about:
      'Serve the desk and health alone, on DESK_PORT or PORT, and load nothing of the product: for when that cannot start.',
    example: 'off',
    schema: toggle().prefault('off'),
  },
  DESK_ORIGIN: {
    about:
      'Where the desk is found by those who are told of an incident: the origin that links in messages begin with. Unset: the first of PUBLIC_ORIGINS, or where DESK_PORT is set the address that it listens on.',
    example: 'https://desk.example.com',
    schema: parsed('is no origin. Use one http(s) origin without a path, such as https://desk.example.com.', (text) => {
      const origins = parseOrigins(text);
      return origins && origins.length <= 1 ? (origins[0] ?? '') : undefined;
    }).prefault(''),
  },
  WEBHOOK_URL: {
    about:
      'Where new incidents, regressions and storms are posted to: one address or several, separated by commas. Unset: nowhere.',
    example: 'https://hooks.example.com/spillway',
    schema: parsed(
      'holds something that is no address to post to. Use http(s) addresses without user and password, separated by commas.',
      parseHttpUrls,
    ).prefault(''),
  },
  WEBHOOK_FORMAT: {
    about:
      'What is posted: json, or slack for Slack, Mattermost and Rocket.Chat. Unset: slack for hooks.slack.com, json for all others.',
    example: 'json',
    schema: parsed('is no format. Use json or slack.', (text) => {
      return WEBHOOK_FORMATS.find((format) => format === text.toLowerCase());
    }).optional(),
  },
  WEBHOOK_SECRET: {
    about:
      'What posted messages are signed with (HMAC-SHA256), so that a receiver knows whom they are from. Unset: they are not signed.',
    example: '9d3f61c07be84a25a1f0c6d2',
    schema: parsed('is too short to sign with. Use 16 to 200 characters without spaces.', (text) => {
      return text === '' || /^\S{16,200}$/.test(text) ? text : undefined;
    }).prefault(''),
  },
  SMTP_URL: {
    about:
      'The mail server that takes mails of the same, with MAIL_FROM and MAIL_TO. smtps is TLS from the start (port 465), smtp asks for it (587) and sends no password without. Unset: nothing is mailed.',
    example: 'smtps://user:password@mail.example.com',
    schema: parsed(
      'is no address of a mail server. Use smtps://user:password@host or smtp://host:port; characters such as @ in a password as %40.',
      (text) => (text === '' ? text : parseSmtpUrl(text)),
    ).prefault(''),
  },
  MAIL_FROM: {
    about: 'The address that mails are from.',
    example: 'desk@example.com',
    schema: parsed('is no mail address. Use one such as desk@example.com.', (text) => {
      return text === '' ? text : parseMailAddress(text);
    }).prefault(''),
  },
  MAIL_TO: {
    about: 'Who gets mails, separated by commas.',
    example: 'ada@example.com,grace@example.com',
    schema: parsed(
      'holds something that is no mail address. Use addresses such as ada@example.com, separated by commas.',
      parseMailAddresses,
    ).prefault(''),
  },
  NOTIFY_AFTER: {
    about: 'How often an incident must have happened before somebody is told of it.',
    example: '1',
    schema: parsed('is no count. Use a whole number from 1 to 1000000.', (text) => {
      return /^[1-9]\d{0,6}$/.test(text) && Number(text) <= 1e6 ? Number(text) : undefined;
    }).prefault('1'),
  },
  NOTIFY_PRIVATE_TARGETS: {
    about:
      'Which of WEBHOOK_URL, SMTP_URL and HEARTBEAT_URL may lead to an address that is not public: host names, addresses and networks, separated by commas. Unset: none.',
    example: 'mail.internal,10.0.0.0/24',
    schema: parsed(
      'holds something that is no host. Use host names without a port, addresses and networks, separated by commas, such as mail.internal,10.0.0.0/24.',
      parsePrivateTargets,
    ).prefault(''),
  },
  HEARTBEAT_URL: {
    about:
      'An address that is called every minute while the server and the store of its desk are well, so that somebody outside notices silence. Unset: none.',
    example: 'https://hc.example.com/ping/1f9c',
    schema: parsed('is no http(s) address. Use one without user and password.', (text) => {
      const urls = parseHttpUrls(text);
      return urls && urls.length <= 1 ? (urls[0] ?? '') : undefined;
    }).prefault(''),
  },
  SENTRY_DSN: {
    about: 'Where failures are forwarded to, beside the desk: the DSN of a Sentry project. Unset: nowhere.',
    example: 'https://publickey@o1.ingest.sentry.io/2',
    schema: parsed(
      'is no DSN. Use https://<public key>@<host>/<project>, as your Sentry shows it.',
      parseDsn,
    ).optional(),
  },
  SENTRY_ENVIRONMENT: {
    about:
      'The name of this environment, for the desk, reports and trace headers. Each environment has its own incidents, states and notifications, also if several share one database.',
    example: 'production',
    schema: parsed('is no name of an environment. Use up to 64 letters, digits and . _ -.', (text) => {
      return /^[\w.-]{1,64}$/.test(text) ? text : undefined;
    }).prefault('production'),
  },
  SOURCE_LINK: {
    about:
      'How the desk opens a place in the source: the address of an editor or a repository with {file}, and {line}, {column}, {release}, {build}. Unset: it does not.',
    example: 'https://github.com/acme/shop/blob/{release}/{file}#L{line}',
    schema: parsed(
      'is no address with {file} in it. Use one such as https://github.com/acme/shop/blob/{release}/{file}#L{line} or vscode://file/home/ada/shop/{file}:{line}:{column}.',
      parseSourceLink,
    ).optional(),
  },
  TUNNEL_PATH: {
    about: 'Where browsers report to. A dull name, because blockers match the others.',
    example: '/_report',
    schema: parsed(
      'is no path for reports. Use an absolute path of letters, digits, - and _ that is not under /api, /assets, /desk or /_data, such as /_report.',
      parseTunnelPath,
    ).prefault('/_report'),
  },
  SCRUB_KEYS: {
    about:
      'Names of fields, headers and parameters whose values are never kept, beside the usual ones, separated by commas. Case, - and _ make no difference.',
    example: 'patient_id,customer number',
    schema: parsed(SCRUB_KEYS_SENTENCE, parseScrubKeys).prefault(''),
  },
  SCRUB_PATTERNS: {
    about: 'Regular expressions of what is never kept, beside the usual ones, separated by commas.',
    example: '/KD-\\d{8}/i',
    schema: parsed(SCRUB_PATTERNS_SENTENCE, parseScrubPatterns).prefault(''),
  },
  OVERLOAD_DELAY: {
    about:
      'Seconds that a page may wait for its render before new pages get 503 and Retry-After; the event loop may be late twice as long. Prefetches get it earlier, forms and the API later; health, desk and files never. 0: nothing is refused.',
    example: '0.5',
    schema: seconds().prefault('0.5'),
  },
  MAX_PAGES: {
    about:
      'Pages that may be in progress at once, from their first guard to their shell; more get 503. Unset: one for each 4 MB that the heap may have, from 32 to 1000.',
    example: '200',
    schema: whole({ what: 'pages', from: 1, to: 100_000 }).optional(),
  },
  MAX_CONNECTIONS_PER_ADDRESS: {
    about:
      'Connections that one address, or one /64 of IPv6, can hold. Beyond that its idle connections are closed, then new ones are refused. Does not apply to proxies in TRUST_PROXY. Unset: a quarter of all connections that the server can hold, 2048 of 8192.',
    example: '512',
    schema: whole({ what: 'connections', from: 1, to: 100_000 }).optional(),
  },
  DRAIN_LAG: {
    about:
      'Seconds to go on serving after a stop was asked for, while /readyz already says 503: at least as long as the proxy takes to notice. Unset: 1, and 0 on a terminal.',
    example: '1',
    schema: seconds().optional(),
  },
  DRAIN_DEADLINE: {
    about: 'Seconds that replies in flight may take after that, before they are cut.',
    example: '8',
    schema: seconds().prefault('8'),
  },
} satisfies SettingsTable;

export interface DeskRetention {
  readonly maxAge: number;
  readonly maxBytes: number;
}

/** The engine's settings, as the rest of the server uses them. */
export type Config = Readonly<ReturnType<typeof readConfig>>;

/**
 * Reads the engine's settings once.
 *
 * @param terminal somebody sits in front of it, and wants Ctrl-C to end it at once
 * @throws ConfigError with a sentence for each wrong value
 */
export function readConfig(env: Environment, { terminal = false } = {}) {
  const values = readSettings(SETTINGS, env);
  return {
    port: values.PORT,
    host: values.HOST,
    // Absolute: Node never returns from making a relative folder where the working folder is gone.
    dataDir: resolve(values.DATA_DIR),
    publicOrigins: values.PUBLIC_ORIGINS,
    /** Hops, or addresses and networks. */
    trustProxy: values.TRUST_PROXY,
    /** How long a connection may be idle, a request may take to arrive, and its connection may rest (ms). */
    times: {
      keepAlive: values.KEEP_ALIVE ?? KEEP_ALIVE_TIMEOUT,
      request: values.REQUEST_TIMEOUT ?? REQUEST_TIMEOUT,
      socket: values.SOCKET_TIMEOUT ?? SOCKET_TIMEOUT,
    },
    /** Origins that get trace headers. */
    traceTargets: values.TRACE_TARGETS,
    logLevel: values.LOG_LEVEL,
    compression: values.COMPRESSION,
    /** Undefined where the build id stands in. */
    release: values.RELEASE || undefined,
    digestNamespace: values.DIGEST_NAMESPACE,
    /** How long occurrences are kept (ms), and how much is stored (bytes). */
    deskRetention: { maxAge: values.DESK_RETENTION_DAYS * Day, maxBytes: values.DESK_MAX_SIZE * MiB },
    /** Undefined for SQLite in `dataDir`. */
    deskDatabaseUrl: values.DESK_DATABASE_URL || undefined,
    /** Empty where the one in `dataDir` counts. */
    operatorTokens: values.OPERATOR_TOKEN,
    viewerTokens: values.VIEWER_TOKEN,
    /** In lower case. */
    authProxyHeader: values.AUTH_PROXY_HEADER || undefined,
    authProxySecret: values.AUTH_PROXY_SECRET || undefined,
    authProxyOperators: values.AUTH_PROXY_OPERATORS,
    /** Undefined where the desk is on `port`. */
    deskPort: values.DESK_PORT,
    deskOnly: values.DESK_ONLY,
    /** Undefined where it follows from other settings. */
    deskOrigin: values.DESK_ORIGIN || undefined,
    webhookUrls: values.WEBHOOK_URL,
    /** Undefined where the host decides. */
    webhookFormat: values.WEBHOOK_FORMAT,
    webhookSecret: values.WEBHOOK_SECRET || undefined,
    smtpUrl: values.SMTP_URL || undefined,
    mailFrom: values.MAIL_FROM || undefined,
    mailTo: values.MAIL_TO,
    /** A count. */
    notifyAfter: values.NOTIFY_AFTER,
    /** Names, addresses and networks. */
    notifyPrivateTargets: values.NOTIFY_PRIVATE_TARGETS,
    heartbeatUrl: values.HEARTBEAT_URL || undefined,
    sentryDsn: values.SENTRY_DSN,
    sentryEnvironment: values.SENTRY_ENVIRONMENT,
    /** How a place in the source is opened, with `{file}` and the like to be filled in. */
    sourceLink: values.SOURCE_LINK,
    tunnelPath: values.TUNNEL_PATH,
    scrubKeys: values.SCRUB_KEYS,
    scrubPatterns: values.SCRUB_PATTERNS,
    /** Milliseconds; 0 where nothing is refused. */
    overloadDelay: values.OVERLOAD_DELAY,
    /** Undefined where it follows from the heap. */
    maxPages: values.MAX_PAGES,
    /** A count; undefined for a share of all connections. */
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
  // A network of length 0 is everyone.
  return prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}
