import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { StoredFailure } from '../../src/server/desk/store/records.ts';
import { launchBrowser } from '../support/browser.ts';
import { findCanaries, type Leftover, readFolder, readPacked, toCanary } from '../support/canaries.ts';
import { lookUp } from '../support/gallery.ts';
import { createOwnedApp, type OwnedApp, type RunningApp, startApp } from '../support/owned-app.ts';
import { sendRaw } from '../support/raw-http.ts';

/**
 * Secrets are planted wherever one comes into the server or into its errors, and looked for in all that
 * leaves it: replies, log, journal, store, outbox, what the upstream got, and the build. What is planted
 * was recorded each time, with `[redacted]` in its place: a test that plants nothing finds nothing.
 *
 * Out of reach is what nothing gives away, neither a name, nor a shape, nor a value that the server was
 * told to be secret: a visitor's own words in a message or in feedback, a value of fewer than eight
 * characters without its name, a secret that product code had from elsewhere (a row of a database) and
 * repeats bare, and what product code sends as data. An owner names those in `SCRUB_KEYS` and
 * `SCRUB_PATTERNS`. The address that a visitor leaves with feedback is kept on purpose.
 */
const CANARIES = {
  ...Object.fromEntries(
    [
      ...['database-password', 'session-secret', 'api-key', 'dsn-secret', 'private-key', 'owners-name'],
      ...['bearer', 'basic-password', 'cookie', 'header-key', 'proxy-authorization', 'referer'],
      ...['query', 'query-code', 'query-nested', 'path-param', 'path-key'],
      ...['body-password', 'body-nested', 'form-password', 'malformed', 'multipart'],
      ...['jwt', 'named', 'in-url', 'feedback', 'policy', 'agent'],
    ].map((name) => [name, toCanary(name)]),
  ),
  card: '4242424242424242',
} as Readonly<Record<string, string>>;

function canary(name: string): string {
  const found = CANARIES[name];
  if (!found) throw new Error(`There is no canary ${name}.`);
  return found;
}

const JWT = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.${canary('jwt')}`;
const PATH_KEY = `ghp_${canary('path-key')}`;

let app: OwnedApp;
let server: RunningApp;
let browser: Browser;
let upstream: Server;
let dataDir: string;
const sent: Leftover[] = [];
const journal = new Map<string, Buffer>();
let journalReader: NodeJS.Timeout;
const replies: Leftover[] = [];

beforeAll(async () => {
  app = createOwnedApp([], { over: 'leaky' });
  dataDir = join(app.folder, 'data');
  upstream = await listen();
  [browser] = await Promise.all([launchBrowser(), app.build()]);
  server = await startApp(app.folder, {
    DATABASE_URL: `postgres://shop:${encodeURIComponent(`${canary('database-password')}/@`)}@db.internal:5432/shop`,
    SESSION_SECRET: canary('session-secret'),
    MAILER_API_KEY: canary('api-key'),
    SIGNING_PRIVATE_KEY: `-----BEGIN PRIVATE KEY-----\n${canary('private-key')}\n-----END PRIVATE KEY-----`,
    SENTRY_DSN: `http://${'d'.repeat(32)}:${canary('dsn-secret')}@127.0.0.1:${(upstream.address() as AddressInfo).port}/7`,
    SCRUB_KEYS: 'member number',
  });
  journalReader = setInterval(copyJournal, 10);
}, 120_000);

afterAll(async () => {
  clearInterval(journalReader);
  await server?.stop();
  await browser?.close();
  upstream?.close();
  app?.remove();
});

async function listen(): Promise<Server> {
  const listening = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      sent.push({ name: 'upstream headers', bytes: Buffer.from(JSON.stringify(req.rawHeaders)) });
      sent.push({ name: 'upstream', bytes: unpackBody(Buffer.concat(chunks), req.headers['content-encoding']) });
      res.end('{}');
    });
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return listening;
}

function unpackBody(bytes: Buffer, encoding: string | undefined): Buffer {
  return encoding === 'gzip' ? gunzipSync(bytes) : encoding === 'zstd' ? zstdDecompressSync(bytes) : bytes;
}

