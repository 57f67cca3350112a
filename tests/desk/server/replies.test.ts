import { afterAll, beforeAll, expect, it } from 'vitest';
import { ACTION_ACCEPT } from '../../../src/shared/wire/protocol.ts';
import { parseReply, type RawReply, sendRaw } from '../../support/raw-http.ts';
import { requiredHeaders } from '../../support/required-headers.ts';
import { OPERATOR, SITE_HOST, startWholeSite, type WholeSite } from './whole-site.tsx';

let site: WholeSite;
let session: string;
beforeAll(async () => {
  site = await startWholeSite();
  session = await site.enter();
});
afterAll(() => site.close());

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const BEARER = `Authorization: Bearer ${OPERATOR}`;

/** How a response can be cached. */
const KEPT = {
  nowhere: /^no-store(?:, no-transform)?$/,
  'by its reader': /^private, no-cache$/,
  'by all, who ask': /^public, no-cache$/,
  'by all': /^public, max-age=\d+(?:, immutable)?$/,
};

interface Kind {
  readonly name: string;
  readonly ask: string;
  readonly status: number;
  readonly kept: keyof typeof KEPT;
  readonly headers?: readonly string[] | (() => Promise<string[]> | string[]);
  readonly body?: string;
  /** The level of overload. */
  readonly level?: number;
  readonly onDesk?: boolean;
}

const asOperator = () => [`Cookie: ${session}`];

/** Returns the headers with the current `ETag` of the path. */
async function current(path: string, headers: readonly string[] = []): Promise<string[]> {
  const { headers: given } = await ask(one('', `GET ${path}`, 200, 'nowhere', { headers }));
  return [...headers, `If-None-Match: ${given.etag}`];
}

const KINDS: readonly Kind[] = [
  one('a page', 'GET /', 200, 'by its reader'),
  one('a streamed page', 'GET /stream', 200, 'by its reader'),
  one('a static page', 'GET /static', 200, 'by all, who ask'),
  one('a page that does not exist', 'GET /nothing', 404),
  one('a page that fails', 'GET /fail', 500),
  one('a method that a page rejects', 'DELETE /form', 405),
  one('a method that the server rejects', 'TRACE /', 405),

  one('page data', 'GET /_data/form', 200, 'by its reader'),
  one('page data with its ETag', 'GET /_data/form', 304, 'by its reader', { headers: () => current('/_data/form') }),

  form('a form that is accepted', 'a=1', 303),
  form('a form posted by a script', '_action=form.tell', 200, [`Accept: ${ACTION_ACCEPT}`]),
  form('a form of another site', 'a=1', 403, ['Sec-Fetch-Site: cross-site']),

  one('the API', 'GET /api/echo', 200, 'by its reader'),
  one('the API with its ETag', 'GET /api/echo', 304, 'by its reader', { headers: () => current('/api/echo') }),
  json('invalid JSON', '{', 400),
  one('an API that fails', 'GET /api/fail', 500),

  one('an asset', 'GET /assets/main-1.js', 200, 'by all'),
  one('part of an asset', 'GET /assets/main-1.js', 206, 'by all', { headers: ['Range: bytes=1-3'] }),
  one('an asset with its ETag', 'GET /assets/main-1.js', 304, 'by all', {
    headers: () => current('/assets/main-1.js'),
  }),

  one('readiness', 'GET /readyz', 200),
  one('metrics', 'GET /metrics', 200, 'nowhere', { headers: [BEARER] }),

  one('an unknown host', 'GET /', 421, 'nowhere', { headers: ['Host: other.example'] }),
  one('two hosts', 'GET /', 400, 'nowhere', { headers: [`Host: ${SITE_HOST}`, 'Host: b'] }),
  one('a path with two slashes', 'GET //evil.example', 400),

  one('a page during overload', 'GET /', 503, 'nowhere', { level: 1 }),
  one('a prefetch during overload', 'GET /_data/form', 503, 'nowhere', { headers: ['Purpose: prefetch'], level: 0.5 }),
  { ...form('a form during overload', 'a=1', 503), level: 4 },

  one('the tunnel', 'POST /_report', 200, 'nowhere', { body: envelope() }),
  one('a report sent by the browser', 'POST /_report/browser', 204, 'nowhere', {
    headers: ['Content-Type: application/reports+json'],
    body: '[]',
  }),

  one('the desk without a session', 'GET /desk', 401),
  one('the desk', 'GET /desk', 200, 'nowhere', { headers: asOperator }),
  form('a sign-in', `_action=root.signIn&token=${OPERATOR}`, 303, [], '/desk'),
  one('the desk’s API', 'GET /api/desk/incidents', 200, 'by its reader', { headers: [BEARER] }),
  one('the desk’s API with its ETag', 'GET /api/desk/incidents', 304, 'by its reader', {
    headers: () => current('/api/desk/incidents', [BEARER]),
  }),
  one('the desk’s API without a token', 'GET /api/desk/incidents', 401),
  one('the desk’s OpenAPI document', 'GET /api/desk/openapi.json', 200, 'by its reader'),

  one('the root of the desk’s listener', 'GET /', 302, 'nowhere', { onDesk: true }),
  one('the API on the desk’s listener', 'GET /api/desk/incidents', 200, 'by its reader', {
    headers: [BEARER],
    onDesk: true,
  }),
];

