import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Dsn, parseDsn } from '../../../src/server/sentry/dsn.ts';
import { createOutbox, type Outbox, type OutboxOptions } from '../../../src/server/sentry/outbox.ts';
import { KiB } from '../../../src/shared/units.ts';
import { until } from '../../support/until.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

let folder = '';
let upstream: FakeUpstream;
let outboxes: Outbox[] = [];
let counts: Record<string, number> = {};
let warnings: string[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'outbox-'));
  upstream = await startUpstream();
  counts = {};
  warnings = [];
});
afterEach(async () => {
  await Promise.all(outboxes.map((outbox) => outbox.close()));
  outboxes = [];
  await upstream.close();
  rmSync(folder, { recursive: true });
});

function open(options: Partial<OutboxOptions> = {}): Outbox {
  const outbox = createOutbox({
    folder,
    dsn: upstream.dsn,
    firstBackoff: 10,
    closeDeadline: 200,
    count: (name, labels = {}, by = 1) => {
      const key = [name.replace(/^spillway_outbox_|_total$/g, ''), ...Object.values(labels)].join(' ');
      counts[key] = (counts[key] ?? 0) + by;
    },
    warn: (sentence) => warnings.push(sentence),
    ...options,
  });
  outboxes.push(outbox);
  return outbox;
}

const patience = 10_000;
const bytes = (text: string) => Buffer.from(text);
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => String(from + index));

it('posts each envelope to the endpoint of the DSN, byte for byte', async () => {
  const envelope = Buffer.from([0, 255, 10, 13, 200, ...Buffer.from('{"dsn":"https://evil@evil.example/1"}')]);
  expect(open().add(envelope, 'error')).toBe(true);
  await until(() => upstream.received.length === 1, 'the envelope', patience);
  const [{ url, headers, body }] = upstream.received as [(typeof upstream.received)[number]];
  expect(url).toBe('/api/42/envelope/');
  expect(body).toEqual(envelope);
  expect(headers['content-type']).toBe('application/x-sentry-envelope');
  expect(headers['x-sentry-auth']).toContain('sentry_key=publickey');
  await until(() => counts['sent error'] === 1, 'the count', patience);
});

it('forwards only the listed headers of the sender', async () => {
  open().add(bytes('x'), 'error', {
    'User-Agent': 'Firefox',
    'X-Sentry-Forwarded-For': '203.0.113.7',
    Cookie: 'a=b',
    Authorization: 'Bearer x',
    Host: 'evil.example',
    Origin: 'https://a.example\r\nX: y',
    Referer: 'x'.repeat(2000),
  });
  await until(() => upstream.received.length === 1, 'the envelope', patience);
  const { headers } = upstream.received[0] as (typeof upstream.received)[number];
  expect(headers).toMatchObject({ 'user-agent': 'Firefox', 'x-sentry-forwarded-for': '203.0.113.7' });
  for (const name of ['cookie', 'authorization', 'origin', 'referer', 'x']) expect(headers[name]).toBeUndefined();
  expect(headers.host).toBe(upstream.dsn.endpoint.host);
});

it('sends in order, a few at a time', async () => {
  const waiting: (() => void)[] = [];
  upstream.behave((_request, response) => waiting.push(() => response.end()));
  const outbox = open();
  for (const text of numbers(1, 12)) outbox.add(bytes(text), 'error');
  await until(() => waiting.length === 4, 'the first four', patience);
  expect(upstream.received.map(({ body }) => body.toString())).toEqual(expect.arrayContaining(numbers(1, 4)));
  upstream.behave({ status: 200 });
  for (const answer of waiting) answer();
  await until(() => counts['sent error'] === 12, 'all of them', patience);
  expect(upstream.mostAtOnce()).toBeLessThanOrEqual(4);
  const order = upstream.received.map(({ body }) => Number(body.toString()));
  expect(order.every((number, index) => Math.abs(number - 1 - index) < 4)).toBe(true);
});

it('stores envelopes on disk while the upstream is down, across a restart, and sends each once', async () => {
  await upstream.close();
  const before = open();
  for (const text of numbers(1, 5)) expect(before.add(bytes(text), 'error')).toBe(true);
  await until(() => warnings.length > 0, 'the warning', patience);
  expect(warnings).toEqual(['The error-reporting service gave no answer. Reports wait on the disk until it is back.']);
  await before.close();
  expect(before.add(bytes('6'), 'error')).toBe(true);

  upstream = await startUpstream();
  open({ dsn: upstream.dsn }).add(bytes('7'), 'error');
  await until(() => counts['sent error'] === 7, 'all of them', patience);
  expect(upstream.taken.toSorted()).toEqual(numbers(1, 7));
});

