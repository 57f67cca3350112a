import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../../support/free-port.ts';
import { readProjectFile } from '../../support/owned-app.ts';
import { createProxyFolder, type ProxyProcess, startProxyProcess } from './proxy-process.ts';

export type ProxyName = 'nginx' | 'haproxy' | 'caddy';

export const PROXIES: readonly ProxyName[] = ['nginx', 'haproxy', 'caddy'];

/** The host in the examples. */
export const HOST = 'www.example.com';

/** The replicas in the examples. */
const REPLICAS = ['10.0.0.11:3000', '10.0.0.12:3000'] as const;

interface ProxyOptions {
  /** Host and port of each replica. */
  readonly replicas: readonly [one: string, two: string];
  /** Replacements, by the text of the example that they replace. */
  readonly changes?: Readonly<Record<string, string>>;
}

export type RunningProxy = Awaited<ReturnType<typeof startProxy>>;

interface Place {
  readonly folder: string;
  readonly httpPort: number;
  readonly httpsPort: number;
}

/** The reason why this proxy cannot run here; undefined if it can. */
export function whyNot(name: ProxyName): string | undefined {
  const missing = [name, 'openssl'].find((program) => !isInstalled(program));
  return missing && `${missing} is not on the PATH.`;
}

function isInstalled(program: string): boolean {
  const question = { nginx: '-v', haproxy: '-v' }[program] ?? 'version';
  return spawnSync(program, [question]).status === 0;
}

/** Starts a proxy with its example in docs/proxies or compose.yaml. Only ports, replicas and certificate are replaced. */
export async function startProxy(name: ProxyName, { replicas, changes = {} }: ProxyOptions) {
  const place = { folder: createProxyFolder(), httpPort: await findFreePort(), httpsPort: await findFreePort() };
  const certificate = makeCertificate(place.folder);
  const text = exchange(readExample(name), {
    [REPLICAS[0]]: replicas[0],
    [REPLICAS[1]]: replicas[1],
    ...changes,
  });
  const ports = [place.httpPort, place.httpsPort];
  const running = await STARTS[name](text, place, ports);
  /** The certificate is the one that clients must trust (PEM). */
  return { ...running, httpPort: place.httpPort, httpsPort: place.httpsPort, certificate };
}

/** The complete configuration that the docs have for a proxy. */
export function readExample(name: ProxyName): string {
  if (name === 'nginx') return readProjectFile('docs/proxies/nginx.conf');
  return name === 'haproxy' ? readProjectFile('docs/proxies/haproxy.cfg') : readCaddyfile();
}

/** The parts of a configuration for nginx in docs/operating.md, in their order. */
export function readNginxParts(): string[] {
  const page = readProjectFile('docs/operating.md');
  return [...page.matchAll(/^```nginx\n(.*?)^```$/gms)].map(([, text = '']) => text);
}

/** Returns the Caddyfile of compose.yaml, with host and replicas as in docs/proxies. */
function readCaddyfile(): string {
  const [, text = ''] = /\n {2}caddyfile:\n {4}content: \|\n(.*?)\n(?=\S)/s.exec(readProjectFile('compose.yaml')) ?? [];
  return text
    .replaceAll(/^ {6}/gm, '')
    .replace('{$$SITE}', () => HOST)
    .replace('site-1:3000 site-2:3000', REPLICAS.join(' '));
}

type Start = (text: string, place: Place, ports: readonly number[]) => Promise<ProxyProcess>;

const STARTS: Readonly<Record<ProxyName, Start>> = {
  nginx(text, { folder, httpPort, httpsPort }, ports) {
    const site = exchange(text, {
      'listen 80;': `listen 127.0.0.1:${httpPort};`,
      'listen 443 ': `listen 127.0.0.1:${httpsPort} `,
      '/etc/ssl/': `${folder}/`,
    });
    const file = join(folder, 'nginx.conf');
    writeFileSync(file, toNginxConfiguration(folder, site));
    const options = ['-p', folder, '-c', file, '-e', join(folder, 'error.log'), '-g', 'daemon off;'];
    return startProxyProcess(['nginx', ...options], { folder, ports });
  },
  haproxy(text, { folder, httpPort, httpsPort }, ports) {
    const file = join(folder, 'haproxy.cfg');
    const configuration = exchange(text, {
      'bind :80\n': `bind 127.0.0.1:${httpPort}\n`,
      'bind :443 ': `bind 127.0.0.1:${httpsPort} `,
      '/etc/ssl/': `${folder}/`,
    });
    writeFileSync(file, configuration);
    return startProxyProcess(['haproxy', '-db', '-f', file], { folder, ports });
  },
  caddy(text, { folder, httpPort, httpsPort }, ports) {
    const file = join(folder, 'Caddyfile');
    const configuration = exchange(text, {
      // The ports and the admin endpoint are global options of Caddy. The test certificate is an option of the site.
      '{\n  servers {': `{\n\tadmin off\n\tdefault_bind 127.0.0.1\n\thttp_port ${httpPort}\n\thttps_port ${httpsPort}\n\tservers {`,
      [`\n${HOST} {\n`]: `\n${HOST} {\n\ttls ${folder}/example.pem ${folder}/example.key\n`,
    });
    writeFileSync(file, configuration);
    return startProxyProcess(['caddy', 'run', '--adapter', 'caddyfile', '--config', file], { folder, ports });
  },
};

/** The distribution's configuration, with its directories and sites replaced. */
function toNginxConfiguration(folder: string, site: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join('\n');
  return readFileSync('/etc/nginx/nginx.conf', 'utf8')
    .replace(/^\s*user .*$/m, '')
    .replace(/^\s*include .*(?:modules-enabled|conf\.d).*$/gm, '')
    .replace(/^\s*include .*sites-enabled.*$/m, () => `${temporary}\n${site}`)
    .replace(/^\s*pid .*$/m, `pid ${folder}/nginx.pid;`)
    .replaceAll('/var/log/nginx', folder);
}

/** @throws if the text does not contain one of the texts to replace */
function exchange(text: string, changes: Readonly<Record<string, string>>): string {
  let result = text;
  for (const [from, to] of Object.entries(changes)) {
    if (!result.includes(from)) throw new Error(`The example holds no "${from}".`);
    result = result.replaceAll(from, () => to);
  }
  return result;
}

/** Writes `example.pem` (with the key, because HAProxy needs it there) and `example.key`. @returns the certificate */
function makeCertificate(folder: string): string {
  const [pem, key] = [join(folder, 'example.pem'), join(folder, 'example.key')];
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const subject = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`];
  execFileSync('openssl', [...request, ...subject, '-keyout', key, '-out', pem], { stdio: 'ignore' });
  const certificate = readFileSync(pem, 'utf8');
  writeFileSync(pem, certificate + readFileSync(key, 'utf8'));
  return certificate;
}
