import { type BadInput, type Doors, toInput, toRequest } from './input.ts';
import { listTargets, spellBadly } from './paths.ts';

/** The path of a request that is hidden inside another one. It must never reach a handler. */
export const HIDDEN_PATH = '/hidden-in-another';

const METHODS = [
  ...[
    'TRACE',
    'TRACK',
    'CONNECT',
    'PURGE',
    'BAN',
    'PROPFIND',
    'PROPPATCH',
    'MKCOL',
    'COPY',
    'MOVE',
    'LOCK',
    'UNLOCK',
    'SEARCH',
  ],
  ...[
    'BIND',
    'REBIND',
    'ACL',
    'REPORT',
    'MKACTIVITY',
    'CHECKOUT',
    'MERGE',
    'M-SEARCH',
    'NOTIFY',
    'SUBSCRIBE',
    'LINK',
    'UNLINK',
  ],
  ...[
    'SOURCE',
    'QUERY',
    'PRI',
    'DEBUG',
    'JEFF',
    'get',
    'Get',
    'GET\t',
    ' GET',
    'GE T',
    'GET\0',
    'G\xcbT',
    '',
    'A'.repeat(300),
  ],
  ...['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'POST'],
];

/** Requests with broken or ambiguous framing. */
export function listFraming(doors: Doors): BadInput[] {
  const { host, page, form, api } = doors;
  const head = (line: string, ...lines: string[]) => [line, `Host: ${host}`, ...lines, '', ''].join('\r\n');
  const raw = (name: string, text: string, most = 1) => toInput('frame', name, text, most);
  const hidden = `GET ${HIDDEN_PATH} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  return [
    ...listLines(host, page).map((text) => raw('line', text)),
    ...listHeaders(host, page).map((text) => raw('header', text)),
    ...listBodies(host, form).map((text) => raw('body', text)),
    ...SMUGGLED.flatMap((lines) => [
      // One response to the outer request. The hidden one can be refused as a second request, but is never handled.
      raw('smuggled', `${head(`POST ${form} HTTP/1.1`, ...lines)}0\r\n\r\n${hidden}`, 2),
      raw(
        'smuggled',
        `${head(`POST ${api} HTTP/1.1`, 'Content-Type: application/json', ...lines)}2\r\n{}\r\n0\r\n\r\n`,
        2,
      ),
    ]),
    ...[
      ' HTTP/1.1',
      ' HTTP/1.0',
      '',
      ' HTTP/0.9',
      ' HTTP/2.0',
      ' HTTP/1.2',
      ' HTTP/9.9',
      ' http/1.1',
      ' HTTP/1.1 x',
      ' HTTPS/1.1',
    ].map((version) => raw('version', `GET ${page}${version}\r\nConnection: close\r\n\r\n`)),
    raw(
      'pipelined',
      toRequest(doors, { target: page, headers: ['Connection: keep-alive'] })
        .toString('latin1')
        .repeat(40),
      40,
    ),
    raw('pipelined and broken', `${head(`GET ${page} HTTP/1.1`)}${head(`GET ${page} HTTP/1.1`)}BROKEN\r\n\r\n`, 3),
    raw('a body that a GET has', `${head(`GET ${page} HTTP/1.1`, 'Content-Length: 4')}abcd`),
    raw('HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'),
    raw('TLS', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03'),
    raw('proxy protocol', `PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n${head(`GET ${page} HTTP/1.1`)}`),
    raw('a redis command', '*1\r\n$8\r\nFLUSHALL\r\n'),
    raw('a mail', 'HELO evil.example\r\nMAIL FROM:<a@b>\r\n'),
    raw('nothing', ''),
    raw('line ends', '\r\n'.repeat(100)),
    raw('zeros', '\0'.repeat(1000)),
  ];
}

function listLines(host: string, page: string): string[] {
  const end = `\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  return [
    ...[
      `GET${page} HTTP/1.1`,
      `GET  ${page}  HTTP/1.1`,
      `GET\t${page}\tHTTP/1.1`,
      `GET ${page} HTTP/1.1 `,
      ` GET ${page} HTTP/1.1`,
    ],
    ...[
      `GET ${page}\x0bHTTP/1.1`,
      `GET ${page}\0 HTTP/1.1`,
      `GET ${page} HTTP/1,1`,
      `GET ${page} HTTP/11`,
      `GET ${page} HTTP/1.`,
    ],
    ...[
      `GET ${page} HTTP/`,
      `GET ${page} HTTP/-1.1`,
      `GET ${page} HTTP/1.1\0`,
      `GET ${page} \x80TTP/1.1`,
      'GET HTTP/1.1',
      'GET',
      '\r\nGET',
    ],
    ...[
      `GET ${page} a b HTTP/1.1`,
      `GET "${page}" HTTP/1.1`,
      `GET <${page}> HTTP/1.1`,
      `GET {${page}} HTTP/1.1`,
      `HTTP/1.1 200 OK`,
    ],
    ...[`GET ${page} HTTP/1.1\r`, `GET ${page} HTTP/1.1\n`, `\n\n\nGET ${page} HTTP/1.1`, `GET ${page} HTTP/1.1\r\r`],
  ].map((line) => line + end);
}

function listHeaders(host: string, page: string): string[] {
  const one = (...lines: string[]) => [`GET ${page} HTTP/1.1`, ...lines, 'Connection: close', '', ''].join('\r\n');
  const own = (...lines: string[]) => one(`Host: ${host}`, ...lines);
  return [
    ...[
      '',
      ' ',
      'a b',
      'a/b',
      'a?b#c@d',
      '"><script>alert(1)</script>',
      'user:pass@host',
      'a:99999',
      'a:-1',
      'a:0',
      'a:b',
      '[::1',
      '::1',
    ],
    ...[
      'a,b',
      `${host},evil.example`,
      `${host} evil.example`,
      `${host}\tx`,
      `${host}.`,
      `.${host}`,
      `${host}:80:80`,
      '\xe9.example',
      '..',
      '%61',
    ],
    ...[
      'a\x7fb',
      '127.0.0.1',
      '0',
      '1.2.3',
      '[::ffff:1.2.3.4]',
      'localhost',
      'evil.example',
      'xn--a',
      'A'.repeat(300),
      `${host}/`,
      `http://${host}`,
    ],
  ]
    .map((name) => one(`Host: ${name}`))
    .concat(
      one(),
      one(`Host: ${host}`, 'Host: evil.example'),
      one('Host: evil.example', `Host: ${host}`),
      one(`Host: ${host}`, `Host: ${host}`),
      one(`host: ${host}`, 'HOST: evil.example'),
      one(`Host : ${host}`),
      one(` Host: ${host}`),
      one(`Host: ${host}`, ' evil.example'),
      own(': x'),
      own('X'),
      own('X Y: z'),
      own('X\0: y'),
      own('X: a\0b'),
      own('X: a\x01b'),
      own('X: a\x7fb'),
      own('X: a\rb'),
      own('X: a\nb'),
      own('X: a\r\n\tb'),
      own('X: a\r\n b'),
      own('X: \xff\xfe'),
      own('X(Y): z'),
      own('X@Y: z'),
      own('\xe9: z'),
      own(`X: ${'a'.repeat(15_000)}`),
      own(`X: ${'a'.repeat(20_000)}`),
      own(`${'a'.repeat(17_000)}: x`),
      own(...Array.from({ length: 3000 }, (_, index) => `X-${index}: y`)),
      own(...Array.from({ length: 500 }, () => 'X: y')),
      own(...Array.from({ length: 100 }, (_, index) => `Cookie: a${index}=b`)),
      own(`Cookie: ${'a=b; '.repeat(2000)}`),
      own('Cookie: __Host-desk=x; __Host-desk=y; desk="'),
      own('Cookie: ;;;=;=;a;=b;__proto__=c'),
      own('__proto__: a'),
      own('constructor: a', 'toString: b', 'hasOwnProperty: c'),
      own('Expect: 100-continue'),
      own('Expect: 200-ok'),
      own('Expect: '),
      own('Accept: text/html;q=x,,;;=', 'Accept-Language: ;;;', 'Accept-Encoding: ,;q=;,br;q=9'),
      own('Accept-Encoding: identity;q=0, *;q=0'),
      own('If-None-Match: "', 'If-Match: W/', 'If-Range: x', 'If-Modified-Since: never', 'If-Unmodified-Since: 0'),
      own('Range: bytes=0-', 'Range: bytes=-1', 'Range: bytes=9-1', 'Range: x'),
      own(`Range: bytes=${Array.from({ length: 1000 }, (_, index) => `${index}-${index}`).join(',')}`),
      own('Authorization: Bearer', 'Authorization: Basic !!!'),
      own(`Authorization: Bearer ${'a'.repeat(5000)}`),
      own('Origin: null', 'Sec-Fetch-Site: x', 'Referer: \\'),
      own('traceparent: 00-0-0-0', 'baggage: ,,,=', 'sentry-trace: --', 'tracestate: \x09'),
      own(
        'X-Forwarded-For: ,,,',
        'X-Forwarded-Proto: javascript',
        'X-Forwarded-Host: a/b',
        'Forwarded: for="[::',
        'Via: ',
      ),
      own('Last-Event-ID: \x01', 'Accept: text/event-stream'),
      own('Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Key: x', 'Sec-WebSocket-Version: 13'),
      own('Upgrade: h2c', 'Connection: Upgrade, HTTP2-Settings', 'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA'),
      own('Upgrade: TLS/1.0', 'Connection: Upgrade'),
      own('Upgrade: websocket, h2c', 'Connection: upgrade'),
    );
}

function listBodies(host: string, form: string): string[] {
  const post = (lines: readonly string[], body: string) =>
    [
      `POST ${form} HTTP/1.1`,
      `Host: ${host}`,
      'Content-Type: application/x-www-form-urlencoded',
      ...lines,
      'Connection: close',
      '',
      body,
    ].join('\r\n');
  const lengths = [
    '-1',
    '+3',
    '0x3',
    '3.0',
    '3e0',
    '3 3',
    '3,3',
    '3, 4',
    '"3"',
    '',
    ' ',
    'abc',
    '9'.repeat(30),
    '18446744073709551616',
    '03',
    '3;',
    '\t3',
  ];
  const chunks = [
    ...[
      '3\r\na=1\r\n0\r\n\r\n',
      '3;x=y\r\na=1\r\n0\r\n\r\n',
      '3;\r\na=1\r\n0\r\n\r\n',
      '3 \r\na=1\r\n0\r\n\r\n',
      ' 3\r\na=1\r\n0\r\n\r\n',
    ],
    ...[
      '0x3\r\na=1\r\n0\r\n\r\n',
      '-3\r\na=1\r\n0\r\n\r\n',
      '+3\r\na=1\r\n0\r\n\r\n',
      '3\na=1\n0\n\n',
      '3\ra=1\r0\r\r',
      '3\r\na=1 0\r\n\r\n',
    ],
    ...[
      '4\r\na=1\r\n0\r\n\r\n',
      '2\r\na=1\r\n0\r\n\r\n',
      'g\r\na=1\r\n0\r\n\r\n',
      `${'f'.repeat(17)}\r\na=1\r\n0\r\n\r\n`,
      '\r\n\r\n',
      '0\r\n',
      '3\r\na=',
    ],
    ...[
      '3\r\na=1\r\n0\r\nHost: evil.example\r\n\r\n',
      '3\r\na=1\r\n0\r\nContent-Length: 9\r\n\r\n',
      '3\r\na=1\r\n0\r\n: x\r\n\r\n',
    ],
    ...[
      '3\r\na=1\r\n00000000\r\n\r\n',
      `3;${'x'.repeat(20_000)}\r\na=1\r\n0\r\n\r\n`,
      '3"\r\na=1\r\n0\r\n\r\n',
      '3\0\r\na=1\r\n0\r\n\r\n',
    ],
  ];
  return [
    ...lengths.map((length) => post([`Content-Length: ${length}`], 'a=1')),
    ...chunks.map((body) => post(['Transfer-Encoding: chunked'], body)),
    post([], 'a=1'),
    post(['Content-Length: 10'], 'a=1'),
    post(['Content-Length: 3', 'Expect: 100-continue'], 'a=1'),
  ];
}

/** Lengths and codings that two parsers may frame differently. */
const SMUGGLED: readonly (readonly string[])[] = [
  ...[
    'chunked',
    'xchunked',
    'chunked, identity',
    'identity, chunked',
    'identity',
    'chunked, chunked',
    'Chunked',
    '"chunked"',
    'chunked;a=b',
  ].flatMap((coding) => [
    ...(/^chunked$/i.test(coding) ? [] : [[`Transfer-Encoding: ${coding}`]]), // valid
    [`Transfer-Encoding: ${coding}`, 'Content-Length: 5'],
    ['Content-Length: 5', `Transfer-Encoding: ${coding}`],
  ]),
  ...[
    'Transfer-Encoding : chunked',
    ' Transfer-Encoding: chunked',
    'Transfer-Encoding:\x0bchunked',
    'Transfer-Encoding:\tchunked',
    'Transfer-Encoding: \x00chunked',
  ].map((line) => [line, 'Content-Length: 5']),
  ...[
    'Transfer_Encoding: chunked',
    'X: y\nTransfer-Encoding: chunked',
    'Transfer-Encoding\n : chunked',
    'Transfer-Encoding: chunked\n',
    'Transfer-Encoding: chun\r\n ked',
  ].map((line) => [line, 'Content-Length: 5']),
  ['Transfer-Encoding: gzip, chunked'],
  ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
  ['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'],
  ['Content-Length: 5', 'Content-Length: 6'],
  ['Content-Length: 5', 'Content-Length: 5'],
  ['Content-Length: 5, 5'],
  ['Content-Length: 5', 'Content-Length : 6'],
  ['Content-Length: 0', 'Connection: Content-Length'],
  ['Content-Length:5', 'content-length: 05'],
];

/** Methods, paths and targets for each part of the site. */
export function listAddresses(doors: Doors): BadInput[] {
  const { host, page, form, api, asset } = doors;
  const places = [page, form, api, '/_data', '/desk', '/_report', asset, '/livez', '/metrics', '/api/desk/incidents'];
  const ask = (target: string, method = 'GET') =>
    Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`, 'latin1');
  return [
    ...METHODS.flatMap((method) => places.map((place) => toInput('method', `${method} ${place}`, ask(place, method)))),
    ...['desk', 'metrics', 'api/desk/incidents', 'private'].flatMap((name) =>
      spellBadly(name).map((path) => toInput('path', path, ask(path))),
    ),
    ...listTargets(host).flatMap((target) =>
      ['GET', 'POST', 'OPTIONS'].map((method) => toInput('target', `${method} ${target}`, ask(target, method))),
    ),
  ];
}
