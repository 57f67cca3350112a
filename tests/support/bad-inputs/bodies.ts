import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { type BadInput, type Doors, toInput, toRequest } from './input.ts';
import { createRandom, mutate } from './random.ts';
import { TEXTS } from './texts.ts';

const FORM = 'application/x-www-form-urlencoded';

/** JSON texts, and bytes that are sent as JSON: malformed, ambiguous, deep, wide, long. */
export function listJson(): (string | Buffer)[] {
  const nest = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);
  const value = (text: string) => `{"text":${text}}`;
  return [
    ...[
      '',
      ' ',
      '{',
      '}',
      '[',
      ']',
      '{}',
      '[]',
      '{}{}',
      '[]]',
      '{"a"}',
      '{"a":}',
      '{:1}',
      '{,}',
      '[,]',
      '[1,]',
      '{"a":1,}',
      '{"a":1;}',
      '{a:1}',
    ],
    ...[
      "{'a':1}",
      '{1:1}',
      '{"a" 1}',
      '{"a":1 "b":2}',
      '{"a":1}//x',
      '/**/{}',
      '{}\0',
      '\0{}',
      '"text"',
      '1',
      'null',
      'true',
      'nul',
      'tru',
      'NaN',
    ],
    ...[
      '1',
      '-',
      '+1',
      '01',
      '-01',
      '1.',
      '.1',
      '1e',
      '1e+',
      '1E+-2',
      '0x1',
      '1_0',
      '- 1',
      '１',
      'Infinity',
      '-Infinity',
      '1e400',
      '-1e400',
    ].map(value),
    ...[
      '1e-400',
      '9007199254740993',
      '12345678901234567890',
      '1'.repeat(5000),
      `0.${'0'.repeat(5000)}1`,
      '1e99999999999',
      '-0',
    ].map(value),
    ...[
      '"',
      '"\\',
      '"\\x"',
      '"\\u12"',
      '"\\u00g0"',
      '"\\ud800"',
      '"\\udc00\\ud800"',
      '"\\u0000"',
      '"\n"',
      '"\t"',
      '"\u007f"',
      '"\\a"',
      "'x'",
    ].map(value),
    ...[
      '"\\u2028"',
      '"</script>"',
      '"<!--"',
      '[["a"]]',
      '{"a":{}}',
      'null',
      'false',
      '[]',
      '""',
      '"\ufeff"',
      '"\u0301"',
    ].map(value),
    ...[
      '{"a":1,"a":2}',
      '{"text":"a","text":"b"}',
      '{"text":"a","\\u0074ext":"b"}',
      '{"__proto__":{"polluted":1}}',
      '{"__proto__":null}',
    ],
    ...[
      '{"constructor":{"prototype":{"polluted":1}}}',
      '{"a":{"__proto__":{"polluted":1}}}',
      '[{"__proto__":{"polluted":1}}]',
    ],
    ...[
      '{"toJSON":1,"then":1,"length":-1}',
      '{"toString":1,"valueOf":2}',
      '{"hasOwnProperty":1}',
      '{"$$typeof":"x","type":"script"}',
    ],
    ...[32, 33, 100, 1000, 10_000, 49_000].flatMap((depth) => [
      nest('[', ']', depth),
      '['.repeat(depth),
      nest('{"a":', '}', depth),
    ]),
    ...[
      `[${'1,'.repeat(50_000)}1]`,
      `[${'[],'.repeat(30_000)}[]]`,
      `{${Array.from({ length: 9000 }, (_, at) => `"k${at}":1`).join(',')}}`,
    ],
    ...[
      `{"${'a'.repeat(90_000)}":1}`,
      `{"text":"${'a'.repeat(99_000)}"}`,
      `{"text":"${'a'.repeat(200_000)}"}`,
      ' '.repeat(99_000),
    ],
    Buffer.from('\ufeff{}'),
    Buffer.from('\ufeff'),
    Buffer.from('{"text":"a"}', 'utf16le'),
    Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from('{"text":"a"}', 'utf16le').swap16()]),
    ...[
      '{"text":"\xff"}',
      '{"text":"\xc0\xaf"}',
      '{"text":"\xed\xa0\x80"}',
      '{"text":"\xf4\x90\x80\x80"}',
      '{"text":"\xc3"}',
      '{\xff:1}',
      '\x80',
    ].map((text) => Buffer.from(text, 'latin1')),
  ];
}

