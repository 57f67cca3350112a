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

const FORM = 'Content-Type: application/x-www-form-urlencoded';
const BEARER = `Authorization: Bearer ${OPERATOR}`;

/** How a response can be cached. */
const KEPT = {
  nowhere: /^no-store(?:, no-transform)?$/,
  'by its reader': /^private, no-cache$/,
  'by all, who ask': /^public, no-cache$/,
  'by all': /^public, max-age=\d+(?:, immutable)?$/,
};

interface More {
  readonly headers?: readonly string[];
  readonly body?: string;
  /** The level of overload. */
  readonly level?: number;
  readonly onDesk?: boolean;
}
type Kind = readonly [name: string, line: string, status: number, kept?: keyof typeof KEPT, more?: More];

const form = (body: string, ...headers: string[]): More => ({ headers: [FORM, ...headers], body });

const KINDS: readonly Kind[] = [
  ['a page', 'GET /', 200, 'by its reader'],
  ['a streamed page', 'GET /stream', 200, 'by its reader'],
  ['a static page', 'GET /static', 200, 'by all, who ask'],
  ['a page that does not exist', 'GET /nothing', 404],
  ['a page that fails', 'GET /fail', 500],
  ['a method that a page rejects', 'DELETE /form', 405],
  ['a method that the server rejects', 'TRACE /', 405],
  ['page data', 'GET /_data/form', 200, 'by its reader'],
  ['a form that is accepted', 'POST /form', 303, 'nowhere', form('a=1')],
  ['a form posted by a script', 'POST /form', 200, 'nowhere', form('_action=form.tell', `Accept: ${ACTION_ACCEPT}`)],
  ['a form of another site', 'POST /form', 403, 'nowhere', form('a=1', 'Sec-Fetch-Site: cross-site')],
  ['the API', 'GET /api/echo', 200, 'by its reader'],
  ['invalid JSON', 'POST /api/echo', 400, 'nowhere', { headers: ['Content-Type: application/json'], body: '{' }],
  ['an API that fails', 'GET /api/fail', 500],
  ['an asset', 'GET /assets/main-1.js', 200, 'by all'],
  ['part of an asset', 'GET /assets/main-1.js', 206, 'by all', { headers: ['Range: bytes=1-3'] }],
  ['readiness', 'GET /readyz', 200],
  ['metrics', 'GET /metrics', 200, 'nowhere', { headers: [BEARER] }],
  ['an unknown host', 'GET /', 421, 'nowhere', { headers: ['Host: other.example'] }],
  ['two hosts', 'GET /', 400, 'nowhere', { headers: [`Host: ${SITE_HOST}`, 'Host: b'] }],
  ['a path with two slashes', 'GET //evil.example', 400],
  ['a page during overload', 'GET /', 503, 'nowhere', { level: 1 }],
  ['a prefetch during overload', 'GET /_data/form', 503, 'nowhere', { headers: ['Purpose: prefetch'], level: 0.5 }],
  ['a form during overload', 'POST /form', 503, 'nowhere', { ...form('a=1'), level: 4 }],
  ['the tunnel', 'POST /_report', 200, 'nowhere', { body: envelope() }],
  [
    ...(['a report sent by the browser', 'POST /_report/browser', 204, 'nowhere'] as const),
    { headers: ['Content-Type: application/reports+json'], body: '[]' },
  ],
  ['the desk without a session', 'GET /desk', 401],
  ['the desk', 'GET /desk', 200, 'nowhere', { headers: ['Cookie: SESSION'] }],
  ['a sign-in', 'POST /desk', 303, 'nowhere', form(`_action=root.signIn&token=${OPERATOR}`)],
  ['the desk’s API', 'GET /api/desk/incidents', 200, 'by its reader', { headers: [BEARER] }],
  ['the desk’s API without a token', 'GET /api/desk/incidents', 401],
  ['the desk’s OpenAPI document', 'GET /api/desk/openapi.json', 200, 'by its reader'],
  ['the root of the desk’s listener', 'GET /', 302, 'nowhere', { onDesk: true }],
  [
    ...(['the API on the desk’s listener', 'GET /api/desk/incidents', 200, 'by its reader'] as const),
    { headers: [BEARER], onDesk: true },
  ],
];

function envelope(): string {
  const event = { exception: { values: [{ type: 'Error', value: 'boom' }] } };
  const id = 'f'.repeat(32);
  return [{ event_id: id, dsn: `https://spillway@${SITE_HOST}/1` }, { type: 'event' }, { event_id: id, ...event }]
    .map((part) => JSON.stringify(part))
    .join('\n');
}

async function ask(line: string, { headers = [], body, level = 0, onDesk }: More): Promise<RawReply> {
  const length = body === undefined ? [] : [`Content-Length: ${body.length}`];
  const host = headers.some((header) => header.startsWith('Host:')) ? [] : [`Host: ${SITE_HOST}`];
  const head = [`${line} HTTP/1.1`, ...host, ...headers, ...length, 'Connection: close'].join('\r\n');
  site.overload.level = level;
  try {
    const sent = `${head.replace('SESSION', session)}\r\n\r\n${body ?? ''}`;
    return parseReply(await sendRaw(onDesk ? site.deskPort : site.port, sent, { patience: 10_000 }));
  } finally {
    site.overload.level = 0;
  }
}

const named = KINDS.map((kind) => [kind[0], kind] as const);

it.each(named)('%s has its status, all required headers, and strict values of them', async (_name, kind) => {
  const [, line, status, , more = {}] = kind;
  const reply = await ask(line, more);
  expect(reply.status).toBe(status);
  expectGood(reply, kind);
  const { etag } = reply.headers;
  if (etag === undefined) return;
  const again = await ask(line, { ...more, headers: [...(more.headers ?? []), `If-None-Match: ${etag}`] });
  expect(again.status).toBe(304);
  expectGood(again, kind);
});

function expectGood(reply: RawReply, [, line, , kept = 'nowhere', { onDesk } = {}]: Kind): void {
  for (const name of requiredHeaders(line)) expect(reply.headers, name).toHaveProperty(name);
  for (const name of ['x-powered-by', 'server']) expect(reply.headers).not.toHaveProperty(name);
  expect(reply.headers['cache-control']).toMatch(KEPT[kept]);
  if (reply.body !== '' && reply.body !== '0\r\n\r\n') expect(reply.headers).toHaveProperty('content-type');
  const isPage = reply.headers['content-type']?.startsWith('text/html') ?? false;
  if (isPage) expect(reply.headers['content-type']).toBe('text/html; charset=utf-8');
  else if (reply.status !== 304) expect(reply.headers['content-security-policy']).toBe(NOTHING);
  if (/^(?:GET \/_data|\w+ \/(?:api|_report|assets|metrics|livez))/.test(line)) expect(isPage).toBe(false);
  expectStrict(reply.headers);
  // The desk's separate port has no TLS here.
  if (!onDesk) expect(reply.headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
}

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
