import { parsed } from '#engine/server';
import { parseOrigins, type SettingsTable, whole } from '#engine/tracker';
import { ISSUE_FIELDS, parseIssueLink, parseSourceLink, parseTraceLink } from './links.ts';
import { parseHttpUrls, parseMailAddresses } from './notifications/settings.ts';

/** Headers that the server itself reads, so it cannot remove them from requests. */
const OTHER_HEADERS =
  /^(?:accept|authorization$|connection$|content-|cookie$|host$|if-|origin$|sec-|transfer-encoding$|upgrade$|x-auth-proxy-secret$|x-forwarded-(?:for|host|proto)$|x-request-id$)/i;

/** The settings of the desk. */
export const DESK_SETTINGS = {
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
      'Days that the desk keeps occurrences. Incidents and their counts stay. A short time protects privacy, a long time lets you compare releases.',
    example: '90',
    schema: whole({ what: 'number of days', from: 1, to: 3650 }).prefault('90'),
  },
  DESK_MAX_SIZE: {
    about:
      'Megabytes that the desk can store, at least 10. The files of builds need up to 200 more. When the desk is full, it deletes the details of the oldest occurrences first and logs it.',
    example: '500',
    schema: whole({ what: 'number of megabytes', from: 10, to: 1_000_000 }).prefault('500'),
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
  DESK_ORIGIN: {
    about:
      'The origin of links to the desk in notifications and from the terminal. Default: the first of PUBLIC_ORIGINS or, with DESK_PORT, HOST and that port.',
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
      'The URLs that notifications of new, regressed and frequent incidents are posted to as JSON, separated by commas. Slack and Discord accept it too. Default: none.',
    example: 'https://hooks.example.com/spillway',
    schema: parsed(
      'contains something that is not a URL to post to. Use http(s) URLs without user and password, separated by commas.',
      parseHttpUrls,
    ).prefault(''),
  },
  WEBHOOK_SECRET: {
    about:
      'The key that posted messages are signed with (HMAC-SHA256), so that receivers can verify them. Default: messages are not signed.',
    example: '9d3f61c07be84a25a1f0c6d2',
    schema: parsed('is not a signing key. Use 16 to 200 characters without spaces.', (text) => {
      return text === '' || /^\S{16,200}$/.test(text) ? text : undefined;
    }).prefault(''),
  },
  MAIL_TO: {
    about:
      'The recipients of notifications by email, separated by commas. Requires SMTP_URL and MAIL_FROM. Default: no notifications by email.',
    example: 'ada@example.com,grace@example.com',
    schema: parsed(
      'contains something that is not an email address. Use addresses such as ada@example.com, separated by commas.',
      parseMailAddresses,
    ).prefault(''),
  },
  NOTIFY_AFTER: {
    about:
      'How often a new incident must happen before it is announced. Regressions are always announced. Default: at the first occurrence.',
    example: '10',
    schema: whole({ what: 'number of occurrences', from: 1, to: 1_000_000 }).prefault('1'),
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
} satisfies SettingsTable;

function parseDatabase(text: string): string | undefined {
  if (text === '') return text;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && /^postgres(?:ql)?:$/.test(url.protocol) && url.hostname !== '' ? text : undefined;
}
