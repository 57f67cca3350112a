import { createServer } from 'node:http';
import { afterAll, afterEach, expect, it } from 'vitest';
import { listen } from '../../support/listen.ts';
import { createEvent, startTunnelSite, writeEnvelope } from '../../support/tunnel-site.ts';

const DSN = 'https://abc123@o1.ingest.example/7';
const MB = 1 << 20;

/** Has an upstream, to detect anything that must not be forwarded. */
const site = await startTunnelSite({ upstreamDsn: DSN });
let trapped = 0;
/** A server that no configuration names. It counts connections that should not happen. */
const trap = createServer((_req, res) => {
  trapped += 1;
  res.end();
});
const trapPort = await listen(trap);
afterEach(() => {
  expect([site.failures, site.forwarded, site.faults, trapped]).toEqual([[], [], [], 0]);
});
afterAll(() => {
  site.close();
  trap.close();
});

function post(body: string | Uint8Array, headers: Record<string, string> = {}) {
  return fetch(`${site.origin}/_report`, {
    method: 'POST',
    body: new Uint8Array(Buffer.from(body as string)),
    headers,
  });
}

const event = (payload: string | Uint8Array) => writeEnvelope({ dsn: DSN }, [{ type: 'event' }, payload]);
const BROKEN = Buffer.from('{"a":"\xc0\xaf"}', 'latin1');

it.each([
  ['an event that is no JSON', event('{"a":NaN}'), 400],
  ['an event that is no object', event('[{"message":"a"}]'), 400],
  ['bytes that are not UTF-8 in an event', event(BROKEN), 400],
  ['bytes that are not UTF-8 in a header', BROKEN, 400],
  ['UTF-16', Buffer.from(writeEnvelope({ dsn: DSN }).toString(), 'utf16le'), 400],
  ['objects nested 33 deep', event(`${'{"a":'.repeat(33)}1${'}'.repeat(33)}`), 400],
  ['arrays nested 400,000 deep', event(`{"a":${'['.repeat(400_000)}${']'.repeat(400_000)}}`), 400],
  ['an array of 200,000 numbers', event(`{"a":[${'0,'.repeat(200_000)}0]}`), 413],
  ['an object of 11,000 keys', event(`{${Array.from({ length: 11_000 }, (_, key) => `"k${key}":1`).join(',')}}`), 413],
  ['a header of 1 MB', `{"dsn":"${DSN}","a":"${'x'.repeat(MB - 100)}"}`, 413],
  ['1 MB of zeros', Buffer.alloc(MB), 413],
  ['101 items', writeEnvelope({ dsn: DSN }, ...Array(101).fill([{ type: 'session' }, '{}'])), 413],
])('refuses %s', async (_name, body, status) => {
  expect((await post(body)).status).toBe(status);
});

it.each([
  ...['', '\n\n{}', 'x', '{}{}', '[]\n', 'null', '{}'],
  ...['{', '{}\n{}', 'null\n{}', '{"type":null}\n{}', '{"type":["event"]}\n{}'].map((item) => `HEAD\n${item}`),
  ...['99', '1', '-2', '2.5', '9007199254740993', '"2"', 'null'].map(
    (length) => `HEAD\n{"type":"event","length":${length}}\n{}`,
  ),
  'HEAD\n{"type":"event"}\n{"message":\n"a"}',
  'HEAD\r{"type":"event"}\r{}',
])('refuses the envelope %j', async (text) => {
  expect((await post(text.replace('HEAD', `{"dsn":"${DSN}"}`))).status).toBe(400);
});

/** DSNs that an attacker wants the tunnel to connect to, and other spellings of the configured DSN. */
it.each([
  ...['127.0.0.1', 'localhost', '127.1', '2130706433', '0', '[::1]', '[::ffff:7f00:1]'].map(
    (host) => `http://abc123@${host}:PORT/7`,
  ),
  ...['①②⑦.⓪.⓪.①', '127.0.0.1.nip.io', 'o1.ingest.example@127.0.0.1'].map((host) => `https://abc123@${host}:PORT/7`),
  ...['\\', '#', '?', '/7?x='].map((end) => `https://abc123@127.0.0.1:PORT${end}@o1.ingest.example/7`),
  ...['http://abc123@169.254.169.254/7', 'https://abc123:x@o1.ingest.example/7', 'https://xyz@o1.ingest.example/7'],
  ...['http://abc123@o1.ingest.example/7', 'HTTPS://abc123@o1.ingest.example/7', 'https://ABC123@o1.ingest.example/7'],
  ...[':443/7', '/7/', '//7', '/07', '/8', '/7?x=1', '/7#x', '/../7', '/%37', '/7 ', '/7\r\nA: b', '/7\0'].map(
    (end) => `https://abc123@o1.ingest.example${end}`,
  ),
  ...['O1.ingest.example', 'o1.ingest.example.', 'o1.ingest.exampl\u0435', 'sub.o1.ingest.example', 'evil.example'].map(
    (host) => `https://abc123@${host}/7`,
  ),
  ...['//abc123@o1.ingest.example/7', 'file:///etc/passwd', 'data:text/plain,7', 'unix:/var/run/docker.sock:/7'],
  ...['https://spillway@127.0.0.1/1', '', 'x'.repeat(10_000), undefined, null, 7, {}, [DSN], true],
])('refuses the DSN %j', async (given) => {
  const dsn = typeof given === 'string' ? given.replace('PORT', String(trapPort)) : given;
  const body = writeEnvelope({ dsn }, [{ type: 'event' }, createEvent()]);
  expect((await post(body)).status).toBe(typeof dsn === 'string' ? 403 : 400);
});

it('never repeats text of the sender', async () => {
  for (const body of ['<script>canary', '{"dsn":"canary"}', '{"dsn":"canary"']) {
    const reply = await post(body);
    expect(await reply.text()).not.toContain('canary');
    expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
  }
});
