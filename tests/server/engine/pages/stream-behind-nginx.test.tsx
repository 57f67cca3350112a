import '../../../support/production-react.ts';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { useData } from '../../../../src/shared/engine/hooks.ts';
import { Late } from '../../../../src/shared/engine/late.tsx';
import {
  parseData,
  parseDocument,
  type Reply,
  readReply,
  startPages,
  type TestPage,
  toDataPath,
} from '../../../support/pages-app.tsx';
import { until } from '../../../support/until.ts';

const DEFAULTS = '/etc/nginx/nginx.conf';
const hasNginx = spawnSync('nginx', ['-v']).status === 0;
const LATE_MS = 500;

function Page() {
  return (
    <Late value={useData<{ late: Promise<string> }>().late} fallback={<i>waiting</i>}>
      {(value) => <b>{value}</b>}
    </Late>
  );
}

const TABLE: readonly TestPage[] = [
  {
    id: 'page',
    path: '/page',
    view: Page,
    server: { loader: () => ({ late: new Promise((resolve) => setTimeout(resolve, LATE_MS, 'late is here')) }) },
  },
];

/** The distribution's own configuration, with its directories and the one server exchanged for ours. */
function toConfiguration(directory: string, port: number, upstream: number): string {
  const server = `server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${upstream}; } }`;
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${directory}/${kind};`)
    .join('\n');
  return readFileSync(DEFAULTS, 'utf8')
    .replace(/^\s*user .*$/m, '')
    .replace(/^\s*include .*(?:modules-enabled|conf\.d).*$/gm, '')
    .replace(/^\s*include .*sites-enabled.*$/m, `${temporary}\n${server}`)
    .replace(/^\s*pid .*$/m, `pid ${directory}/nginx.pid;`)
    .replaceAll('/var/log/nginx', directory);
}

async function startNginx(upstream: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'spillway-nginx-'));
  const port = await findFreePort();
  writeFileSync(join(directory, 'nginx.conf'), toConfiguration(directory, port, upstream));
  const nginx: ChildProcess = spawn(
    'nginx',
    ['-p', directory, '-c', join(directory, 'nginx.conf'), '-e', join(directory, 'error.log'), '-g', 'daemon off;'],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let complaint = '';
  nginx.stderr?.on('data', (bytes: Buffer) => {
    complaint += bytes.toString();
  });
  const ended = new Promise<void>((resolve) => nginx.on('exit', () => resolve()));
  onTestFinished(async () => {
    nginx.kill('SIGTERM');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  });
  let isUp = false;
  const poll = (): void => {
    const request = get({ host: '127.0.0.1', port, path: '/livez', agent: false }, (response) => {
      response.resume();
      isUp = response.statusCode === 200;
    });
    request.on('error', () => setTimeout(poll, 20));
  };
  poll();
  await until(
    () => {
      if (nginx.exitCode !== null) throw new Error(`nginx ended: ${complaint}`);
      return isUp;
    },
    'nginx to listen',
    5000,
  );
  return port;
}

function findFreePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

describe.skipIf(!hasNginx)(
  `behind nginx as it is installed${hasNginx ? '' : ' (skipped: there is no nginx on the PATH)'}`,
  () => {
    it.each([
      ['without compression', undefined, {}],
      ['with gzip', 'gzip', { 'Accept-Encoding': 'gzip' }],
      ['with br', 'br', { 'Accept-Encoding': 'br' }],
    ])('the shell comes before what is late, %s', async (_name, encoding, headers) => {
      const app = await startPages(TABLE, { compression: encoding !== undefined });
      const port = await startNginx(app.port);
      const ask = (path: string): Promise<Reply> =>
        readReply(get({ host: '127.0.0.1', port, path, headers, agent: false }));

      const page = await ask('/page');
      expect([page.status, page.headers['content-encoding']]).toEqual([200, encoding]);
      const shell = page.chunks.find(({ text }) => text.includes('waiting'));
      const late = page.chunks.find(({ text }) => text.includes('late is here'));
      expect(late?.at).toBeGreaterThan(LATE_MS - 50);
      expect((late?.at ?? 0) - (shell?.at ?? 0)).toBeGreaterThan(LATE_MS / 2);
      expect(parseDocument(page.text).decoder.pending).toBe(0);

      const data = await ask(toDataPath('/page'));
      expect(data.headers['content-encoding']).toBe(encoding);
      const [first] = data.chunks;
      expect(first?.text).toMatch(/^\{.*\}\n$/);
      expect((data.chunks.at(-1)?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(LATE_MS / 2);
      expect(parseData(data.text).late).toHaveLength(1);
    });
  },
);
