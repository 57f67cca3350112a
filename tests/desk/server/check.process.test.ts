import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type E2eServer, startServer } from '../../support/e2e-server.ts';
import { usePostgres } from '../support/use-postgres.ts';

const postgres = usePostgres();
const MAIN = fileURLToPath(new URL('../../../dist/server/main.js', import.meta.url));
const { PATH, NODE_COMPILE_CACHE } = process.env;
const OPERATOR_TOKEN = 'a-token-of-an-operator';

async function check(env: Record<string, string>, ...args: string[]): Promise<{ code: number | null; out: string }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'spillway-check-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const child = spawn(process.execPath, [MAIN, '--check', ...args], {
    env: { PATH, NODE_COMPILE_CACHE, HOST: '127.0.0.1', DATA_DIR: dataDir, OPERATOR_TOKEN, ...env },
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (out += chunk));
  return { code: await new Promise((resolve) => child.once('exit', resolve)), out };
}

interface Faults {
  readonly change?: (headers: IncomingHttpHeaders) => IncomingHttpHeaders;
  readonly maxBytes?: number;
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
      answer.on('data', (chunk: Buffer) => (faults.collects ? chunks.push(chunk) : res.write(chunk)));
      answer.on('end', () => res.end(Buffer.concat(chunks)));
    });
    return req.pipe(onward);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void proxy.close());
  await new Promise((resolve) => proxy.once('listening', resolve));
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

describe('npm start -- --check', () => {
  it('exits with 0 and creates nothing if the server can start', async () => {
    const { code, out } = await check({});
    expect(out).toMatch(/^ok: \d+ MB are free in .+\nok: Build \w+\.\n$/);
    expect(code).toBe(0);
  });

  it('exits with 0 if the database answers, also without a desk', async () => {
    expect(await check({ DESK_DATABASE_URL: await postgres.createDatabase() })).toMatchObject({ code: 0 });
  });

  const many = { AUTH_PROXY_HEADER: 'X-User', TRUST_PROXY: '1', MAIL_TO: 'ada@example.com', DATA_DIR: '/dev/null' };
  it.each<[env: Record<string, string>, args: string[], ...found: RegExp[]]>([
    [{ PORT: 'canary', WEBHOOK_URL: 'canary' }, [], /^error: The setting PORT /m, /^error: The setting WEBHOOK_URL /m],
    [{ TOUR_FAILURES: 'canary' }, [], /^error: The setting TOUR_FAILURES /m],
    [
      many,
      ['http://127.0.0.1:1'],
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
  const header = { AUTH_PROXY_HEADER: 'X-User', AUTH_PROXY_SECRET: 'a-secret-of-the-proxy' };
  let server: E2eServer;
  beforeAll(async () => {
    server = await startServer({ OPERATOR_TOKEN, TRUST_PROXY: '127.0.0.1', ...header });
    return () => server.stop();
  });

  const aside = (url: string) => check({ ...header, TRUST_PROXY: '127.0.0.1' }, url);

  it('finds nothing wrong behind a sound proxy', async () => {
    const change = (headers: IncomingHttpHeaders) => ({ ...headers, 'x-forwarded-for': '198.51.100.4' });
    const { code, out } = await aside(await startProxy(server.url, { change }));
    for (const line of [
      'ok: /desk is closed to strangers (401)',
      'ok: /desk is closed to a forged X-User (401)',
      'ok: /api/desk/incidents is closed to strangers (401)',
      'ok: The server sees this machine as 198.51.100.4.',
      'ok: A body of 67108864 bytes arrives.',
      'ok: Answers are streamed.',
    ]) {
      expect(out).toContain(line);
    }
    expect(code).toBe(0);
  });

  it('names a store that is away', async () => {
    const ill = await startServer({ OPERATOR_TOKEN, DESK_DATABASE_URL: 'postgres://desk:canary@127.0.0.1:9/desk' });
    onTestFinished(() => ill.stop());
    await expect.poll(async () => (await fetch(`${ill.url}/readyz`)).text()).toContain('away');
    const { code, out } = await check({}, ill.url);
    expect([code, out]).toEqual([1, expect.stringMatching(/^error: .*"store":"away"/m)]);
  });

  it.each<[what: string, Faults, ...found: string[]]>([
    [
      'passes on a forged address, names another scheme and collects answers',
      { change: (headers) => ({ ...headers, 'x-forwarded-proto': 'https' }), collects: true },
      'The server believes an address that the visitor sent',
      'The server sees https://127.0.0.1:',
      'The proxy collects answers',
    ],
    ['limits bodies', { maxBytes: 1000 }, 'A body of 67108864 bytes is refused with 413'],
    [
      'names another host',
      { change: (headers) => ({ ...headers, host: 'inside.example' }) },
      'The server sees http://inside.example instead of http://127.0.0.1:',
    ],
    ['opens the desk', { opens: true }, '/desk answers 200 to strangers'],
  ])('names a proxy that %s', async (_what, faults, ...found) => {
    const { code, out } = await aside(await startProxy(server.url, faults));
    for (const words of found) expect.soft(out).toContain(`\nerror: ${words}`);
    expect(code).toBe(1);
  });
});
