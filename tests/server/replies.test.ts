import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Level } from '../../src/server/engine/protection/overload.ts';
import { ACTION_ACCEPT } from '../../src/shared/engine/wire/protocol.ts';
import { scoreReply } from '../support/observatory.ts';
import { parseReply, type RawReply, sendRaw } from '../support/raw-http.ts';
import { REQUIRED_HEADERS, requiredHeaders } from '../support/required-headers.ts';
import { OPERATOR, SITE_HOST, SITE_ORIGIN, startWholeSite, type WholeSite } from '../support/whole-site.tsx';

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
  readonly level?: Level;
  readonly onDesk?: boolean;
}

const asOperator = () => [`Cookie: ${session}`];

/** Returns the headers with the current `ETag` of the path. */
async function current(path: string, headers: readonly string[] = []): Promise<string[]> {
  const { headers: given } = await ask({ name: '', ask: `GET ${path}`, status: 200, kept: 'nowhere', headers });
  return [...headers, `If-None-Match: ${given.etag}`];
}

const KINDS: readonly Kind[] = [
  { name: 'a page', ask: 'GET /', status: 200, kept: 'by its reader' },
  { name: 'a streamed page', ask: 'GET /stream', status: 200, kept: 'by its reader' },
  { name: 'HEAD of a page', ask: 'HEAD /', status: 200, kept: 'by its reader' },
  { name: 'a static page', ask: 'GET /static', status: 200, kept: 'by all, who ask' },
  {
    name: 'a static page with its ETag',
    ask: 'GET /static',
    headers: () => current('/static'),
    status: 304,
    kept: 'by all, who ask',
  },
  { name: 'a page that does not exist', ask: 'GET /nothing', status: 404, kept: 'nowhere' },
  { name: 'a page that requires signing in', ask: 'GET /private', status: 401, kept: 'nowhere' },
  { name: 'a page that fails', ask: 'GET /fail', status: 500, kept: 'nowhere' },
  { name: 'a page that redirects', ask: 'GET /away', status: 303, kept: 'nowhere' },
  { name: 'a redirect to the normal form of a URL', ask: 'GET /%73tatic', status: 308, kept: 'nowhere' },
  { name: 'a redirect without the trailing slash', ask: 'GET /static/', status: 308, kept: 'nowhere' },
  { name: 'OPTIONS of a page', ask: 'OPTIONS /form', status: 204, kept: 'nowhere' },
  { name: 'OPTIONS of an unknown path', ask: 'OPTIONS /nothing', status: 204, kept: 'nowhere' },
  { name: 'OPTIONS of the server', ask: 'OPTIONS *', status: 204, kept: 'nowhere' },
  { name: 'a method that a page rejects', ask: 'DELETE /form', status: 405, kept: 'nowhere' },
  { name: 'a method that the server rejects', ask: 'TRACE /', status: 405, kept: 'nowhere' },

  { name: 'page data', ask: 'GET /_data/form', status: 200, kept: 'by its reader' },
  {
    name: 'page data with its ETag',
    ask: 'GET /_data/form',
    headers: () => current('/_data/form'),
    status: 304,
    kept: 'by its reader',
  },
  { name: 'streamed page data', ask: 'GET /_data/stream', status: 200, kept: 'nowhere' },
  { name: 'page data of a static page', ask: 'GET /_data/static', status: 200, kept: 'by all, who ask' },
  { name: 'page data of a redirect', ask: 'GET /_data/away', status: 200, kept: 'nowhere' },
  { name: 'page data of a failure', ask: 'GET /_data/fail', status: 500, kept: 'nowhere' },
  { name: 'page data of an unknown path', ask: 'GET /_data/nothing', status: 404, kept: 'nowhere' },
  { name: 'a method that page data rejects', ask: 'POST /_data/form', status: 405, kept: 'nowhere' },

  form('a form that is accepted', 'a=1', 303),
  form('a form with errors', '_action=form.refuse', 422),
  form('a form with a result', '_action=form.tell&a=1', 200),
  form('a form of another release', '_action=form.none', 409),
  form('a form that cannot be read', 'a=%ff', 400),
  form('a form posted by a script', '_action=form.tell', 200, [`Accept: ${ACTION_ACCEPT}`]),
  form('a form of another site', 'a=1', 403, ['Sec-Fetch-Site: cross-site']),
  { ...form('a body that is not a form', '{}', 415), headers: [`Content-Type: ${JSON_TYPE}`] },

  { name: 'the API', ask: 'GET /api/echo', status: 200, kept: 'by its reader' },
  {
    name: 'the API with its ETag',
    ask: 'GET /api/echo',
    headers: () => current('/api/echo'),
    status: 304,
    kept: 'by its reader',
  },
  json('a change by the API', '{}', 200),
  { name: 'a deletion by the API', ask: 'DELETE /api/gone', status: 204, kept: 'nowhere' },
  json('invalid JSON', '{', 400),
  json('JSON that is too large', `{"a":"${'x'.repeat(2000)}"}`, 413),
  { ...json('another type', 'a', 415), headers: ['Content-Type: text/plain'] },
  { name: 'OPTIONS of the API', ask: 'OPTIONS /api/echo', status: 204, kept: 'nowhere' },
  { name: 'a method that the API rejects', ask: 'PUT /api/echo', status: 405, kept: 'nowhere' },
  { name: 'an unknown path of the API', ask: 'GET /api/nothing', status: 404, kept: 'nowhere' },
  { name: 'an API that fails', ask: 'GET /api/fail', status: 500, kept: 'nowhere' },

  { name: 'an asset', ask: 'GET /assets/main-1.js', status: 200, kept: 'by all' },
  {
    name: 'part of an asset',
    ask: 'GET /assets/main-1.js',
    headers: ['Range: bytes=1-3'],
    status: 206,
    kept: 'by all',
  },
  {
    name: 'an invalid range of an asset',
    ask: 'GET /assets/main-1.js',
    headers: ['Range: bytes=99-'],
    status: 416,
    kept: 'nowhere',
  },
  {
    name: 'an asset with its ETag',
    ask: 'GET /assets/main-1.js',
    headers: () => current('/assets/main-1.js'),
    status: 304,
    kept: 'by all',
  },
  { name: 'an asset that does not exist', ask: 'GET /assets/main-2.js', status: 404, kept: 'nowhere' },
  { name: 'a method that assets reject', ask: 'POST /assets/main-1.js', status: 405, kept: 'nowhere' },

  { name: 'liveness', ask: 'GET /livez', status: 200, kept: 'nowhere' },
  { name: 'readiness', ask: 'GET /readyz', status: 200, kept: 'nowhere' },
  { name: 'a method that health checks reject', ask: 'POST /livez', status: 405, kept: 'nowhere' },
  { name: 'metrics', ask: 'GET /metrics', headers: [BEARER], status: 200, kept: 'nowhere' },
  { name: 'metrics without a token', ask: 'GET /metrics', status: 401, kept: 'nowhere' },

  {
    name: 'an unknown host',
    ask: 'GET /',
    headers: ['Host: other.example'],
    status: 421,
    kept: 'nowhere',
  },
  {
    name: 'an invalid host',
    ask: 'GET /',
    headers: ['Host: a/b?c#d@e'],
    status: 400,
    kept: 'nowhere',
  },
  { name: 'no host', ask: 'GET /', headers: ['X-A: b'], status: 400, kept: 'nowhere' },
  {
    name: 'two hosts',
    ask: 'GET /',
    headers: [`Host: ${SITE_HOST}`, 'Host: b'],
    status: 400,
    kept: 'nowhere',
  },
  { name: 'a path with two slashes', ask: 'GET //evil.example', status: 400, kept: 'nowhere' },
  { name: 'a URL that is too long', ask: `GET /${'a'.repeat(9000)}`, status: 414, kept: 'nowhere' },

  { name: 'a page during overload', ask: 'GET /', status: 503, kept: 'nowhere', level: 2 },
  { name: 'page data during overload', ask: 'GET /_data/form', status: 503, kept: 'nowhere', level: 2 },
  {
    name: 'a prefetch during overload',
    ask: 'GET /_data/form',
    headers: ['Purpose: prefetch'],
    status: 503,
    kept: 'nowhere',
    level: 1,
  },
  { ...form('a form during overload', 'a=1', 503), level: 3 },
  { ...json('an API call during overload', '{}', 503), level: 3 },

  { name: 'the tunnel', ask: 'POST /_report', body: envelope(), status: 200, kept: 'nowhere' },
  { name: 'an invalid report', ask: 'POST /_report', body: 'x', status: 400, kept: 'nowhere' },
  { name: 'a method that the tunnel rejects', ask: 'GET /_report', status: 405, kept: 'nowhere' },
  {
    name: 'a report sent by the browser',
    ask: 'POST /_report/browser',
    headers: ['Content-Type: application/reports+json'],
    body: '[]',
    status: 204,
    kept: 'nowhere',
  },
  form('feedback', 'text=I+was+about+to+pay.', 200, [], '/?_feedback'),
  form('feedback sent by a script', 'text=a', 200, ['Accept: application/json'], '/?_feedback'),
  form('empty feedback', 'text=', 422, [], '/?_feedback'),

  { name: 'the desk without a session', ask: 'GET /desk', status: 401, kept: 'nowhere' },
  { name: 'the desk', ask: 'GET /desk', headers: asOperator, status: 200, kept: 'nowhere' },
  { name: 'data of the desk', ask: 'GET /desk/_data', headers: asOperator, status: 200, kept: 'nowhere' },
  {
    name: 'a desk page that does not exist',
    ask: 'GET /desk/a/b/c',
    headers: asOperator,
    status: 404,
    kept: 'nowhere',
  },
  form('a sign-in', `_action=root.signIn&token=${OPERATOR}`, 303, [], '/desk'),
  form('a failed sign-in', '_action=root.signIn&token=wrong', 401, [], '/desk'),
  { name: 'a method that the desk rejects', ask: 'PUT /desk', headers: asOperator, status: 405, kept: 'nowhere' },
  { name: 'live updates without a session', ask: 'GET /desk/live', status: 401, kept: 'nowhere' },
  { name: 'the desk’s API', ask: 'GET /api/desk/incidents', headers: [BEARER], status: 200, kept: 'by its reader' },
  {
    name: 'the desk’s API with its ETag',
    ask: 'GET /api/desk/incidents',
    headers: () => current('/api/desk/incidents', [BEARER]),
    status: 304,
    kept: 'by its reader',
  },
  { name: 'the desk’s API without a token', ask: 'GET /api/desk/incidents', status: 401, kept: 'nowhere' },
  { name: 'the desk’s OpenAPI document', ask: 'GET /api/desk/openapi.json', status: 200, kept: 'by its reader' },
  {
    name: 'an unknown path of the desk’s API',
    ask: 'GET /api/desk/none',
    headers: [BEARER],
    status: 404,
    kept: 'nowhere',
  },

  { name: 'the root of the desk’s listener', ask: 'GET /', status: 302, kept: 'nowhere', onDesk: true },
  { name: 'the desk on its listener', ask: 'GET /desk', status: 401, kept: 'nowhere', onDesk: true },
  { name: 'an unknown path on the desk’s listener', ask: 'GET /nothing', status: 404, kept: 'nowhere', onDesk: true },
  {
    name: 'the API on the desk’s listener',
    ask: 'GET /api/desk/builds',
    headers: [BEARER],
    status: 200,
    kept: 'by its reader',
    onDesk: true,
  },
];