it('loses nothing on kill -9', async () => {
  const { dsn } = upstream;
  const module = fileURLToPath(new URL('../../../src/server/sentry/', import.meta.url));
  const script = join(folder, 'killed.mjs');
  const own = join(folder, 'queue');
  writeFileSync(
    script,
    `import { createOutbox } from ${JSON.stringify(`${module}outbox.ts`)};
     import { parseDsn } from ${JSON.stringify(`${module}dsn.ts`)};
     const outbox = createOutbox({ folder: ${JSON.stringify(own)}, dsn: parseDsn('http://k@127.0.0.1:9/1'), count() {}, warn() {} });
     for (let n = 1; n <= 50; n += 1) outbox.add(Buffer.from(String(n)), 'error');
     process.kill(process.pid, 'SIGKILL');`,
  );
  expect(spawnSync(process.execPath, [script]).signal).toBe('SIGKILL');
  open({ folder: own, dsn });
  await until(() => counts['sent error'] === 50, 'all fifty', patience);
  expect(upstream.taken.map(Number).toSorted((one, other) => one - other)).toEqual(numbers(1, 50).map(Number));
});

it.each([503, 502, 500, 408])('retries after %s', async (status) => {
  upstream.behave({ status });
  open().add(bytes('x'), 'error');
  await until(() => upstream.received.length >= 2, 'a second try', patience);
  upstream.behave({ status: 200 });
  await until(() => counts['sent error'] === 1, 'the envelope to arrive', patience);
  expect(upstream.taken).toEqual(['x']);
});

it('sends one at a time while the upstream is in trouble, with growing pauses', async () => {
  upstream.behave({ status: 503 });
  const outbox = open({ firstBackoff: 20 });
  for (const text of numbers(1, 20)) outbox.add(bytes(text), 'error');
  await until(() => upstream.received.length >= 6, 'a few tries', patience);
  const tries = upstream.received.length;
  // The first four are sent together. After that there is only one at a time.
  expect(tries).toBeLessThan(12);
  upstream.behave({ status: 200 });
  await until(() => counts['sent error'] === 20, 'all of them', patience);
});

it('drops an envelope that makes the upstream fail, and continues', async () => {
  upstream.behave((request, response) => {
    response.statusCode = request.headers['content-length'] === '6' ? 500 : 200;
    response.end();
  });
  const outbox = open();
  outbox.add(bytes('poison'), 'error');
  outbox.add(bytes('ok'), 'error');
  await until(
    () => counts['sent error'] === 1 && counts['dropped error refused'] === 1,
    'the other envelope',
    patience,
  );
});

it('resends an envelope after a connection reset', async () => {
  upstream.behave((request) => request.socket.resetAndDestroy());
  open().add(bytes('x'), 'error');
  await until(() => upstream.received.length >= 2, 'a second try', patience);
  upstream.behave({ status: 200 });
  await until(() => counts['sent error'] === 1, 'the envelope to arrive', patience);
});

it('times out if the upstream never answers', async () => {
  upstream.behave(() => undefined);
  open({ totalTimeout: 50 }).add(bytes('x'), 'error');
  await until(() => upstream.received.length >= 2, 'a second try', patience);
  upstream.behave({ status: 200 });
  await until(() => counts['sent error'] === 1, 'the envelope to arrive', patience);
});