/** A segment is dropped as soon as it is full and taken in. */
function copyJournal(): void {
  for (const { name, bytes } of readFolder(dataDir)) {
    if (name.startsWith('journal') && bytes.length > (journal.get(name)?.length ?? 0)) journal.set(name, bytes);
  }
}

interface Asked {
  readonly status: number;
  /** Of the failure; empty where there was none. */
  readonly address: string;
  readonly text: string;
}

/** Every request brings along all that a client may keep secret. */
async function ask(path: string, { headers, ...init }: RequestInit = {}): Promise<Asked> {
  const query = new URLSearchParams({
    token: canary('query'),
    code: canary('query-code'),
    next: `https://x.example/?a=1&token=${canary('query-nested')}`,
  });
  const response = await fetch(`${server.url}${path}${path.includes('?') ? '&' : '?'}${query}`, {
    redirect: 'manual',
    ...init,
    headers: {
      Authorization: `Bearer ${canary('bearer')}`,
      Cookie: `theme=dark; sid=${canary('cookie')}`,
      'X-Api-Key': canary('header-key'),
      'Proxy-Authorization': `Bearer ${canary('proxy-authorization')}`,
      Referer: `${server.url}/a?token=${canary('referer')}`,
      Origin: server.url,
      ...headers,
    },
  });
  const text = await response.text();
  const head = JSON.stringify([...response.headers]);
  replies.push({ name: `reply to ${init.method ?? 'GET'} ${path}`, bytes: Buffer.from(`${head}\n${text}`) });
  const address = response.headers.get('X-Error-Digest') ?? ADDRESS.exec(text)?.[0] ?? '';
  return { status: response.status, address, text };
}

const ADDRESS = /[0-9A-HJKMNP-TV-Z]{8}-[0-9A-HJKMNP-TV-Z]{8}/;

async function find(address: string): Promise<StoredFailure> {
  let whole: StoredFailure | undefined;
  await expect
    .poll(
      async () => {
        whole = (await lookUp(dataDir, address))?.occurrence?.whole;
        return whole !== undefined;
      },
      { timeout: 10_000, message: `${address} leads nowhere` },
    )
    .toBe(true);
  if (!whole) throw new Error('It was found.');
  return whole;
}

async function expectRedacted({ status, address }: Asked, expected = 500): Promise<StoredFailure> {
  expect([status, address]).toEqual([expected, expect.stringMatching(ADDRESS)]);
  const whole = await find(address);
  expect(whole.title).not.toContain('There is n');
  return whole;
}

