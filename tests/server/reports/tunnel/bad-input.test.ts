import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseReply, sendRaw } from '../../../support/raw-http.ts';
import { createEvent, startTunnelSite, type TunnelSite, writeEnvelope } from '../../../support/tunnel-site.ts';

const DSN = 'https://abc123@o1.ingest.example/7';
const MB = 1 << 20;

/** Has an upstream, to detect anything that must not be forwarded. */
let site: TunnelSite;
/** A server that no configuration names. It counts connections that should not happen. */
let trap: Server;
let trapped = 0;

beforeAll(async () => {
  site = await startTunnelSite({ upstreamDsn: DSN });
  trap = createServer((_req, res) => {
    trapped += 1;
    res.end();
  });
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  site.close();
  trap.close();
});

function event(payload: string | Uint8Array): Buffer {
  return writeEnvelope({ dsn: DSN }, [{ type: 'event' }, payload]);
}

const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);
const bytes = (...values: number[]) => Buffer.from(values);

/** Invalid JSON, based on the `n_*` cases of the JSON parsing test suite. */
const NO_JSON = [
  '',
  ' ',
  '{',
  '}',
  '[',
  '{"a":1',
  '{"a":1}}',
  '{"a":1}{}',
  '{"a":1}#',
  '{"a":1,}',
  '{,}',
  '{"a"}',
  '{"a":}',
  '{"a":1 "b":2}',
  "{'a':1}",
  '{a:1}',
  '{1:1}',
  '{"a":NaN}',
  '{"a":Infinity}',
  '{"a":-Infinity}',
  '{"a":undefined}',
  '{"a":0x1}',
  '{"a":01}',
  '{"a":+1}',
  '{"a":.5}',
  '{"a":1.}',
  '{"a":1e}',
  '{"a":--1}',
  '{"a":tru}',
  '{"a":True}',
  '{"a":"\t"}',
  '{"a":"\\x00"}',
  '{"a":"\\u00g0"}',
  '{"a":"\\',
  '{"a":"\u0000"}',
  '{"a":1} garbage',
  '/* */{}',
  '<html></html>',
  'null',
  'true',
  '12',
  '"text"',
  '[]',
  '[{"message":"a"}]',
  '\uFEFF{}',
  'undefined',
  'new Date()',
].map((text) => [`the event ${JSON.stringify(text)}`, event(text), 400] as const);

const NO_TEXT = [
  ['a lone continuation byte', bytes(0x80)],
  ['an overlong slash', bytes(0xc0, 0xaf)],
  ['half a character', bytes(0xe2, 0x82)],
  ['a surrogate', bytes(0xed, 0xa0, 0x80)],
  ['a byte beyond Unicode', bytes(0xf5, 0x80, 0x80, 0x80)],
  ['0xff', bytes(0xff)],
].flatMap(([name, odd]) => {
  const text = Buffer.concat([Buffer.from('{"message":"'), odd as Buffer, Buffer.from('"}')]);
  return [
    [`${name} in the event`, event(text), 400] as const,
    [
      `${name} in the header`,
      Buffer.concat([Buffer.from(`{"dsn":"${DSN}","a":"`), odd as Buffer, Buffer.from('"}')]),
      400,
    ] as const,
  ];
});

const UTF16 = [
  ['UTF-16 LE', event(Buffer.from('{"message":"a"}', 'utf16le')), 400],
  ['a body in UTF-16', Buffer.from(writeEnvelope({ dsn: DSN }).toString(), 'utf16le'), 400],
] as const;