function form(name: string, body: string, status: number, headers: readonly string[] = [], path = '/form'): Kind {
  return { name, ask: `POST ${path}`, headers: [`Content-Type: ${FORM}`, ...headers], body, status, kept: 'nowhere' };
}

function json(name: string, body: string, status: number): Kind {
  return { name, ask: 'POST /api/echo', headers: [`Content-Type: ${JSON_TYPE}`], body, status, kept: 'nowhere' };
}

function envelope(): string {
  const event = { exception: { values: [{ type: 'Error', value: 'boom' }] } };
  const id = 'f'.repeat(32);
  return [{ event_id: id, dsn: `https://spillway@${SITE_HOST}/1` }, { type: 'event' }, { event_id: id, ...event }]
    .map((part) => JSON.stringify(part))
    .join('\n');
}

async function ask(kind: Kind): Promise<RawReply & { readonly cookies: string[] }> {
  const given = typeof kind.headers === 'function' ? await kind.headers() : (kind.headers ?? []);
  const hasHost = given.some((line) => /^(?:host|x-a):/i.test(line));
  const length = kind.body === undefined ? [] : [`Content-Length: ${kind.body.length}`];
  const host = hasHost ? [] : [`Host: ${SITE_HOST}`];
  const head = [`${kind.ask} HTTP/1.1`, ...host, ...given, ...length, 'Connection: close'].join('\r\n');
  site.overload.level = kind.level ?? 0;
  try {
    const port = kind.onDesk ? site.deskPort : site.port;
    const text = await sendRaw(port, `${head}\r\n\r\n${kind.body ?? ''}`, { patience: 10_000 });
    return {
      ...parseReply(text),
      cookies: [...text.matchAll(/^set-cookie: (.*)\r$/gim)].map(([, cookie]) => cookie ?? ''),
    };
  } finally {
    site.overload.level = 0;
  }
}

