import type { Express } from 'express';
import apps from '../fixtures/existing/apps.cjs';

/** A request to an app: request line, headers and body exactly as sent. */
export interface Ask {
  readonly line: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

export interface ExistingKind {
  /** Creates a new app. Used twice, standalone and mounted, so that the two share no state. */
  create(): Express;
  readonly asks: readonly Ask[];
}

const FORM = 'Content-Type: application/x-www-form-urlencoded';
const get = (path: string, ...headers: string[]): Ask => ({ line: `GET ${path} HTTP/1.1`, headers });
const post = (path: string, body: string, ...headers: string[]): Ask => ({
  line: `POST ${path} HTTP/1.1`,
  headers: [FORM, `Content-Length: ${Buffer.byteLength(body)}`, ...headers],
  body,
});
const upload = (text: string): Ask => {
  const part = (name: string, value: string) =>
    `--same\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const body = `${part('note', 'kept')}${part('file"; filename="a.txt', text)}--same--\r\n`;
  return {
    line: 'POST /upload HTTP/1.1',
    headers: ['Content-Type: multipart/form-data; boundary=same', `Content-Length: ${body.length}`],
    body,
  };
};
const query = (text: string): Ask => {
  const body = JSON.stringify({ query: text });
  return {
    line: 'POST /graphql HTTP/1.1',
    headers: ['Content-Type: application/json', `Content-Length: ${body.length}`],
    body,
  };
};
const withMethod = (method: string, path: string): Ask => ({ line: `${method} ${path} HTTP/1.1` });

const ASK_GZIP = 'Accept-Encoding: gzip, br';
const FORWARDED = 'X-Forwarded-For: 203.0.113.9';

const RESERVED: readonly Ask[] = [
  ...['/api/mine', '/API/upper', '/_data/mine', '/metrics/mine'].flatMap((base) =>
    ['/json?a=%20', '/own', '/raw', '/moved'].map((path) => get(base + path, ASK_GZIP)),
  ),
  ...['HEAD', 'OPTIONS'].map((method) => withMethod(method, '/api/mine/json')),
  ...['POST', 'PUT', 'DELETE', 'OPTIONS'].map((method) => withMethod(method, '/api/mine/things')),
];

/** Requests that those apps do not answer. Only their status is the same as without Spillway. */
const UNANSWERED: readonly Ask[] = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].flatMap((method) =>
    ['/nowhere', '/api/nowhere', '/api'].map((path) => withMethod(method, path)),
  ),
  ...['/fail', '/api/fail'].flatMap((base) =>
    ['plain', '402', 'text', '503', '302', 'both', 'no-status', 'passed', 'thrown'].map((name) =>
      get(`${base}/${name}`),
    ),
  ),
];

/** Apps of several kinds, with requests to each. Only the last four have paths that Spillway reserves. */
export const EXISTING_APPS: Readonly<Record<string, ExistingKind>> = {
  'Express 4': {
    create: apps.createOld,
    asks: [
      get('/query?a[b]=1&c=%20'),
      get('/send'),
      get('/json'),
      get('/redirect'),
      get('/back', 'Referer: http://localhost/from'),
      get('/param/7'),
      get('/sendfile'),
      get('/status'),
      get('/dots'),
      get('/whose', FORWARDED),
      get('/anything?x=1'),
      post('/form', 'a[b]=1&c=2'),
      get('/error'),
      withMethod('HEAD', '/query'),
      withMethod('OPTIONS', '/query'),
    ],
  },
  'Express 5': {
    create: apps.createNew,
    asks: [
      get('/query?a[b]=1'),
      get('/rejects'),
      get('/whose', FORWARDED),
      get('/jsonp?callback=x'),
      get('/any/a/b'),
      get('/inner'),
      post('/form', 'a[b]=1'),
      withMethod('PUT', '/any/x'),
      withMethod('OPTIONS', '/query'),
    ],
  },
  'sessions and passport': {
    create: apps.createSessions,
    asks: [get('/me'), post('/in', 'username=ada&password=right'), post('/in', 'username=ada&password=wrong')],
  },
  'static files': {
    create: apps.createStatic,
    asks: [
      get('/files/ten.txt'),
      get('/files/ten.txt', 'Range: bytes=2-4'),
      get('/files/ten.txt', 'Range: bytes=0-1,4-5'),
      get('/files/ten.txt', ASK_GZIP),
      get('/files/ten.txt', 'If-None-Match: *'),
      get('/files'),
      get('/download'),
      withMethod('HEAD', '/files/ten.txt'),
    ],
  },
  streams: {
    create: apps.createStreams,
    asks: [get('/events', ASK_GZIP), get('/long', ASK_GZIP), get('/long'), get('/whole', ASK_GZIP), get('/frames')],
  },
  uploads: {
    create: apps.createUploads,
    asks: [upload('short'), upload('long '.repeat(50)), post('/upload', 'no=file')],
  },
  GraphQL: {
    create: apps.createGraphql,
    asks: [
      query('{ hello(name: "Ada") }'),
      query('{ broken }'),
      query('{ nothing }'),
      query('{'),
      get(`/graphql?query=${encodeURIComponent('{ hello(name: "Ada") }')}`, 'Accept: application/json'),
    ],
  },
  'methods and queries': {
    create: apps.createMethods,
    asks: [
      ...['PROPFIND', 'PURGE', 'REPORT', 'SEARCH', 'MKCOL', 'COPY', 'LOCK', 'QUERY', 'DELETE', 'PATCH'].map((method) =>
        withMethod(method, '/place'),
      ),
      get('/place?q=100%'),
      get('/place?q=%E4'),
      get(`/place?q=${'x'.repeat(9000)}`),
      get('/assets/mine.js'),
      get('/robots.txt'),
      get('/favicon.svg'),
      withMethod('POST', '/assets/mine.js'),
    ],
  },
  'reserved paths, Express 4': { create: apps.createReserved4, asks: RESERVED },
  'reserved paths, Express 5': { create: apps.createReserved5, asks: RESERVED },
  'unanswered, Express 4': { create: apps.createReserved4, asks: UNANSWERED },
  'unanswered, Express 5': { create: apps.createReserved5, asks: UNANSWERED },
};
