import { spawn } from 'node:child_process';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openPostgres } from '../../../src/desk/server/store/postgres.ts';
import { openSqlite } from '../../../src/desk/server/store/sqlite.ts';
import { openStore } from '../../../src/desk/server/store/store.ts';
import { type E2eServer, startServer } from '../../support/e2e-server.ts';
import { createFolder } from '../../support/folder.ts';
import { listen, listenInTest } from '../../support/listen.ts';
import { createPostgresDatabase } from '../../support/postgres.ts';
import { createTestLog } from '../../support/test-log.ts';

const MAIN = fileURLToPath(new URL('../../../dist/server/main.js', import.meta.url));
const { PATH, NODE_COMPILE_CACHE } = process.env;
const OPERATOR_TOKEN = 'a-token-of-an-operator';

async function check(env: Record<string, string>, ...args: string[]): Promise<{ code: number | null; out: string }> {
  const child = spawn(process.execPath, [MAIN, '--check', ...args], {
    env: {
      PATH,
      NODE_COMPILE_CACHE,
      HOST: '127.0.0.1',
      DATA_DIR: createFolder(onTestFinished),
      OPERATOR_TOKEN,
      ...env,
    },
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (out += chunk));
  return { code: await new Promise((resolve) => child.once('close', resolve)), out };
}

interface Faults {
  readonly change?: (headers: IncomingHttpHeaders) => IncomingHttpHeaders;
  readonly maxBytes?: number;
  /** Passes on the first bytes with the head, and all others at the end, as nginx does. */
  readonly collects?: boolean;
  /** Answers everything with 200, as a desk without protection would. */
  readonly opens?: boolean;
}

/** A proxy in front of the server. */
async function startProxy(target: string, { change = (headers) => headers, ...faults }: Faults): Promise<string> {
  const proxy = createServer((req, res) => {
    if (Number(req.headers['content-length'] ?? 0) > (faults.maxBytes ?? 1e9)) return res.writeHead(413).end();
    if (faults.opens && req.url?.includes('desk')) return res.end('open');
    const headers = change({ ...req.headers, 'x-forwarded-for': `${req.headers['x-forwarded-for']}, 127.0.0.1` });
    const onward = request(new URL(req.url ?? '/', target), { method: req.method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      res.writeHead(answer.statusCode ?? 0, answer.headers);
      let isFirst = true;
      answer.on('data', (chunk: Buffer) => {
        if (faults.collects && !isFirst) chunks.push(chunk);
        else res.write(chunk);
        isFirst = false;
      });
      answer.on('end', () => res.end(Buffer.concat(chunks)));
    });
    return req.pipe(onward);
  });
  return `http://127.0.0.1:${await listenInTest(proxy)}`;
}

describe('npm start -- --check', () => {
  it('exits with 0 and creates nothing if the server can start', async () => {
    const { code, out } = await check({});
    expect(out).toMatch(/^ok: \d+ MB are free in .+\nok: Build \w+\.\n$/);
    expect(code).toBe(0);
  });

  it('exits with 0 if a database answers, also without a desk, and with 1 if it takes no writes', async () => {
    const url = await createPostgresDatabase();
    expect(await check({ DESK_DATABASE_URL: url })).toMatchObject({ code: 0 });
    const driver = openPostgres(url);
    await openStore(driver, { environment: 'production' });
    await driver.run(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`);
    await driver.close();
    const { code, out } = await check({ DESK_DATABASE_URL: url });
    expect([code, out]).toEqual([1, expect.stringMatching(/^error: .*read-only transaction/m)]);
  });

  it('says so if a pooler does not give it a connection', async () => {
    const pooler = createNetServer((socket) => {
      // It accepts the user, and is silent from then on.
      socket.once('data', () => socket.write('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I')).on('error', () => undefined);
    });
    onTestFinished(() => void pooler.close());
    const { code, out } = await check({ DESK_DATABASE_URL: `postgres://desk@127.0.0.1:${await listen(pooler)}/desk` });
    expect([code, out]).toEqual([1, expect.stringContaining('error: The store does not answer.')]);
  });

  it('opens a SQLite store that a server may be using, and says what the server would', async () => {
    const DATA_DIR = createFolder(onTestFinished);
    const driver = openSqlite(join(DATA_DIR, 'desk.sqlite'), createTestLog());
    await openStore(driver, { environment: 'production' });
    expect(await check({ DATA_DIR })).toMatchObject({ code: 0 });
    await driver.run("UPDATE desk_meta SET value = '99'");
    const { code, out } = await check({ DATA_DIR });
    await driver.close();
    expect([code, out]).toEqual([1, expect.stringMatching(/^error: .*made by a newer release \(schema 99\)/m)]);
  });

  const many = {
    AUTH_PROXY_HEADER: 'X-User',
    TRUST_PROXY: '1',
    WEBHOOK_URL: 'canary',
    MAIL_TO: 'ada@example.com',
    DATA_DIR: '/dev/null',
  };
  it.each<[env: Record<string, string>, args: string[], ...found: RegExp[]]>([
    [
      { ...many, PORT: 'canary', DESK_PORT: '3000' },
      [],
      /^error: The setting PORT /m,
      /^error: The setting WEBHOOK_URL /m,
      /^error: .*AUTH_PROXY_SECRET/m,
      /^(?![\s\S]*both 3000)/,
    ],
    [
      many,
      ['http://127.0.0.1:1'],
      /^error: The setting WEBHOOK_URL /m,
      /^error: .*AUTH_PROXY_SECRET/m,
      /^error: SMTP_URL and MAIL_FROM/m,
      /^error: The folder \/dev\/null \(DATA_DIR\) cannot be written to/m,
      /^error: http:\/\/127\.0\.0\.1:1 cannot be reached/m,
    ],
    [{ DESK_DATABASE_URL: 'postgres://desk:canary@127.0.0.1:9/desk' }, [], /^error: PostgreSQL cannot be used/m],
    [{}, ['example'], /^example is not the URL of a site/m],
  ])('exits with 1 for %j %j, and says why', async (env, args, ...found) => {
    const { code, out } = await check(env, ...args);
    for (const words of found) expect(out).toMatch(words);
    expect(out).not.toContain('canary');
    expect(code).toBe(1);
  });
});

describe('npm start -- --check <url>', () => {
  const header = { AUTH_PROXY_HEADER: 'X-User', AUTH_PROXY_SECRET: 'a-secret-of-the-proxy', TRUST_PROXY: '127.0.0.1' };
  let server: E2eServer;
  beforeAll(async () => {
    server = await startServer({ OPERATOR_TOKEN, ...header });
    return () => server.stop();
  });

  it('names a store that is away', async () => {
    const ill = await startServer({ OPERATOR_TOKEN, DESK_DATABASE_URL: 'postgres://desk:canary@127.0.0.1:9/desk' });
    onTestFinished(() => ill.stop());
    await expect.poll(async () => (await fetch(`${ill.url}/readyz`)).text()).toContain('away');
    const { code, out } = await check({}, ill.url);
    expect([code, out]).toEqual([1, expect.stringMatching(/^error: .*"store":"away"/m)]);
    expect(ill.log()).toContain('store cannot be used');
    expect(ill.log()).not.toContain('canary');
  });

  it.each<[what: string, Faults, code: number, ...found: string[]]>([
    [
      'that is sound',
      { change: (headers) => ({ ...headers, 'x-forwarded-for': '198.51.100.4' }) },
      0,
      'ok: /desk is closed to strangers (401)',
      'ok: /desk is closed to a forged X-User (401)',
      'ok: /api/desk/incidents is closed to strangers (401)',
      'ok: The server sees this machine as 198.51.100.4.',
      'ok: A body of 67108864 bytes arrives.',
      'ok: Answers are streamed.',
    ],
    [
      'that passes on a forged address, names another scheme and host, and collects answers',
      { change: (headers) => ({ ...headers, 'x-forwarded-proto': 'https', host: 'inside.example' }), collects: true },
      1,
      'error: The server believes an address that the visitor sent',
      'error: The server sees https://inside.example instead of http://127.0.0.1:',
      'error: The proxy collects answers',
    ],
    [
      'that limits bodies, and checks the rest',
      { maxBytes: 1000, collects: true },
      1,
      'error: A body of 67108864 bytes is refused with 413',
      'error: The server believes an address that the visitor sent',
      'error: The proxy collects answers',
    ],
    ['that opens the desk', { opens: true }, 1, 'error: /desk answers 200 to strangers'],
  ])('checks a proxy %s', async (_what, faults, expected, ...found) => {
    const { code, out } = await check(header, await startProxy(server.url, faults));
    for (const words of found) expect.soft(out).toContain(`\n${words}`);
    expect(code).toBe(expected);
  });
});