/** Form bodies, each with its content type. */
export function listForms(action: string): { type: string; body: string | Buffer; headers?: readonly string[] }[] {
  const fields = (body: string | Buffer, type = FORM, ...headers: string[]) => ({ type, body, headers });
  const parts = (text: string, type = 'multipart/form-data; boundary=x') => fields(text.replaceAll('\n', '\r\n'), type);
  const part = (disposition: string, body = 'a') =>
    `--x\nContent-Disposition: form-data; ${disposition}\n\n${body}\n--x--\n`;
  const sound = Buffer.from(`_action=${action}&a=1`);
  const bomb = gzipSync(Buffer.alloc(20_000_000));
  return [
    ...[
      '',
      '=',
      '&',
      '&&&',
      '===',
      'a',
      '=a',
      'a=%',
      'a=%zz',
      'a=%ff',
      'a=%C3',
      'a=%00',
      '%00=a',
      'a=%ED%A0%80',
      'a=+',
      'a=;',
      'a=\r\nb',
    ].map((text) => fields(text)),
    ...[
      '__proto__=1',
      '__proto__[polluted]=1',
      'constructor[prototype][polluted]=1',
      'a[__proto__][polluted]=1',
      'a.b.c=1',
      'a[]=1&a[]=2',
    ].map((text) => fields(text)),
    ...[
      '_action',
      '_action=',
      '_action=.',
      '_action=x',
      '_action=__proto__.x',
      `_action=${action}&_action=x`,
      `_action=${action}%00`,
      '_action=constructor',
    ].map((text) => fields(text)),
    ...[1000, 1001, 20_000].map((count) => fields(Array.from({ length: count }, (_, at) => `f${at}=1`).join('&'))),
    ...[
      fields(`${'a[b]'.repeat(1000)}=1`),
      fields(`a${'[]'.repeat(1000)}=1`),
      fields('a[100000]=1'),
      fields(`a=${'x'.repeat(60_000)}`),
      fields('x'.repeat(1_200_000)),
    ],
    fields(Buffer.from('a=\xff\xfe', 'latin1')),
    fields(Buffer.from('a=1', 'utf16le')),
    ...['utf-16', 'utf-7', 'utf-16le', 'iso-8859-1', 'x', '""', 'utf-8"'].map((charset) =>
      fields('a=1', `${FORM}; charset=${charset}`),
    ),
    ...[
      '',
      'x',
      'text/plain',
      'text/html',
      'application/json',
      'application/xml',
      'multipart/mixed',
      '*/*',
      '/',
      ';',
      `${FORM},text/plain`,
      `${FORM};;;`,
      'a'.repeat(5000),
    ].map((type) => fields('a=1', type)),
    ...[
      'br',
      'zstd',
      'gzip',
      'deflate',
      'compress',
      'x-gzip',
      'gzip, gzip',
      'identity, gzip',
      'GZIP',
      'gzip;q=1',
      '',
      ' ',
      'nonsense',
    ].map((coding) => fields(sound, FORM, `Content-Encoding: ${coding}`)),
    fields(gzipSync(sound), FORM, 'Content-Encoding: gzip'),
    fields(brotliCompressSync(sound), FORM, 'Content-Encoding: br'),
    fields(zstdCompressSync(sound), FORM, 'Content-Encoding: zstd'),
    fields(deflateSync(sound), FORM, 'Content-Encoding: deflate'),
    fields(bomb, FORM, 'Content-Encoding: gzip'),
    fields(gzipSync(bomb), FORM, 'Content-Encoding: gzip, gzip'),
    ...[
      'name="a"',
      'name=a',
      'name',
      '',
      'name=""',
      'name="a',
      'name="__proto__"',
      `name="_action"`,
      'name="a"; filename=""',
      'name="a"; filename="../../x"',
      'name="a"; filename="\0"',
      'name="a"; filename*=utf-8\'\'%ff',
      'name="\xff"',
      'name="a"; name="b"',
      `name="${'a'.repeat(20_000)}"`,
    ].map((text) => parts(part(text))),
    ...[
      '',
      '--x',
      '--x--',
      '--x\n',
      '--x\n\n',
      '--x\n\na\n--x--',
      '--x\n:\n\n\n--x--',
      'a',
      '--y\n\n--y--',
      '--x\nContent-Disposition: form-data; name="a"\n\n',
      `${'--x\n'.repeat(3000)}`,
      '\0'.repeat(100),
    ].map((text) => parts(text)),
    ...[
      'multipart/form-data',
      'multipart/form-data; boundary=',
      'multipart/form-data; boundary=""',
      `multipart/form-data; boundary=${'x'.repeat(300)}`,
      'multipart/form-data; boundary=x; boundary=y',
      'multipart/form-data; boundary=\xff',
      'multipart/form-data; boundary="x',
    ].map((type) => parts(part('name="a"'), type)),
  ];
}