it('times out if the connection is not ready in time', async () => {
  // The upstream never answers the TLS handshake. The socket is connected, but not ready.
  const sockets: { destroy(): void }[] = [];
  const silent = createTcpServer((socket) => sockets.push(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const dsn = parseDsn(`https://k@127.0.0.1:${(silent.address() as AddressInfo).port}/1`) as Dsn;
  open({ dsn, connectTimeout: 50, totalTimeout: 60_000 }).add(bytes('x'), 'error');
  await until(() => sockets.length >= 2, 'a second connection', patience);
  for (const socket of sockets) socket.destroy();
  silent.close();
});

it('drops and counts rejected envelopes, and logs a warning', async () => {
  upstream.behave({ status: 413 });
  const outbox = open();
  outbox.add(bytes('x'), 'replay');
  await until(() => counts['dropped replay refused'] === 1, 'the count', patience);
  upstream.behave({ status: 403 });
  outbox.add(bytes('y'), 'error');
  await until(() => counts['dropped error refused'] === 1, 'the count', patience);
  expect(warnings[0]).toContain('413');
  expect(warnings[1]).toContain('SENTRY_DSN');
});

it('does not follow redirects', async () => {
  const elsewhere = await startUpstream();
  upstream.behave({ status: 307, headers: { Location: elsewhere.dsn.endpoint.href } });
  open().add(bytes('x'), 'error');
  await until(() => counts['dropped error refused'] === 1, 'the count', patience);
  expect(elsewhere.received).toEqual([]);
  expect(warnings[0]).toContain('redirect');
  await elsewhere.close();
});

it('obeys a limit for one category, and sends the others', async () => {
  upstream.behave({ status: 429, headers: { 'X-Sentry-Rate-Limits': '60:error;default:organization:quota' } });
  const outbox = open();
  outbox.add(bytes('1'), 'error');
  await until(() => counts['dropped error rate-limited'] === 1, 'the count', patience);
  expect(outbox.limits()).toMatch(/^\d+:error:organization, \d+:default:organization$/);
  upstream.behave({ status: 200 });
  expect(outbox.add(bytes('2'), 'error')).toBe(false);
  expect(outbox.add(bytes('3'), 'transaction')).toBe(true);
  await until(() => counts['sent transaction'] === 1, 'the other category', patience);
  expect(upstream.taken).toEqual(['3']);
  expect(counts['dropped error rate-limited']).toBe(2);
});

it('obeys a limit that arrives with a success, also for waiting envelopes', async () => {
  const answers: (() => void)[] = [];
  upstream.behave((_request, response) =>
    answers.push(() => response.writeHead(200, { 'X-Sentry-Rate-Limits': '60:replay:key' }).end()),
  );
  const outbox = open();
  for (const text of numbers(1, 4)) outbox.add(bytes(text), 'error');
  for (const text of numbers(5, 6)) outbox.add(bytes(text), 'replay');
  await until(() => answers.length === 4, 'the first four', patience);
  for (const answer of answers) answer();
  await until(() => counts['dropped replay rate-limited'] === 2, 'the counts', patience);
  expect(counts['sent error']).toBe(4);
});

it('holds everything back during a limit for all categories, then sends it', async () => {
  upstream.behave({ status: 429, headers: { 'Retry-After': '0.1' } });
  const outbox = open();
  outbox.add(bytes('1'), 'error');
  await until(() => upstream.received.length >= 1, 'the answer', patience);
  upstream.behave({ status: 200 });
  outbox.add(bytes('2'), 'transaction');
  await until(() => upstream.taken.length === 2, 'both', patience);
  expect(upstream.taken).toEqual(['1', '2']);
  expect(Object.keys(counts).filter((key) => key.startsWith('dropped'))).toEqual([]);
});

it('drops and counts envelopes that exceed the queue, or that no upstream accepts', async () => {
  await upstream.close();
  const outbox = open({ maxBytes: 10 * KiB });
  const envelope = Buffer.alloc(4 * KiB, 1);
  expect([1, 2, 3].map(() => outbox.add(envelope, 'error'))).toEqual([true, true, false]);
  expect(outbox.add(Buffer.alloc(6 * KiB * KiB), 'attachment')).toBe(false);
  expect(counts).toMatchObject({ 'dropped error full': 1, 'dropped attachment too-large': 1 });
  expect(warnings.some((sentence) => sentence.includes('full'))).toBe(true);
  upstream = await startUpstream();
});

it('does not fail if the disk does, and accepts envelopes again afterwards', async () => {
  const blocked = join(folder, 'file', 'queue');
  writeFileSync(join(folder, 'file'), '');
  const outbox = open({ folder: blocked });
  expect(outbox.add(bytes('1'), 'made up by a stranger')).toBe(false);
  expect(counts['dropped default disk']).toBe(1);
  expect(warnings[0]).toContain('DATA_DIR');
  rmSync(join(folder, 'file'));
  expect(outbox.add(bytes('2'), 'error')).toBe(true);
  await until(() => upstream.taken.length === 1, 'the second', patience);
});

it('sends the remaining envelopes before it closes', async () => {
  const outbox = open({ closeDeadline: 10_000 });
  for (const text of numbers(1, 30)) outbox.add(bytes(text), 'error');
  await outbox.close();
  expect(upstream.taken).toHaveLength(30);
});

it('closes within its deadline if the upstream hangs, and immediately if it is unavailable', async () => {
  upstream.behave(() => undefined);
  const hanging = open({ closeDeadline: 50 });
  hanging.add(bytes('x'), 'error');
  await until(() => upstream.received.length === 1, 'the request', patience);
  await hanging.close();

  upstream.behave({ status: 503 });
  const away = open({ folder: join(folder, 'b'), firstBackoff: 60_000, closeDeadline: 600_000 });
  away.add(bytes('x'), 'error');
  await until(() => warnings.some((sentence) => sentence.includes('503')), 'the answer', patience);
  await away.close();
});