const SHAPES = [
  ['objects nested 33 deep', event(`${'{"a":'.repeat(33)}1${'}'.repeat(33)}`), 400],
  ['arrays nested 1,000 deep', event(`{"a":${nested('[', ']', 1000)}}`), 400],
  ['arrays nested 500,000 deep', event(`{"a":${nested('[', ']', 499_000)}}`), 400],
  ['unclosed arrays', event(`{"a":${'['.repeat(500_000)}`), 400],
  ['an array of 200,000 numbers', event(`{"a":[${'0,'.repeat(200_000)}0]}`), 413],
  ['an object of 60,000 keys', event(`{${Array.from({ length: 60_000 }, (_, key) => `"k${key}":1`).join(',')}}`), 413],
  ['a line of 1 MB', Buffer.alloc(MB, 'x'), 413],
  ['a header of 1 MB', Buffer.from(`{"dsn":"${DSN}","a":"${'x'.repeat(MB - 100)}"}`), 413],
  ['1 MB of line feeds', Buffer.alloc(MB, '\n'), 400],
  ['1 MB of zeros', Buffer.alloc(MB), 413],
  [
    '101 items',
    writeEnvelope({ dsn: DSN }, ...Array.from({ length: 101 }, () => [{ type: 'session' }, '{}'] as const)),
    413,
  ],
  ['2 events', writeEnvelope({ dsn: DSN }, [{ type: 'event' }, {}], [{ type: 'event' }, {}]), 400],
  [
    '100 events',
    writeEnvelope({ dsn: DSN }, ...Array.from({ length: 100 }, () => [{ type: 'event' }, {}] as const)),
    400,
  ],
  ['an event and feedback', writeEnvelope({ dsn: DSN }, [{ type: 'event' }, {}], [{ type: 'feedback' }, {}]), 400],
  ['2 user reports', writeEnvelope({ dsn: DSN }, [{ type: 'user_report' }, {}], [{ type: 'user_report' }, {}]), 400],
  ['empty feedback', writeEnvelope({ dsn: DSN }, [{ type: 'feedback' }, {}]), 400],
  [
    'feedback whose message is a number',
    writeEnvelope({ dsn: DSN }, [{ type: 'feedback' }, { contexts: { feedback: { message: 1 } } }]),
    400,
  ],
  ['an empty user report', writeEnvelope({ dsn: DSN }, [{ type: 'user_report' }, { comments: '   ' }]), 400],
  ['a user report that is an array', writeEnvelope({ dsn: DSN }, [{ type: 'user_report' }, []]), 400],
  ['a transaction that is not JSON', writeEnvelope({ dsn: DSN }, [{ type: 'transaction' }, 'x']), 400],
] as const;

const FRAMING = [
  '',
  '\n',
  '\n\n{}',
  'x',
  '{}{}',
  '{"dsn"',
  '[]\n',
  '"dsn"',
  'null',
  '-1',
  `{"dsn":"${DSN}"}\n{`,
  `{"dsn":"${DSN}"}\n{}\n{}`,
  `{"dsn":"${DSN}"}\nnull\n{}`,
  `{"dsn":"${DSN}"}\n[]\n{}`,
  `{"dsn":"${DSN}"}\n{"type":""}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":null}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":["event"]}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":"EVENT"}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":"event "}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":"../event"}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":"event\\u0000"}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":"event\\r\\nX: 1"}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":"event","length":99}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":"event","length":1}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":"event","length":-2}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":"event","length":2.5}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":"event","length":9007199254740993}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":"event","length":1e308}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":"event","length":"2"}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":"event","length":{}}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":"event","length":true}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":"attachment","length":2147483648}\nx`,
  `{"dsn":"${DSN}"}\n{"type":"attachment","length":3}\nab\n{"type":"event"}\n{}`,
  `{"dsn":"${DSN}"}\n{"type":"event"}\n{"message":\n"a"}`,
  `{"dsn":"${DSN}"}\n{"type":"event"}`,
  `{"dsn":"${DSN}"}\r{"type":"event"}\r{}`,
].map((text) => [`the envelope ${JSON.stringify(text).slice(0, 110)}`, Buffer.from(text), 400] as const);