describe.each(KINDS)('$name', (kind) => {
  let reply: Awaited<ReturnType<typeof ask>>;
  beforeAll(async () => {
    reply = await ask(kind);
  });

  it('has its status and all required headers', () => {
    expect(reply.status).toBe(kind.status);
    for (const name of requiredHeaders(kind.ask)) expect(reply.headers, name).toHaveProperty(name);
    expect(reply.headers).not.toHaveProperty('x-powered-by');
    expect(reply.headers).not.toHaveProperty('server');
    expect(reply.headers['cache-control']).toMatch(KEPT[kind.kept]);
  });

  it('has the right content type, and is a page only if it should be', () => {
    const hasBody = reply.body !== '' && reply.body !== '0\r\n\r\n';
    if (hasBody) expect(reply.headers).toHaveProperty('content-type');
    const isPage = reply.headers['content-type']?.startsWith('text/html') ?? false;
    if (isPage) expect(reply.headers['content-type']).toBe('text/html; charset=utf-8');
    else if (reply.status !== 304) expect(reply.headers['content-security-policy']).toBe(NOTHING);
    if (/^(?:GET \/_data|\w+ \/(?:api|_report|assets|metrics|livez))/.test(kind.ask)) expect(isPage).toBe(false);
  });

  it("gets an A+ from Mozilla's Observatory, except for TLS on the desk's separate port, which has none here", () => {
    const { score, modifiers } = scoreReply(reply);
    const penalties = modifiers.filter(({ points }) => points < 0).map(({ rule }) => rule);
    expect(penalties).toEqual(kind.onDesk ? ['hsts-not-implemented'] : []);
    // Data has no links, so it has no Referrer-Policy, which adds 5 points.
    if (penalties.length === 0) expect(score).toBeGreaterThanOrEqual(/ \/api\//.test(kind.ask) ? 125 : 130);
  });
});

const NOTHING = "default-src 'none'; frame-ancestors 'none'";

/** Requests that Node's parser rejects, or that do not arrive as normal requests. */
const BROKEN: readonly (readonly [name: string, bytes: string, status: number])[] = [
  ['an invalid request line', 'GET / HTP/1.1\r\n\r\n', 400],
  ['an unknown method', 'FOO / HTTP/1.1\r\n\r\n', 400],
  ['bytes that are not text', '\x16\x03\x01\x02\x00\x01\x00', 400],
  ['a header without a name', 'GET / HTTP/1.1\r\n: x\r\n\r\n', 400],
  ['a length that is not a number', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n', 400],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
  ['a length and chunks', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
  ['headers that are too large', `GET / HTTP/1.1\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  ['an unknown expectation', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: a miracle\r\nConnection: close\r\n\r\n', 417],
  ['a CONNECT request', 'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n', 405],
  ['invalid chunks', 'POST /form HTTP/1.1\r\nHost: example.com\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n', 400],
];

describe.each(BROKEN)('%s', (_name, bytes, status) => {
  it('has all required headers', async () => {
    const reply = parseReply(await sendRaw(site.port, bytes, { patience: 3000 }));
    expect(reply.status).toBe(status);
    for (const name of REQUIRED_HEADERS) expect(reply.headers, name).toHaveProperty(name);
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(reply.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(scoreReply(reply).score).toBeGreaterThanOrEqual(130);
  });
});

describe('cookies of the desk', () => {
  it('have every protective attribute', async () => {
    const signIn = KINDS.find(({ name }) => name === 'a sign-in');
    const reply = signIn && (await ask(signIn));
    expect(reply?.cookies).toEqual([
      expect.stringMatching(/^__Host-desk=[\w-]{43}\.[\w-]{22}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/),
    ]);
    expect(reply && scoreReply(reply).score).toBe(135);
  });
});

describe('a nonce', () => {
  it('is different in each response, and has at least 128 bits', async () => {
    const nonces = new Set<string>();
    for (let count = 0; count < 200; count += 1) {
      const { headers } = await ask({ name: '', ask: 'HEAD /', status: 200, kept: 'nowhere' });
      const nonce = /'nonce-([\w+/=-]+)'/.exec(headers['content-security-policy'] ?? '')?.[1] ?? '';
      expect(Buffer.from(nonce, 'base64').length).toBeGreaterThanOrEqual(16);
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(200);
    expect(JSON.stringify(site.lines)).not.toContain([...nonces][0]);
    expect(SITE_ORIGIN).toMatch(/^https:/);
  });
});