export function listBodies(doors: Doors): BadInput[] {
  const json = listJson();
  const named = (body: string | Buffer) => body.toString('latin1');
  const post = (door: string, target: string, type: string, body: string | Buffer, headers: readonly string[] = []) =>
    toInput(
      door,
      named(body),
      toRequest(doors, { method: 'POST', target, body, headers: [`Content-Type: ${type}`, ...headers] }),
    );
  const asOperator = [`Authorization: Bearer ${doors.token}`];
  const forms = listForms(doors.action);
  const signIn = listForms('root.signIn');
  return [
    ...json.map((body) => post('api', doors.api, 'application/json', body)),
    ...json.map((body) => post('desk api', '/api/desk/incidents/7K3QM2XA/notes', 'application/json', body, asOperator)),
    ...json.map((body) => post('browser report', '/_report/browser', 'application/reports+json', body)),
    ...[
      'application/json; charset=utf-16',
      'application/json; charset=utf-7',
      'application/json;charset=',
      'text/json',
      'application/json, x',
      'application/vnd.api+json',
      'APPLICATION/JSON',
      '',
    ].map((type) => post('api', doors.api, type, '{"text":"a"}')),
    ...['br', 'zstd', 'gzip', 'deflate', 'gzip, gzip', 'x'].map((coding) =>
      post('api', doors.api, 'application/json', '{}', [`Content-Encoding: ${coding}`]),
    ),
    ...forms.map(({ type, body, headers }) => post('form', doors.form, type, body, headers)),
    ...forms.map(({ type, body, headers }) =>
      post('form in the background', doors.form, type, body, [
        'Accept: application/vnd.spillway.action+ndjson',
        ...(headers ?? []),
      ]),
    ),
    ...forms.map(({ type, body, headers }) => post('feedback', `${doors.page}?_feedback`, type, body, headers)),
    ...signIn.map(({ type, body, headers }) => post('sign-in', '/desk', type, body, headers)),
    ...forms.slice(0, 40).map(({ type, body, headers }) => post('nothing', '/nothing', type, body, headers)),
  ];
}