/** DSNs that an attacker wants the tunnel to connect to, and other spellings of the configured DSN. */
const FOREIGN_DSNS = [
  'http://abc123@127.0.0.1:PORT/7',
  'http://abc123@localhost:PORT/7',
  'http://abc123@LOCALHOST:PORT/7',
  'http://abc123@localhost.:PORT/7',
  'http://abc123@127.1:PORT/7',
  'http://abc123@127.0.1:PORT/7',
  'http://abc123@2130706433:PORT/7',
  'http://abc123@0x7f000001:PORT/7',
  'http://abc123@0x7f.0.0.1:PORT/7',
  'http://abc123@0177.0.0.1:PORT/7',
  'http://abc123@017700000001:PORT/7',
  'http://abc123@127.0.0.1.:PORT/7',
  'http://abc123@127.127.127.127:PORT/7',
  'http://abc123@0:PORT/7',
  'http://abc123@0.0.0.0:PORT/7',
  'http://abc123@[::1]:PORT/7',
  'http://abc123@[::]:PORT/7',
  'http://abc123@[::ffff:127.0.0.1]:PORT/7',
  'http://abc123@[::ffff:7f00:1]:PORT/7',
  'http://abc123@[0:0:0:0:0:ffff:127.0.0.1]:PORT/7',
  'http://abc123@[::1%25lo]:PORT/7',
  'http://abc123@①②⑦.⓪.⓪.①:PORT/7',
  'http://abc123@127。0。0。1:PORT/7',
  'http://abc123@localtest.me:PORT/7',
  'http://abc123@127.0.0.1.nip.io:PORT/7',
  'http://abc123@169.254.169.254/7',
  'http://abc123@[fd00:ec2::254]/7',
  'http://abc123@metadata.google.internal/7',
  'https://o1.ingest.example@127.0.0.1:PORT/7',
  'https://abc123@o1.ingest.example@127.0.0.1:PORT/7',
  'https://abc123:x@o1.ingest.example/7',
  'https://abc123:@o1.ingest.example/7',
  'https://abc123@127.0.0.1:PORT\\@o1.ingest.example/7',
  'https://abc123@127.0.0.1:PORT#@o1.ingest.example/7',
  'https://abc123@127.0.0.1:PORT?@o1.ingest.example/7',
  'https://abc123@127.0.0.1:PORT/7?x=@o1.ingest.example/7',
  'https://abc123@o1.ingest.example:PORT/7',
  'https://abc123@o1.ingest.example:443/7',
  'https://abc123@o1.ingest.example:80/7',
  'https://abc123@o1.ingest.example:0/7',
  'https://abc123@o1.ingest.example:99999/7',
  'http://abc123@o1.ingest.example/7',
  'HTTPS://abc123@o1.ingest.example/7',
  'https://ABC123@o1.ingest.example/7',
  'https://abc123@O1.ingest.example/7',
  'https://abc123@o1.ingest.example./7',
  'https://abc123@o1.ingest.example/7/',
  'https://abc123@o1.ingest.example//7',
  'https://abc123@o1.ingest.example/07',
  'https://abc123@o1.ingest.example/8',
  'https://abc123@o1.ingest.example/7?x=1',
  'https://abc123@o1.ingest.example/7#x',
  'https://abc123@o1.ingest.example/../7',
  'https://abc123@o1.ingest.example/%37',
  'https://abc123@o1.ingest.example/path/7',
  'https://abc123@o1.ingest.example/7 ',
  ' https://abc123@o1.ingest.example/7',
  'https://abc123@o1.ingest.example/7\r\nHost: evil',
  'https://abc123@o1.ingest.example\r\n\r\nGET / HTTP/1.1/7',
  'https://abc123@o1.ingest.example/7\u0000',
  'https://abc123@o1.ingest.example\u00007',
  'https://abc123@o1.ingest.exampl\u0435/7',
  'https://abc123@xn--o1-ingest.example/7',
  'https://abc123@sub.o1.ingest.example/7',
  'https://abc123@ingest.example/7',
  'https://abc123@evil.example/7',
  'https://xyz@o1.ingest.example/7',
  'https://o1.ingest.example/7',
  '//abc123@o1.ingest.example/7',
  'abc123@o1.ingest.example/7',
  'file:///etc/passwd',
  'gopher://abc123@127.0.0.1:PORT/7',
  'ftp://abc123@127.0.0.1/7',
  'data:text/plain,7',
  'javascript:alert(1)',
  'unix:/var/run/docker.sock:/7',
  'https://spillway@127.0.0.1/1',
  '',
  'x'.repeat(10_000),
];

