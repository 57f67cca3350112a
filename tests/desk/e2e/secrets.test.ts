import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { StoredFailure } from '../../../src/desk/server/store/records.ts';
import { openSqlite } from '../../../src/desk/server/store/sqlite.ts';
import { toOccurrence } from '../../../src/shared/reporting/address.ts';
import { hydrated } from '../../e2e/site.ts';
import { shareBrowser } from '../../support/browser.ts';
import { listen } from '../../support/listen.ts';
import { createOwnedApp, type OwnedApp, type RunningApp, startApp } from '../../support/owned-app.ts';
import { createTestLog } from '../../support/test-log.ts';
import { until } from '../../support/until.ts';
import { findCanaries, type Leftover, readFolder, readTables, toCanary } from '../support/canaries.ts';
import { ADDRESS, lookUp } from '../support/gallery.ts';

/**
 * Plants secrets in every input of the server and its errors, and searches all of its output for them: responses,
 * log, journal, store, data sent upstream, and the build. Each test also checks that its secret was recorded as
 * `[redacted]`, because a test that plants nothing would find nothing.
 *
 * Some secrets cannot be recognized, because neither a name, a shape nor a configured value reveals them: a visitor's
 * own words in a message, a value of fewer than eight characters without its name, and a secret that product code got
 * from elsewhere (a row of a database) and repeats without its name. Add those to `SCRUB_KEYS` and `SCRUB_PATTERNS`.
 * A page contains its own URL, which is intended.
 */
const NAMES = [
  ...['database-password', 'session-secret', 'api-key', 'dsn-secret', 'private-key', 'operator-token'],
  ...['bearer', 'basic-password', 'cookie', 'header-key', 'proxy-authorization', 'referer'],
  ...['query', 'query-code', 'query-nested', 'path-param', 'path-key'],
  ...['body-password', 'body-nested', 'form-password', 'malformed', 'multipart'],
  'jwt',
];
const CANARIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(NAMES.map((name) => [name, toCanary(name)])),
  card: '4242424242424242',
};

const planted = new Set<string>();

function canary(name: string): string {
  const found = CANARIES[name];
  if (!found) throw new Error(`There is no canary ${name}.`);
  planted.add(name);
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
const replies: Leftover[] = [];

beforeAll(async () => {
  app = createOwnedApp([], { over: 'leaky' });
  dataDir = join(app.folder, 'data');
  upstream = createUpstream();
  const port = await listen(upstream);
  const environment = {
    DATABASE_URL: `postgres://shop:${encodeURIComponent(`${canary('database-password')}/@`)}@db.internal:5432/shop`,
    SESSION_SECRET: canary('session-secret'),
    MAILER_API_KEY: canary('api-key'),
    SIGNING_PRIVATE_KEY: `-----BEGIN PRIVATE KEY-----\n${canary('private-key')}\n-----END PRIVATE KEY-----`,
    SENTRY_DSN: `http://${'d'.repeat(32)}:${canary('dsn-secret')}@127.0.0.1:${port}/7`,
    OPERATOR_TOKEN: canary('operator-token'),
  };
  // The build runs with the same secrets in its environment.
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  [browser] = await Promise.all([shareBrowser(), app.build()]);
  vi.unstubAllEnvs();
  server = await startApp(app.folder, environment);
});

afterAll(async () => {
  await server?.stop();
  upstream?.close();
  app?.remove();
});

function createUpstream(): Server {
  return createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      sent.push({ name: 'upstream headers', bytes: Buffer.from(JSON.stringify(req.rawHeaders)) });
      sent.push({ name: 'upstream', bytes: unpackBody(Buffer.concat(chunks), req.headers['content-encoding']) });
      res.end('{}');
    });
  });
}

function unpackBody(bytes: Buffer, encoding: string | undefined): Buffer {
  return encoding === 'gzip' ? gunzipSync(bytes) : encoding === 'zstd' ? zstdDecompressSync(bytes) : bytes;
}

interface Asked {
  readonly status: number;
  /** The address of the failure; empty if there was none. */
  readonly address: string;
  readonly text: string;
}

/** Sends a request that contains every kind of secret that a client can send. */
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
      Referer: `${server.url}/reset/${canary('path-param')}?token=${canary('referer')}`,
      Origin: server.url,
      ...headers,
    },
  });
  const text = await response.text();
  const head = JSON.stringify([...response.headers]);
  // A page contains its own URL, which the browser shows anyway.
  const own = decodeURIComponent(path.split('?')[0]?.split('/').at(-1) ?? '');
  const shown = own.length > 20 ? `${head}\n${text}`.replaceAll(`"${own}"`, '"its own"') : `${head}\n${text}`;
  replies.push({ name: `reply to ${init.method ?? 'GET'} ${path.replace(own, '')}`, bytes: Buffer.from(shown) });
  const address = response.headers.get('X-Error-Digest') ?? ADDRESS.exec(text)?.[0] ?? '';
  return { status: response.status, address, text };
}