function one(
  name: string,
  ask: string,
  status: number,
  kept: Kind['kept'] = 'nowhere',
  more: Partial<Kind> = {},
): Kind {
  return { name, ask, status, kept, ...more };
}

function form(name: string, body: string, status: number, headers: readonly string[] = [], path = '/form'): Kind {
  return one(name, `POST ${path}`, status, 'nowhere', { headers: [`Content-Type: ${FORM}`, ...headers], body });
}

function json(name: string, body: string, status: number): Kind {
  return one(name, 'POST /api/echo', status, 'nowhere', { headers: [`Content-Type: ${JSON_TYPE}`], body });
}

function envelope(): string {
  const event = { exception: { values: [{ type: 'Error', value: 'boom' }] } };
  const id = 'f'.repeat(32);
  return [{ event_id: id, dsn: `https://spillway@${SITE_HOST}/1` }, { type: 'event' }, { event_id: id, ...event }]
    .map((part) => JSON.stringify(part))
    .join('\n');
}

async function ask(kind: Kind): Promise<RawReply> {
  const given = typeof kind.headers === 'function' ? await kind.headers() : (kind.headers ?? []);
  const hasHost = given.some((line) => /^(?:host|x-a):/i.test(line));
  const length = kind.body === undefined ? [] : [`Content-Length: ${kind.body.length}`];
  const host = hasHost ? [] : [`Host: ${SITE_HOST}`];
  const head = [`${kind.ask} HTTP/1.1`, ...host, ...given, ...length, 'Connection: close'].join('\r\n');
  site.overload.level = kind.level ?? 0;
  try {
    const port = kind.onDesk ? site.deskPort : site.port;
    const text = await sendRaw(port, `${head}\r\n\r\n${kind.body ?? ''}`, { patience: 10_000 });
    return parseReply(text);
  } finally {
    site.overload.level = 0;
  }
}

it.each(KINDS)('$name has its status, all required headers, and strict values of them', async (kind) => {
  const reply = await ask(kind);
  expect(reply.status).toBe(kind.status);
  for (const name of requiredHeaders(kind.ask)) expect(reply.headers, name).toHaveProperty(name);
  for (const name of ['x-powered-by', 'server']) expect(reply.headers).not.toHaveProperty(name);
  expect(reply.headers['cache-control']).toMatch(KEPT[kind.kept]);
  if (reply.body !== '' && reply.body !== '0\r\n\r\n') expect(reply.headers).toHaveProperty('content-type');
  const isPage = reply.headers['content-type']?.startsWith('text/html') ?? false;
  if (isPage) expect(reply.headers['content-type']).toBe('text/html; charset=utf-8');
  else if (reply.status !== 304) expect(reply.headers['content-security-policy']).toBe(NOTHING);
  if (/^(?:GET \/_data|\w+ \/(?:api|_report|assets|metrics|livez))/.test(kind.ask)) expect(isPage).toBe(false);
  expectStrict(reply.headers);
  // The desk's separate port has no TLS here.
  if (!kind.onDesk) expect(reply.headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
});

const NOTHING = "default-src 'none'; frame-ancestors 'none'";

/** The values for which Mozilla's Observatory takes no points, for each header that a response has. */
const STRICT: Readonly<Record<string, RegExp>> = {
  'content-security-policy':
    /^default-src 'none'; (?:script-src (?:'(?:nonce|sha256)-[\w+/=-]+' )+'strict-dynamic'; )?(?!.*script-src)(?:.*base-uri 'none'; .*)?frame-ancestors 'none'(?:; report-uri [\w/]+)?$/,
  'cross-origin-resource-policy': /^same-origin$/,
  'referrer-policy': /^(?:no-referrer|same-origin|strict-origin(?:-when-cross-origin)?)$/,
  'x-content-type-options': /^nosniff$/,
  'x-frame-options': /^(?:DENY|SAMEORIGIN)$/,
};

function expectStrict(headers: RawReply['headers']): void {
  for (const [name, value] of Object.entries(STRICT)) if (name in headers) expect(headers[name], name).toMatch(value);
  const sources = headers['content-security-policy']?.replace(
    /style-src-attr 'unsafe-inline'|img-src 'self' data:/g,
    '',
  );
  expect(sources).not.toMatch(/unsafe-|data:|http:|\*/);
  expect(headers).not.toHaveProperty('access-control-allow-origin');
}