/** Request heads that lie about their body or hide a second request in it. */
const SESSION = writeEnvelope({ dsn: DSN }, [{ type: 'session' }, '{}']).toString('latin1');
const LIES = [
  ['two lengths', [`Content-Length: ${SESSION.length}`, 'Content-Length: 5'], SESSION],
  ['a length and chunks', [`Content-Length: ${SESSION.length}`, 'Transfer-Encoding: chunked'], SESSION],
  ['a length that is spelled out', ['Content-Length: many'], SESSION],
  ['a negative length', ['Content-Length: -1'], SESSION],
  ['a length with a sign', [`Content-Length: +${SESSION.length}`], SESSION],
  ['a chunk size that is spelled out', ['Transfer-Encoding: chunked'], `many\r\n${SESSION}\r\n0\r\n\r\n`],
  ['a chunk size that is too large', ['Transfer-Encoding: chunked'], `FFFFFFFFFFFFFFFFF\r\n${SESSION}`],
  ['two chunked codings', ['Transfer-Encoding: chunked, chunked'], SESSION],
  ['an unknown transfer coding', ['Transfer-Encoding: xchunked'], SESSION],
  ['a folded header', [`Content-Length: ${SESSION.length}`, 'X-A: 1\r\n X-B: 2'], SESSION],
  ['a space after a header name', [`Content-Length : ${SESSION.length}`], SESSION],
  ['a NUL in a header', [`Content-Length: ${SESSION.length}`, 'Origin: a\u0000b'], SESSION],
  ['a bare carriage return in a header', [`Content-Length: ${SESSION.length}`, 'User-Agent: a\rX-Evil: b'], SESSION],
] as const;

const ODD_DSNS = [undefined, null, 7, {}, [DSN], true];

it('covers at least 200 inputs', () => {
  const lists = [FRAMING, NO_JSON, NO_TEXT, UTF16, SHAPES, FOREIGN_DSNS, ODD_DSNS, LIES];
  expect(lists.reduce((sum, { length }) => sum + length, 0)).toBeGreaterThanOrEqual(200);
});

describe('rejects without storing or forwarding anything', () => {
  const cases = [...FRAMING, ...NO_JSON, ...NO_TEXT, ...UTF16, ...SHAPES];

  it.each(cases)('%s', async (_name, body, status) => {
    const reply = await post(body);
    expect([reply.status, site.failures, site.feedback, site.forwarded, site.faults]).toEqual([status, [], [], [], []]);
    expect((await post(gzipSync(body), { 'Content-Encoding': 'gzip' })).status).toBe(status);
  });

  it.each(FOREIGN_DSNS)('the DSN %s', async (given) => {
    const dsn = given.replace('PORT', String((trap.address() as AddressInfo).port));
    const body = writeEnvelope({ dsn }, [{ type: 'event' }, createEvent()], [{ type: 'session' }, '{}']);
    expect((await post(body)).status).toBe(403);
    expect([site.failures, site.forwarded, trapped]).toEqual([[], [], 0]);
  });

  it.each(ODD_DSNS.map((dsn) => ({ dsn })))('a DSN of the form $dsn', async ({ dsn }) => {
    const body = writeEnvelope({ dsn }, [{ type: 'event' }, createEvent()]);
    expect((await post(body)).status).toBe(400);
    expect([site.failures, site.forwarded]).toEqual([[], []]);
  });

  it('and never repeats text of the sender', async () => {
    for (const body of ['<script>canary', '{"dsn":"canary"}', '{"dsn":"canary"']) {
      const reply = await post(Buffer.from(body));
      expect(await reply.text()).not.toContain('canary');
      expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

describe('rejects a connection that lies about its body', () => {
  it.each(LIES)('%s', async (_name, headers, sent) => {
    const head = ['POST /_report HTTP/1.1', `Host: 127.0.0.1:${site.port}`, ...headers].join('\r\n');
    const text = await sendRaw(site.port, `${head}\r\n\r\n${sent}`, { patience: 5000 });
    expect([400, 413]).toContain(parseReply(text).status);
    expect(site.forwarded).toEqual([]);
  });

  it('rejects bad input repeatedly without keeping memory', async () => {
    await Promise.all(
      Array.from({ length: 300 }, async (_, turn) => {
        const reply = await post(event(turn % 2 ? '{' : Buffer.alloc(50_000, 0xff)));
        expect(reply.status).toBe(400);
      }),
    );
    expect([site.failures, site.forwarded, site.faults]).toEqual([[], [], []]);
  });
});

function post(body: Uint8Array, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${site.origin}/_report`, { method: 'POST', body: new Uint8Array(body), headers });
}