function find(address: string): Promise<StoredFailure> {
  return vi.waitFor(
    async () => {
      const full = (await lookUp(dataDir, address))?.occurrence?.full;
      if (!full) throw new Error(`${address} leads nowhere.`);
      return full;
    },
    { timeout: 20_000 },
  );
}

async function expectRedacted({ status, address }: Asked, expected = 500): Promise<StoredFailure> {
  expect([status, address]).toEqual([expected, expect.stringMatching(ADDRESS)]);
  const full = await find(address);
  expect(full.title).not.toContain('There is n');
  return full;
}

// Concurrent, because each test waits for the desk worker.
describe.concurrent('secrets of a request or the environment are recognized by their value', () => {
  const BODY = {
    password: canary('body-password'),
    payment: { card: { cvc_token: canary('body-nested') } },
    number: Number(canary('card')),
  };
  const JSON_POST = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(BODY) };
  const PAIR = Buffer.from(`ann:${canary('basic-password')}`).toString('base64');

  test.each<[what: string, path: string, init: RequestInit, sources: readonly string[]]>([
    [
      'the environment',
      '/fail',
      {},
      ['database-url', 'database-password', 'session-secret', 'api-key', 'dsn-secret', 'private-key'],
    ],
    ['a header', '/fail', {}, ['bearer', 'cookie', 'header-key', 'proxy-authorization', 'referer']],
    ['the query', '/fail', {}, ['query', 'query-code', 'query-nested']],
    ['a basic header', '/fail', { headers: { Authorization: `Basic ${PAIR}` } }, ['basic-pair', 'basic-password']],
    ['a body', '/api/fail', JSON_POST, ['body-password', 'body-nested', 'body-card']],
  ])('a bare one, from %s', async (_what, path, init, sources) => {
    for (const from of sources) {
      const { title } = await expectRedacted(await ask(`${path}/message?from=${from}`, init));
      expect([from, title]).toEqual([from, expect.stringMatching(/^Error: Refused (?:postgres:\/\/)?\[redacted\]/)]);
    }
  });

  const toFields = <Form extends FormData | URLSearchParams>(form: Form, password: string): Form => {
    form.set('password', canary(password));
    form.set('_action', 'form.send');
    return form;
  };
  test('a field of a form, to the API and to an action', async () => {
    const form = toFields(new URLSearchParams(), 'form-password');
    // One after the other: of each digest, 20 failures a second are stored in full.
    for (const [path, method, body] of [
      ['/api/fail/message?from=body-password', 'PUT', form],
      ['/form', 'POST', form],
      ['/form', 'POST', toFields(new FormData(), 'multipart')],
    ] as const) {
      const { title } = await expectRedacted(await ask(path, { method, body }));
      expect(title).toBe('Error: Refused [redacted] at last');
    }
  });

  test('a path segment whose parameter is named like a secret, or which looks like one', async () => {
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
    for (const path of ['/welcome/[redacted]', '/_data/welcome/[redacted]', '/[redacted]', '/api/[redacted]']) {
      await until(() => server.log().includes(`"path":"${path}"`), path, 20_000);
    }
  });
});

describe.concurrent('secrets are removed from an error', () => {
  test.each([
    ['/fail/stack', 500],
    ['/fail/frame', 500],
    ['/fail/class', 500],
    ['/fail/properties', 500],
    ['/_data/fail/text', 500],
    ['/late/message', 200],
    ['/late/cause', 200],
    ['/api/fail/object', 500],
    ['/api/fail/aggregate', 500],
    ['/_data/late/breadcrumb', 200],
  ] as const)('thrown by %s', async (path, status) => {
    const full = await expectRedacted(await ask(`${path}?from=header-key`), status);
    expect(full.request?.url).toContain('token=[redacted]');
    expect(JSON.stringify(full).split('[redacted]').length).toBeGreaterThan(3);
  });
});

