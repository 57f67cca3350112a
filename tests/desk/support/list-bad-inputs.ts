import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { OPERATOR, SITE_HOST } from '../server/whole-site.tsx';
import corpus from './bad-inputs.json' with { type: 'json' };

/** Bytes for one connection, and the responses that are acceptable. */
export interface BadInput {
  /** The part of the site that they are sent to: `page`, `tunnel`. */
  readonly door: string;
  readonly name: string;
  readonly bytes: Buffer;
  /** The maximum number of responses. More means that one request was read as several. */
  readonly most: number;
}

/** Addresses of the site under test, which the corpus names. `kept` is cached. */
const DOORS = {
  ...{ host: SITE_HOST, page: '/', kept: '/static', item: '/items/', form: '/form', action: 'form.tell' },
  ...{ api: '/api/echo', asset: '/assets/main-1.js', dsn: `https://spillway@${SITE_HOST}/1`, token: OPERATOR },
};

/** The path of a request that is hidden inside another one. It must never reach a handler. */
export const HIDDEN_PATH = '/hidden-in-another';

const FORM = 'application/x-www-form-urlencoded';
const PARTS = 'multipart/form-data; boundary=x';

/** Several thousand requests that no well-behaved client sends, for all parts of a site. The same in each run. */
export function listBadInputs(): BadInput[] {
  const { host, page, kept, item, form, action, api, asset, dsn, token } = DOORS;

  /** The texts of the corpus, in which `«ab*3»` is `ababab` and `{host}` is an address. */
  function list(name: keyof typeof corpus, names: Readonly<Record<string, string>> = {}): string[] {
    const values: Readonly<Record<string, string>> = { ...DOORS, HOST: host.toUpperCase(), ...names };
    return corpus[name].map((text) =>
      text
        .replace(/«(.+?)\*(\d+)»/gs, (_whole, unit: string, count) => unit.repeat(Number(count)))
        .replace(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole),
    );
  }

  const raw = (door: string, bytes: string | Buffer, most = 1, name = bytes.toString('latin1')): BadInput => ({
    door,
    name: name.slice(0, 80),
    bytes: typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes,
    most,
  });
  const write = (...lines: readonly string[]) => [...lines, 'Connection: close', '', ''].join('\r\n');

  /** A correctly framed request with any content, as UTF-8. */
  function send(door: string, line: string, headers: readonly string[] = [], body?: string | Buffer): BadInput {
    const bytes = Buffer.from((body ?? '') as string); // or a buffer, which is copied
    const isFramed = body === undefined || headers.some((header) => header.startsWith('Transfer-Encoding'));
    const length = isFramed ? [] : [`Content-Length: ${bytes.length}`];
    const head = Buffer.from(write(`${line} HTTP/1.1`, `Host: ${host}`, ...headers, ...length));
    return raw(door, Buffer.concat([head, bytes]), 1, `${line} ${body?.toString('latin1')}`);
  }
  const post = (door: string, path: string, type: string, body: string | Buffer, ...headers: string[]) =>
    send(door, `POST ${path}`, [`Content-Type: ${type}`, ...headers], body);

  const asOperator = `Authorization: Bearer ${token}`;
  const json = [
    ...list('json'),
    ...list('jsonBytes').map((text) => Buffer.from(text, 'latin1')),
    `{${Array.from({ length: 9000 }, (_, at) => `"k${at}":1`).join(',')}}`,
  ];
  const sound = Buffer.from(`_action=${action}&a=1`);
  const [part = ''] = list('parts');
  const forms: (readonly [type: string, body: string | Buffer, ...headers: string[]])[] = [
    ...list('fields').map((body) => [FORM, body] as const),
    [FORM, Array.from({ length: 20_000 }, (_, at) => `f${at}=1`).join('&')],
    [FORM, Buffer.from('a=\xff\xfe', 'latin1')],
    ...list('types').map((type) => [type, 'a=1'] as const),
    ...list('codings').map((coding) => [FORM, sound, `Content-Encoding: ${coding}`] as const),
    [FORM, gzipSync(Buffer.alloc(20_000_000)), 'Content-Encoding: gzip'],
    ...list('parts').map((body) => [PARTS, body] as const),
    ...list('partTypes').map((type) => [type, part] as const),
  ];
  const places = [page, form, api, '/_data', '/desk', '/_report', asset, '/livez', '/metrics', '/api/desk/incidents'];
  const ask = (door: string, line: string) => raw(door, write(`${line} HTTP/1.1`, `Host: ${host}`));
  const get = `GET ${page} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const hidden = `GET ${HIDDEN_PATH} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const outer = (path: string, lines: string, body: string) =>
    raw('smuggled', `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${lines}\r\n\r\n${body}`, 2);
  const fields = [`POST ${form} HTTP/1.1`, `Host: ${host}`, `Content-Type: ${FORM}`];

  const framing = [
    ...list('lines').map((line) => raw('line', write(line, `Host: ${host}`))),
    ...list('heads').map((lines) => raw('header', write(`GET ${page} HTTP/1.1`, lines))),
    ...list('lengths').map((length) => raw('body', `${write(...fields, `Content-Length: ${length}`)}a=1`)),
    ...list('chunks').map((body) => raw('body', write(...fields, 'Transfer-Encoding: chunked') + body)),
    // One response to the outer request. The hidden one can be refused as a second request, but is never handled.
    ...list('smuggled').flatMap((lines) => [
      outer(form, lines, `0\r\n\r\n${hidden}`),
      outer(api, `Content-Type: application/json\r\n${lines}`, '2\r\n{}\r\n0\r\n\r\n'),
    ]),
    raw('pipelined', get.repeat(40), 40),
    raw('pipelined and broken', `${get}${get}BROKEN\r\n\r\n`, 3),
    ...list('protocols').map((text) => raw('another protocol', text)),
    ...list('methods').flatMap((method) => places.map((place) => ask('method', `${method} ${place}`))),
    ...['desk', 'metrics', 'api/desk/incidents', 'private'].flatMap((name) => {
      const first = name.charCodeAt(0).toString(16);
      const names = { name, first, NAME: name.toUpperCase(), rest: name.slice(1) };
      return list('paths', names).map((path) => ask('path', `GET ${path}`));
    }),
    ...list('targets').flatMap((target) =>
      ['GET', 'POST', 'OPTIONS'].map((method) => ask('target', `${method} ${target}`)),
    ),
  ];

  const background = 'Accept: application/vnd.spillway.action+ndjson';
  const bodies = [
    ...json.flatMap((body) => [
      post('api', api, 'application/json', body),
      send('desk api', 'PATCH /api/desk/incidents/7K3QM2XA', ['Content-Type: application/json', asOperator], body),
      post('browser report', '/_report/browser', 'application/reports+json', body),
    ]),
    ...list('jsonTypes').map((type) => post('api', api, type, '{"text":"a"}')),
    ...forms.flatMap(([type, body, ...headers]) => [
      post('form', form, type, body, ...headers),
      post('form in the background', form, type, body, background, ...headers),
      post(
        'sign-in',
        '/desk',
        type,
        typeof body === 'string' ? body.replaceAll(action, 'root.signIn') : body,
        ...headers,
      ),
      post('nothing', '/nothing', type, body, ...headers),
    ]),
  ];

  const texts = list('texts').flatMap((text) => {
    const encoded = encodeURIComponent(text);
    // Clients remove line breaks here: on the wire, each would begin another header.
    const visible = text.replace(/[\r\n\0]/g, '');
    const file = `--x\r\nContent-Disposition: form-data; name="${visible}"; filename="${visible}"\r\n\r\n${text}\r\n--x--\r\n`;
    const everywhere = ['X-Text', 'User-Agent', 'Referer', 'Accept-Language'].map((name) => `${name}: ${visible}`);
    return [
      send('path', `GET ${item}${encoded}`),
      send('search', `GET ${page}?q=${encoded}&${encoded}=1`),
      send('header', `GET ${page}`, everywhere),
      send('cookie', `GET ${page}`, [`Cookie: a=${visible}; __Host-desk=${visible}`]),
      send('ETag', `GET ${kept}`, [`If-None-Match: ${visible}`, `Range: ${visible}`]),
      send('token', 'GET /metrics', [`Authorization: Bearer ${visible}`]),
      send('address of the desk', `GET /desk/${encoded}`),
      send('desk’s API', `GET /api/desk/incidents?search=${encoded}&after=${encoded}`, [asOperator]),
      post('JSON', api, 'application/json', JSON.stringify({ text, [text]: text })),
      post('file', form, PARTS, file),
    ];
  });

  const splinters = list('splinters').map((text) => Buffer.from(text, 'latin1'));
  const begin = Buffer.from(`${JSON.stringify({ dsn })}\n{"type":"event"}\n`);
  const exception = {
    values: [{ type: 'Error', value: 'boom', stacktrace: { frames: [{ filename: 'https://a.example' }] } }],
  };
  const envelope = Buffer.concat([begin, Buffer.from(JSON.stringify({ event_id: 'f'.repeat(32), exception }))]);
  const envelopes = [
    ...json.map((body) => Buffer.concat([begin, Buffer.from(body as string)])),
    Buffer.alloc(2_000_000, 'a'),
    ...listMutants(envelope, splinters, 200),
  ];

  const requests = [
    send('mutant', `GET ${page}`, ['Accept: text/html', 'Cookie: a=b']),
    send('mutant', `GET /_data${form}`, ['Accept-Encoding: gzip']),
    post('mutant', form, FORM, sound),
    post('mutant', api, 'application/json', '{"text":"a"}'),
    post('mutant', api, 'application/json', '5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n', 'Transfer-Encoding: chunked'),
  ];
  const mutants = requests.flatMap(({ door, bytes }) =>
    // An inserted line break can turn one request into two.
    listMutants(bytes, splinters, 100).map((mutant) => raw(door, mutant, 3)),
  );

  return [
    ...framing,
    ...bodies,
    ...texts,
    ...envelopes.map((body) => send('tunnel', 'POST /_report', [], body)),
    ...mutants,
  ];
}

/** Bytes of which a few are replaced, removed, doubled or inserted: the same mutants in each run. */
function listMutants(bytes: Buffer, splinters: readonly Buffer[], count: number): Buffer[] {
  const inserted = fc.oneof(fc.constantFrom(...splinters), fc.uint8Array({ maxLength: 1 }));
  const edit = fc.tuple(fc.nat(bytes.length), fc.nat(12), fc.nat(12), inserted);
  const mutant = fc.array(edit, { minLength: 1, maxLength: 4 }).map((edits) =>
    edits.reduce<Buffer>((given, [at, doubled, removed, added]) => {
      const parts = [given.subarray(0, at), given.subarray(at, at + doubled), added, given.subarray(at + removed)];
      return Buffer.concat(parts);
    }, bytes),
  );
  return fc.sample(mutant, { numRuns: count, seed: 1 });
}
