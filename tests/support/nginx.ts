import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from './free-port.ts';
import { until } from './until.ts';

const DEFAULTS = '/etc/nginx/nginx.conf';

export const hasNginx = spawnSync('nginx', ['-v']).status === 0;

export interface NginxOptions {
  /** Host and port. */
  readonly upstream: string;
  readonly port?: number;
  /** Directives beside `proxy_pass`. */
  readonly directives?: string;
}

export interface Nginx {
  readonly port: number;
  stop(): Promise<void>;
}

/** nginx as it is installed, in front of a server that answers `/livez`. */
export async function startNginx({ upstream, port: wanted, directives = '' }: NginxOptions): Promise<Nginx> {
  const directory = mkdtempSync(join(tmpdir(), 'spillway-nginx-'));
  // Started by root, its workers are somebody else, and keep long bodies there.
  chmodSync(directory, 0o755);
  const port = wanted ?? (await findFreePort());
  const location = `location / { proxy_pass http://${upstream}; ${directives} }`;
  const server = `server { listen 127.0.0.1:${port}; ${location} }`;
  writeFileSync(join(directory, 'nginx.conf'), toConfiguration(directory, server));
  const nginx = spawn(
    'nginx',
    ['-p', directory, '-c', join(directory, 'nginx.conf'), '-e', join(directory, 'error.log'), '-g', 'daemon off;'],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let complaint = '';
  nginx.stderr.on('data', (bytes: Buffer) => {
    complaint += bytes.toString();
  });
  const ended = new Promise<void>((resolve) => nginx.on('exit', () => resolve()));
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
  return {
    port,
    async stop() {
      nginx.kill('SIGTERM');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The distribution's own configuration, with its directories and the one server exchanged for ours. */
function toConfiguration(directory: string, server: string): string {
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