const MALFORMED = canary('malformed');
const PART = `--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n${MALFORMED}`;
test.each([
  ...[`{"password":"${MALFORMED}"`, `"${MALFORMED}`, `{"a":${MALFORMED}}`, `{"a":"${MALFORMED}\u0000"}`].map(
    (body) => [400, 'POST', '/api/fail/message', 'application/json', body] as const,
  ),
  [413, 'POST', '/api/fail/message', 'application/json', JSON.stringify({ password: MALFORMED.repeat(20_000) })],
  [413, 'PUT', '/api/fail/message', 'application/x-www-form-urlencoded', `password=${MALFORMED}&`.repeat(3000)],
  [400, 'POST', '/form', 'multipart/form-data; boundary=b', PART],
] as const)(
  'a body that a parser rejects is not repeated: %i to %s %s as %s',
  async (status, method, path, type, body) => {
    expect((await ask(path, { method, headers: { 'Content-Type': type }, body })).status).toBe(status);
  },
);

describe('secrets in reports of browsers', () => {
  test.each(['event', 'render'])('a report of an error in an %s of a page', async (button) => {
    const context = await browser.newContext({ baseURL: server.url });
    onTestFinished(() => context.close());
    await context.addCookies([{ name: 'sid', value: canary('cookie'), url: server.url, httpOnly: true }]);
    const page = await context.newPage();
    const secrets = { jwt: JWT, card: canary('card'), query: canary('query'), cookie: canary('cookie') };
    await page.addInitScript((planted) => Object.assign(globalThis, { planted }), secrets);
    const reported = page.waitForResponse((response) => new URL(response.url()).pathname === '/_report');
    // Until then, reports have no breadcrumbs.
    const reporter = page.waitForResponse(/\/courier-/);
    await page.goto('/browser');
    await hydrated(page, 'button');
    await (await reporter).finished();
    await page.getByRole('button', { name: button, exact: true }).click();
    const response = await reported;
    const { id, digest } = (await response.json()) as { id: string; digest: string };
    const full = await find(`${digest}-${toOccurrence(id)}`);
    expect(full.errors.map(({ message }) => message).join()).toContain('Refused [redacted] [redacted]');
    expect(full.errors.length).toBe(2);
    if (button === 'event') {
      const trail = JSON.stringify(full.breadcrumbs);
      for (const part of ['/nowhere', 'password=[redacted]', 'token=[redacted]']) {
        expect(trail).toContain(part);
      }
    }
  });
});

test('no stack, file name, source map or class name reaches a visitor', async () => {
  const script = /\/assets\/[\w-]+\.js/.exec((await ask('/')).text)?.[0] ?? '';
  expect((await fetch(server.url + script)).status).toBe(200);
  expect((await ask(`${script}.map`)).status).toBe(404);
  expect(replies.length).toBeGreaterThan(40);
  const inside = [
    ...['node_modules', '/src/', '.map"', 'file:///', 'server/site.js', app.folder],
    ...['Refused', 'RangeError', 'AggregateError', 'SyntaxError'],
  ];
  for (const { name, bytes } of replies) {
    const text = bytes.toString();
    expect([name, ...inside.filter((part) => text.includes(part))]).toEqual([name]);
    expect(text, name).not.toMatch(/\n\s*at \S+ ?\(?\S+:\d+/);
  }
});

test('no secret is found anywhere', async () => {
  await expect.poll(() => sent.length).toBeGreaterThan(60);
  // What is stored leaves the journal within seconds.
  await ask('/fail/properties?from=header-key');
  const alive = readFolder(dataDir);
  await server.stop();
  const leftovers: Leftover[] = [
    ...replies,
    { name: 'log', bytes: Buffer.from(server.log()) },
    ...alive,
    ...readFolder(dataDir),
    ...(await readTables(openSqlite(join(dataDir, 'desk.sqlite'), { log: createTestLog().log }))),
    ...sent,
    ...readFolder(join(app.folder, 'dist')),
  ];
  const names = leftovers.map(({ name }) => name);
  for (const kind of [/^journal.*\.ndjson$/, /^desk\.sqlite$/, /^desk\.sqlite-wal$/, /^upstream$/]) {
    expect(names, String(kind)).toContainEqual(expect.stringMatching(kind));
  }
  const journaled = alive.filter(({ name, bytes }) => name.startsWith('journal') && bytes.includes('[redacted]'));
  expect(journaled).not.toEqual([]);
  expect(
    leftovers.filter(({ name, bytes }) => name.includes('.') && bytes.includes('"occurrence"')).length,
  ).toBeGreaterThan(30);
  expect(sent.filter(({ bytes }) => bytes.includes('[redacted]')).length).toBeGreaterThan(30);
  expect([...planted].sort()).toEqual(Object.keys(CANARIES).sort());
  const all = [{ name: 'all', bytes: Buffer.from(JSON.stringify(CANARIES)) }];
  expect(findCanaries(CANARIES, all).length).toBeGreaterThan(Object.keys(CANARIES).length);
  expect([...new Set(findCanaries(CANARIES, leftovers))]).toEqual([]);
});
