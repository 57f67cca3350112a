import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { Second } from '../shared/units.ts';
import { ASSET_PREFIX } from '../shared/wire/protocol.ts';
import {
  parseScrubKeys,
  parseScrubPatterns,
  SCRUB_KEYS_SENTENCE,
  SCRUB_PATTERNS_SENTENCE,
} from './errors/scrub/scrub-settings.ts';
import { ONLY_OPERATOR, ONLY_VIEWER, parseTokens, TOKEN_SENTENCE } from './front/tokens.ts';
import { KEEP_ALIVE_TIMEOUT, REQUEST_TIMEOUT, SOCKET_TIMEOUT } from './limits.ts';
import { parseMailAddress, parseSmtpUrl } from './mail/mailer.ts';
import { parseDsn } from './reports/sentry/open-sentry.ts';
import { parseOrigins, parsePublicOrigins } from './request/origins.ts';
import { isTakenPath } from './request/paths.ts';
import {
  ConfigError,
  type Environment,
  parsed,
  parseTrust,
  port,
  readSettings,
  type SettingsTable,
  seconds,
  toggle,
  whole,
} from './settings.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const TUNNEL_SENTENCE =
  'is not a path for reports. Use an absolute path of letters, digits, - and _ that Spillway does not use itself, such as /_report.';

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
      'The origins that visitors use, separated by commas. The first is the main one. After it, https://*.example.com stands for all hosts one level below. Requests for other hosts get 421. Default: requests for any host are accepted, and by `npm run dev` those for localhost and IP addresses.',
    example: 'https://example.com,https://www.example.com',
    schema: parsed(
      'contains something that is not an origin. Use http(s) origins without a path, separated by commas, such as https://example.com. Only after the first, https://*.example.com stands for all hosts one level below.',
      parsePublicOrigins,
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
    about:
      'The name of this release in logs and reports. Default: the commit that was built, with `-dirty` if files were changed.',
    example: 'v1.4.0',
    schema: parsed('is not a release name. Use up to 100 letters, digits and . _ / @ + -.', (text) => {
      return /^[\w./@+-]{1,100}$/.test(text) ? text : undefined;
    }).optional(),
  },
  DIGEST_NAMESPACE: {
    about:
      'Text that is part of every digest. Use the same on all replicas and releases. Set it to a secret so that strangers cannot compute digests from your source.',
    example: 'spillway',
    schema: parsed('is too long or contains a line break. Use up to 200 characters.', (text) => {
      return /^.{1,200}$/u.test(text) ? text : undefined;
    }).prefault('spillway'),
  },
  SMTP_URL: {
    about:
      'The mail server for all mail. Requires MAIL_FROM. smtps uses TLS from the start (port 465), smtp upgrades to TLS (587) and sends no password without it. Default: no mail is sent.',
    example: 'smtps://user:password@mail.example.com',
    schema: parsed(
      'is not the URL of a mail server. Use smtps://user:password@host or smtp://host:port. Write characters such as @ in a password as %40.',
      parseSmtpUrl,
    ).optional(),
  },
  MAIL_FROM: {
    about: 'The sender of emails.',
    example: 'shop@example.com',
    schema: parsed('is not an email address. Use one such as shop@example.com.', parseMailAddress).optional(),
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
      'The name of this environment in reports and in trace headers. Each environment has separate incidents. `npm run dev` uses development if it is not set.',
    example: 'production',
    schema: parsed('is not an environment name. Use up to 64 letters, digits and . _ -.', (text) => {
      return /^[\w.-]{1,64}$/.test(text) ? text : undefined;
    }).prefault('production'),
  },
  TUNNEL_PATH: {
    about: 'The path that browsers send reports to. Avoid words such as error or sentry, which ad blockers match.',
    example: '/_report',
    schema: parsed(TUNNEL_SENTENCE, parseTunnelPath).prefault('/_report'),
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
      'Seconds that pages can wait to be rendered, or half the seconds that the event loop can lag, before new pages get 503 with Retry-After. Prefetches are refused earlier, forms and the API later, health checks and assets never. 0 turns it off.',
    example: '0.5',
    schema: seconds().prefault('0.5'),
  },
  MAX_PAGES: {
    about:
      'The number of pages that can be in progress at the same time, from their first guard to their shell. Further ones get 503. Default: one for each 4 MB of the heap limit, from 32 to 1000.',
    example: '200',
    schema: whole({ what: 'number of pages', from: 1, to: 100_000 }).optional(),
  },
  MAX_CONNECTIONS_PER_ADDRESS: {
    about:
      'Connections that one address, or one /64 of IPv6, can hold. Beyond that its idle connections are closed, then new ones are refused. Does not apply to proxies in TRUST_PROXY. Default: a quarter of all connections that the server can hold, 2048 of 8192.',
    example: '512',
    schema: whole({ what: 'number of connections', from: 1, to: 100_000 }).optional(),
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
  DESK_PORT: {
    about:
      'A separate port for the desk and /metrics, which PORT then no longer serves. Requests for any host are accepted there, and metrics need no token, so make it reachable only from an internal network. 0 takes any free port. Default: the desk is on PORT.',
    example: '3001',
    schema: port().optional(),
  },
} satisfies SettingsTable;

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
  if (values.DESK_PORT === values.PORT && values.PORT > 0) {
    throw new ConfigError([`PORT and DESK_PORT are both ${values.PORT}. Change DESK_PORT.`]);
  }
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
    release: values.RELEASE,
    digestNamespace: values.DIGEST_NAMESPACE,
    smtpUrl: values.SMTP_URL,
    mailFrom: values.MAIL_FROM,
    sentryDsn: values.SENTRY_DSN,
    sentryEnvironment: values.SENTRY_ENVIRONMENT,
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
    /** Empty: with a tracker, the token in `dataDir` is used. */
    operatorTokens: values.OPERATOR_TOKEN,
    viewerTokens: values.VIEWER_TOKEN,
    /** Undefined: the tracker is on `port`. */
    deskPort: values.DESK_PORT,
  };
}

/** @throws ConfigError if TUNNEL_PATH is a path that already has another use */
export function requireFreeTunnelPath({ tunnelPath }: Config, isTaken: (path: string) => boolean): void {
  if (isTaken(tunnelPath)) throw new ConfigError([`The setting TUNNEL_PATH ${TUNNEL_SENTENCE}`]);
}

function parseTunnelPath(text: string): string | undefined {
  const isTaken = isTakenPath(text) || `${text}/`.startsWith(ASSET_PREFIX);
  return /^(?:\/[\w-]{1,60}){1,4}$/.test(text) && !isTaken ? text : undefined;
}