describe('what a request or the environment holds is known by its value', () => {
  test.each(
    [
      ['database-url', 'database-password', 'session-secret', 'api-key', 'dsn-secret'],
      ['bearer', 'cookie', 'header-key', 'proxy-authorization', 'referer'],
      ['query', 'query-code', 'query-nested'],
    ].flat(),
  )('a bare %s', async (from) => {
    const { title } = await expectRedacted(await ask(`/fail/message?from=${from}`));
    expect(title).toMatch(/^Error: Refused (?:postgres:\/\/)?\[redacted\]/);
  });

  test.each(['basic-pair', 'basic-password'])('a bare %s', async (from) => {
    const pair = Buffer.from(`ann:${canary('basic-password')}`).toString('base64');
    const { title } = await expectRedacted(
      await ask(`/fail/message?from=${from}`, { headers: { Authorization: `Basic ${pair}` } }),
    );
    expect(title).toBe('Error: Refused [redacted] at last');
  });

  test.each(['body-password', 'body-nested', 'body-card'])('a bare %s', async (from) => {
    const body = {
      password: canary('body-password'),
      payment: { card: { cvc_token: canary('body-nested') } },
      number: Number(canary('card')),
    };
    const asked = await ask(`/api/fail/message?from=${from}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect((await expectRedacted(asked)).title).toBe('Error: Refused [redacted] at last');
  });

  test('a field of a form, to the API and to an action', async () => {
    const body = new URLSearchParams({ password: canary('form-password'), _action: 'form.send' });
    const toApi = await ask('/api/fail/message?from=body-password', { method: 'PUT', body });
    expect((await expectRedacted(toApi)).title).toBe('Error: Refused [redacted] at last');
    const toAction = await ask('/form', { method: 'POST', body });
    expect((await expectRedacted(toAction)).title).toBe('Error: Refused [redacted] at last');
    const data = new FormData();
    data.set('password', canary('multipart'));
    data.set('_action', 'form.send');
    const multipart = await ask('/form', { method: 'POST', body: data });
    expect((await expectRedacted(multipart)).title).toBe('Error: Refused [redacted] at last');
  });

  test('a part of the path whose parameter has the name of a secret, or which has the shape of one', async () => {
    const reset = await expectRedacted(await ask(`/reset/${canary('path-param')}`));
    expect([reset.title, reset.request?.url]).toEqual([
      'Error: Nobody knows [redacted] here',
      expect.stringMatching(/^\/reset\/\[redacted\]\?token=\[redacted\]/),
    ]);
    const key = await expectRedacted(await ask(`/api/keys/${canary('path-param')}`));
    expect(key.request?.url).toMatch(/^\/api\/keys\/\[redacted\]\?/);
    for (const path of [`/welcome/${canary('path-param')}`, `/_data/welcome/${canary('path-param')}`]) {
      expect((await ask(path)).status).toBe(200);
    }
    for (const path of [`/${PATH_KEY}`, `/api/${PATH_KEY}`, `/assets/${PATH_KEY}.js`, `/welcome/${JWT}`]) {
      await ask(path);
    }
    await expect.poll(() => server.log()).toContain('"path":"/welcome/[redacted]"');
    expect(server.log()).toContain('"path":"/api/[redacted]"');
  });
});

describe('wherever an error carries it', () => {
  const ways = [
    ...['message', 'long-message', 'long-title', 'long-detail', 'cause', 'properties', 'class', 'stack', 'frame'],
    ...['aggregate', 'text', 'object', 'breadcrumb'],
  ];

  test.each(ways)('as %s', async (way) => {
    for (const from of ['bearer', 'session-secret', 'database-url']) {
      const asked = await ask(`/fail/${way}?from=${from}`);
      const whole = await expectRedacted(asked);
      const isCut = way === 'properties' || way.startsWith('long-');
      if (!isCut) expect(JSON.stringify(whole).split('[redacted]').length, way).toBeGreaterThan(3);
    }
  });

  test.each([
    ['/guarded/message', 500],
    ['/_data/fail/message', 500],
    ['/late/message', 200],
    ['/late/cause', 200],
    ['/rendered/shell', 500],
    ['/rendered/part', 200],
    ['/step/message', 500],
    ['/step/properties', 500],
    ['/api/fail/message', 500],
    ['/api/fail/aggregate', 500],
    ['/_data/late/message', 200],
  ] as const)('thrown by %s', async (path, status) => {
    const whole = await expectRedacted(await ask(`${path}?from=header-key`), status);
    expect(whole.request?.url).toContain('token=[redacted]');
  });

  test('thrown where nobody waits for it, when the reply is long gone', async () => {
    await ask('/late/forgotten?from=cookie');
    await expect.poll(() => server.log()).toContain('"origin":"request"');
    const line = lines().find(({ origin }) => origin === 'request');
    expect((await find(`${line?.digest}-${line?.occurrence}`)).title).toBe('Error: Refused [redacted] at last');
  });
});

test('what a body parser refuses is not repeated', async () => {
  const secret = canary('malformed');
  const json = { 'Content-Type': 'application/json' };
  for (const body of [`{"password":"${secret}"`, `"${secret}`, `{"a":${secret}}`, `{"a":"${secret}\u0000"}`]) {
    const { status, text } = await ask('/api/fail/message', { method: 'POST', headers: json, body });
    expect(status).toBe(400);
    expect(text).toContain('"status":400');
  }
  const tooLarge = JSON.stringify({ password: secret.repeat(20_000) });
  expect((await ask('/api/fail/message', { method: 'POST', headers: json, body: tooLarge })).status).toBe(413);
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const fields = `password=${secret}&`.repeat(3000);
  expect((await ask('/api/fail/message', { method: 'PUT', headers: form, body: fields })).status).toBe(413);
  const multipart = { 'Content-Type': 'multipart/form-data; boundary=b' };
  const part = `--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n${secret}`;
  expect((await ask('/form', { method: 'POST', headers: multipart, body: part })).status).toBe(400);
});

function lines(): Record<string, unknown>[] {
  return server
    .log()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}