/** Invalid reports in the format of the browser SDK. */
export function listEnvelopes(doors: Doors): BadInput[] {
  const event = {
    event_id: 'f'.repeat(32),
    platform: 'javascript',
    exception: {
      values: [
        {
          type: 'Error',
          value: 'boom',
          stacktrace: { frames: [{ filename: 'https://a.example/x.js', lineno: 1, colno: 2 }] },
        },
      ],
    },
  };
  const write = (header: unknown, ...lines: readonly (string | object)[]) =>
    [header, ...lines].map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  const own = (...lines: readonly (string | object)[]) => write({ dsn: doors.dsn, event_id: event.event_id }, ...lines);
  const sound = Buffer.from(own({ type: 'event' }, event));
  const random = createRandom(7);
  const dsns = [
    ...[
      '',
      'x',
      null,
      1,
      {},
      [],
      'http://',
      'https://a@b/',
      'https://spillway@169.254.169.254/1',
      'https://spillway@[::1]/1',
      'https://spillway@2130706433/1',
    ],
    ...[
      'https://spillway@evil.example/1',
      `${doors.dsn}/`,
      `${doors.dsn}\r\nX: y`,
      `${doors.dsn}?a`,
      `${doors.dsn}#`,
      doors.dsn.toUpperCase(),
      ` ${doors.dsn}`,
      'gopher://a@b/1',
    ],
  ];
  const values = [
    '',
    null,
    1,
    true,
    [],
    {},
    'x'.repeat(20_000),
    '\u0000',
    '<script>alert(1)</script>',
    { a: { a: {} } },
    [[[]]],
    -1,
    1e308,
    '__proto__',
  ];
  const keys = [
    'event_id',
    'timestamp',
    'platform',
    'level',
    'exception',
    'message',
    'breadcrumbs',
    'tags',
    'user',
    'request',
    'contexts',
    'extra',
    'release',
    'environment',
    'fingerprint',
    'sdk',
    'debug_meta',
    'transaction',
  ];
  const bodies: (string | Buffer)[] = [
    ...dsns.map((dsn) => write({ dsn }, { type: 'event' }, event)),
    ...keys.flatMap((key) => values.map((value) => own({ type: 'event' }, { ...event, [key]: value }))),
    ...listJson().map((body) => Buffer.concat([Buffer.from(own({ type: 'event' }, '')), Buffer.from(body as string)])),
    ...[0, -1, 1e9, 1.5, '5', null, 2 ** 53].map((length) => own({ type: 'event', length }, event)),
    ...[
      '',
      'EVENT',
      '__proto__',
      1,
      null,
      'a'.repeat(100),
      'session',
      'attachment',
      'feedback',
      'user_report',
      'transaction',
      'check_in',
    ].map((type) => own({ type }, event)),
    ...[
      '',
      '\n',
      '{}',
      '[]',
      'null',
      '{}\n{}',
      '{"dsn":1}',
      own(),
      own({}),
      own({ type: 'event' }),
      own({ type: 'event' }, ''),
      own({ type: 'event' }, '{}'),
    ],
    own(...Array.from({ length: 101 }, () => [{ type: 'session' }, {}]).flat()),
    own({ type: 'event' }, event, { type: 'event' }, event),
    Array.from({ length: 300 }, () => sound.toString()).join('\n'),
    Buffer.alloc(2_000_000, 0x61),
    ...Array.from({ length: 200 }, () => mutate(random, sound)),
  ];
  const codings = [
    gzipSync(sound),
    deflateSync(sound),
    brotliCompressSync(sound),
    zstdCompressSync(sound),
    gzipSync(Buffer.alloc(20_000_000)),
    sound,
  ];
  const send = (body: string | Buffer, ...headers: string[]) =>
    toInput(
      'tunnel',
      body.toString('latin1').slice(0, 60),
      toRequest(doors, { method: 'POST', target: '/_report', body, headers }),
    );
  return [
    ...bodies.map((body) => send(body)),
    ...codings.flatMap((body) =>
      ['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip'].map((coding) => send(body, `Content-Encoding: ${coding}`)),
    ),
  ];
}

