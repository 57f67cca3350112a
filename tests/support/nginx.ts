import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from './free-port.ts';
import { createProxyFolder, type ProxyProcess, startProxyProcess } from './proxy-process.ts';

const DEFAULTS = '/etc/nginx/nginx.conf';

export const hasNginx = spawnSync('nginx', ['-v']).status === 0;

export interface NginxOptions {
  /** Host and port. */
  readonly upstream: string;
  readonly port?: number;
  /** Directives next to `proxy_pass`. */
  readonly directives?: string;
}

export interface Nginx extends ProxyProcess {
  readonly port: number;
}

/** Starts the installed nginx in front of a server. */
export async function startNginx({ upstream, port: wanted, directives = '' }: NginxOptions): Promise<Nginx> {
  const port = wanted ?? (await findFreePort());
  const location = `location / { proxy_pass http://${upstream}; ${directives} }`;
  const { output, stop } = await runNginx(createProxyFolder(), `server { listen 127.0.0.1:${port}; ${location} }`, [
    port,
  ]);
  return { port, output, stop };
}

/** @param site the text of a file in `conf.d` */
export function runNginx(folder: string, site: string, ports: readonly number[]): Promise<ProxyProcess> {
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, toConfiguration(folder, site));
  return startProxyProcess(['nginx', '-p', folder, '-c', file, '-e', join(folder, 'error.log'), '-g', 'daemon off;'], {
    folder,
    ports,
  });
}

/** The distribution's configuration, with its directories and sites replaced. */
function toConfiguration(folder: string, site: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join('\n');
  return readFileSync(DEFAULTS, 'utf8')
    .replace(/^\s*user .*$/m, '')
    .replace(/^\s*include .*(?:modules-enabled|conf\.d).*$/gm, '')
    .replace(/^\s*include .*sites-enabled.*$/m, () => `${temporary}\n${site}`)
    .replace(/^\s*pid .*$/m, `pid ${folder}/nginx.pid;`)
    .replaceAll('/var/log/nginx', folder);
}