/** Puts each strange text into every place that accepts text. */
export function listTexts(doors: Doors): BadInput[] {
  const { page, kept, item, form, api, action, token } = doors;
  return TEXTS.flatMap((text) => {
    const encoded = encodeURIComponent(text);
    // Clients remove line breaks here: on the wire, each would begin another header.
    const visible = text.replace(/[\r\n\0]/g, '');
    const one = (door: string, parts: Parameters<typeof toRequest>[1]) => toInput(door, text, toRequest(doors, parts));
    const post = (door: string, target: string, body: string, type = FORM, ...headers: string[]) =>
      one(door, { method: 'POST', target, body, headers: [`Content-Type: ${type}`, ...headers] });
    return [
      one('text in a path', { target: item + encoded }),
      one('text in page data', { target: `/_data${item}${encoded}` }),
      one('text as a target', { target: `/${visible.replaceAll(' ', '')}` }),
      one('text in a search', { target: `${page}?q=${encoded}&${encoded}=1` }),
      one('text in a kept page’s search', { target: `${kept}?${encoded}` }),
      one('text in a header', {
        target: page,
        headers: [`X-Text: ${visible}`, `User-Agent: ${visible}`, `Referer: ${visible}`, `Accept-Language: ${visible}`],
      }),
      one('text in a cookie', { target: page, headers: [`Cookie: a=${visible}; __Host-desk=${visible}`] }),
      one('text in an ETag', { target: kept, headers: [`If-None-Match: ${visible}`, `Range: ${visible}`] }),
      one('text as a token', { target: '/metrics', headers: [`Authorization: Bearer ${visible}`] }),
      one('text as an address of the desk', { target: `/desk/${encoded}` }),
      one('text in the desk’s API', {
        target: `/api/desk/incidents?search=${encoded}&after=${encoded}`,
        headers: [`Authorization: Bearer ${token}`],
      }),
      one('text as a build', { target: `/assets/${encoded}.js` }),
      post('text in a form', form, `_action=${encodeURIComponent(action)}&${encoded}=${encoded}`),
      post('text as an action', form, `_action=${encoded}&a=1`),
      post('text to sign in', '/desk', `_action=root.signIn&token=${encoded}`),
      post('text in JSON', api, JSON.stringify({ text, [text]: text })),
      post('text in JSON', api, JSON.stringify({ text }), 'application/json'),
      post(
        'text of a file',
        form,
        `--x\r\nContent-Disposition: form-data; name="${visible}"; filename="${visible}"\r\n\r\n${text}\r\n--x--\r\n`,
        'multipart/form-data; boundary=x',
      ),
      post('text as a type', form, 'a=1', visible),
    ];
  });
}

/** Valid requests with a few bytes changed. */
export function listMutants(doors: Doors, seed: number, count: number): BadInput[] {
  const random = createRandom(seed);
  const sound = [
    toRequest(doors, { target: doors.page, headers: ['Accept: text/html', 'Cookie: a=b'] }),
    toRequest(doors, { target: `/_data${doors.form}`, headers: ['Accept-Encoding: gzip'] }),
    toRequest(doors, {
      method: 'POST',
      target: doors.form,
      body: `_action=${doors.action}&a=1`,
      headers: [`Content-Type: ${FORM}`],
    }),
    toRequest(doors, {
      method: 'POST',
      target: doors.api,
      body: '{"text":"a"}',
      headers: ['Content-Type: application/json'],
    }),
    toRequest(doors, {
      method: 'POST',
      target: doors.api,
      body: '5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n',
      headers: ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
    }),
    toRequest(doors, { target: doors.asset, headers: ['Range: bytes=0-4', 'If-None-Match: "a"'] }),
  ];
  return Array.from({ length: count }, (_, at) => {
    const bytes = mutate(random, sound[at % sound.length] as Buffer);
    // An inserted line break can turn one request into two.
    return toInput('mutant', `${seed}/${at}`, bytes, 3);
  });
}
