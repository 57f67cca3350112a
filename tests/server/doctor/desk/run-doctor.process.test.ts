import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { FindingGroup, Mark } from '../../../../src/server/doctor/finding.ts';
import { runDoctor } from '../../../../src/server/doctor/run-doctor.ts';
import { findCanaries, toCanary } from '../../../support/canaries.ts';
import { type Carelessness, startCarelessProxy } from '../../../support/careless-proxy.ts';
import { type E2eServer, startServer } from '../../../support/e2e-server.ts';
import { createFolder } from '../../../support/folder.ts';
import { findFreePort } from '../../../support/free-port.ts';
import { hasNginx, startNginx } from '../../../support/nginx.ts';
import { createOwnedApp, type OwnedApp, project } from '../../../support/owned-app.ts';

const TOKEN = 'the-token-of-an-operator-0';
const PROXY_SECRET = 'the-secret-of-the-proxy-0';

const dist = join(project, 'dist');

interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Told {
  readonly title: string;
  readonly counts: Readonly<Record<Mark, number>>;
  readonly groups: readonly FindingGroup[];
}

/** Runs the built command in a separate process. */
function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Said> {
  const inherited = { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(dist, 'doctor.mjs'), ...args],
      { env: { ...inherited, ...env }, cwd: tmpdir() },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });
}

const MOUNTS = '22 1 8:1 / / rw - ext4 /dev/sda1 rw\n';

/** Has no token, unlike `./data` after `npm start`. */
const NO_DATA = join(tmpdir(), 'none');

/** Runs the command in this process, which is faster. */
async function look(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  mounts = MOUNTS,
): Promise<Said> {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const loadProductSettings = async () => ({ table: {}, read: () => ({}) });
  const code = await runDoctor({
    args,
    env: { DATA_DIR: NO_DATA, ...env },
    out,
    err,
    dist,
    mounts,
    loadProductSettings,
  });
  const read = (stream: PassThrough): string => String(stream.read() ?? '');
  return { code, out: read(out), err: read(err) };
}

/** Returns the marks by subject. */
const measure = async (url: string, env: Readonly<Record<string, string>> = { OPERATOR_TOKEN: TOKEN }) =>
  listMarks(await look(env, [url, '--json']));

function listMarks({ code, out, err }: Said) {
  expect(err).toBe('');
  const told = JSON.parse(out) as Told;
  const findings = told.groups.flatMap((group) => group.findings);
  const marks = Object.fromEntries(findings.map(({ about, mark }) => [about, mark]));
  const lines = findings.flatMap(({ remedies = [] }) => remedies.map(({ line }) => line)).join('\n');
  expect(code).toBe(told.counts.wrong > 0 ? 1 : 0);
  return { code, marks, lines, findings };
}

function start(env: Record<string, string> = { OPERATOR_TOKEN: TOKEN }): Promise<E2eServer> {
  return startServer({ TRUST_PROXY: '1', ...env });
}

describe('this environment', () => {
  it('exits with 0 if there are only warnings', async () => {
    const { code, out, err } = await look({
      DATA_DIR: createFolder(onTestFinished),
      PUBLIC_ORIGIN: 'https://a.example',
    });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^Spillway \d+\.\d+\.\d+, as it would start here\n\nProgram\n/);
    expect(out).toContain(
      'warning  PUBLIC_ORIGIN: Nothing reads this variable.\n         Did you mean PUBLIC_ORIGINS?',
    );
    expect(out).toMatch(/\n0 wrong, \d warnings?, \d+ ok/);
    expect(out).not.toContain('\x1b');
  });

  it('exits with 1 if something is wrong, and reports the same as JSON', async () => {
    const env = { DATA_DIR: createFolder(onTestFinished), PORT: 'http' };
    expect((await look(env)).out).toContain('wrong    Settings: The setting PORT is not a port number.');
    const { code, out } = await look(env, ['--json']);
    const told = JSON.parse(out) as Told;
    expect({ code, wrong: told.counts.wrong }).toEqual({ code: 1, wrong: 1 });
    const kept = { DATA_DIR: createFolder(onTestFinished), NODE_ENV: 'production' };
    const inMemory = await look(kept, [], '22 1 0:4 / / rw - tmpfs tmpfs rw\n');
    expect(inMemory.out).toContain('wrong    Volume: DATA_DIR is in memory');
    expect(inMemory.code).toBe(1);
  });

  it('shows its usage, and exits with 2 for wrong arguments', async () => {
    expect((await look({}, ['--help'])).out).toContain('node dist/doctor.mjs https://www.example.com');
    expect((await look({ npm_lifecycle_event: 'doctor' }, ['-h'])).out).toContain('npm run doctor -- https://');
    expect(await look({}, ['www.example.com'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('https://'),
    });
  });

  it('prints no secret', async () => {
    const names = ['operator', 'viewer', 'database', 'webhook', 'mail', 'dsn', 'heartbeat', 'secret', 'other'];
    const canaries = Object.fromEntries(names.map((name) => [name, toCanary(name)]));
    const env = {
      DATA_DIR: createFolder(onTestFinished),
      OPERATOR_TOKEN: `ada:${canaries.operator}`,
      VIEWER_TOKEN: `vera:${canaries.viewer}`,
      DESK_DATABASE_URL: `postgres://ada:${canaries.database}@127.0.0.1:1/desk`,
      WEBHOOK_URL: `https://127.0.0.1/${canaries.webhook}`,
      WEBHOOK_SECRET: canaries.secret ?? '',
      SMTP_URL: `smtps://ada:${canaries.mail}@127.0.0.1`,
      MAIL_FROM: 'a@example.com',
      MAIL_TO: 'b@example.com',
      HEARTBEAT_URL: `https://127.0.0.1/${canaries.heartbeat}`,
      SENTRY_DSN: `https://${canaries.dsn}@127.0.0.1/1`,
      TRUST_PROXIES: canaries.other ?? '',
      PORT: canaries.other ?? '',
    };
    const told = await Promise.all([
      look(env),
      look(env, ['--json']),
      look({ ...env, OPERATOR_TOKEN: `${canaries.operator},` }),
    ]);
    const leftovers = told.map(({ out, err }, index) => ({ name: String(index), bytes: Buffer.from(out + err) }));
    expect(findCanaries(canaries, leftovers)).toEqual([]);
    expect(told[0]?.out).toContain('TRUST_PROXIES');
  });
});

describe('bin/doctor.mjs', () => {
  const runHere = (app: OwnedApp): Promise<Said> =>
    new Promise((resolve) => {
      const env = { PATH: process.env.PATH, npm_lifecycle_event: 'doctor', DATA_DIR: createFolder(onTestFinished) };
      execFile(process.execPath, [join(app.folder, 'bin/doctor.mjs')], { env }, (error, out, err) =>
        resolve({ code: error ? Number(error.code) : 0, out, err }),
      );
    });

  it('builds itself if it is missing, and reports that the sources have changed since the build', async () => {
    const app = createOwnedApp();
    onTestFinished(() => app.remove());
    await app.build();
    rmSync(join(app.folder, 'dist/doctor.mjs'));
    const first = await runHere(app);
    expect(first).toMatchObject({ err: '', out: expect.stringMatching(/^ok +Build: \w+/m) });
    expect(existsSync(join(app.folder, 'dist/doctor.mjs'))).toBe(true);
    app.write({ 'src/server/product/note.ts': '// new\n' });
    expect((await runHere(app)).out).toMatch(/^warning +Build: .* The sources have changed since/m);
  });
});

describe('a site', () => {
  let server: E2eServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.stop());

  /** @returns the marks for a site behind this proxy */
  async function through(careless: Carelessness) {
    const proxy = await startCarelessProxy(server.url, careless);
    return measure(proxy.url).finally(() => proxy.stop());
  }

  it('has no errors without a proxy', async () => {
    const { code, marks } = await measure(server.url);
    expect({ code, wrong: Object.keys(marks).filter((about) => marks[about] === 'wrong') }).toEqual({
      code: 0,
      wrong: [],
    });
    expect(marks).toMatchObject({
      "Visitor's address": 'warning',
      Host: 'warning',
      'Page, brotli': 'ok',
      'Request bodies': 'ok',
    });
  });

  it('has no errors behind a well configured proxy', async () => {
    const { code, marks } = await through({});
    expect(code).toBe(0);
    expect(marks).toMatchObject({
      Reachable: 'ok',
      "Visitor's address": 'ok',
      Scheme: 'ok',
      'Page, uncompressed': 'ok',
      'Server-sent events': 'ok',
      Compression: 'ok',
      ETag: 'ok',
      'Asset bytes': 'ok',
      'Security headers': 'ok',
      Metrics: 'ok',
      Desk: 'ok',
    });
  });

  // Concurrent, because each test mostly waits for streams.
  it.concurrent.each<[string, Carelessness, Record<string, Mark>, string]>([
    [
      'buffers responses',
      { buffers: true },
      { 'Page, uncompressed': 'wrong', 'Server-sent events': 'wrong' },
      'proxy_buffering off;',
    ],
    [
      'removes Accept-Encoding',
      { takesEncoding: true },
      { Compression: 'warning', 'Page, uncompressed': 'ok' },
      'Accept-Encoding',
    ],
    ['compresses twice', { compressesTwice: true }, { 'Asset bytes': 'wrong' }, 'gzip off;'],
    ['limits request bodies', { maxBody: 1000 }, { 'Request bodies': 'wrong' }, 'client_max_body_size 2m;'],
    [
      "does not forward the visitor's address",
      { forwards: 'nothing' },
      { "Visitor's address": 'wrong' },
      'option forwardfor',
    ],
    [
      'forwards headers that the visitor sent',
      { forwards: 'what-it-got' },
      { "Visitor's address": 'wrong', Scheme: 'warning', Host: 'wrong' },
      '$remote_addr',
    ],
    [
      'sends another Host header',
      { exchangesHost: true, forwards: 'nothing' },
      { Host: 'wrong' },
      'proxy_set_header Host',
    ],
    ['caches pages', { keeps: true }, { 'Page cache': 'wrong' }, 'proxy_cache_valid'],
    [
      'sets the age of assets',
      { agesAssets: true },
      { 'Asset cache': 'warning', ETag: 'warning' },
      'add_header Cache-Control',
    ],
    ['adds headers', { doublesHeaders: true }, { 'Security headers': 'warning' }, 'add_header'],
    ['removes the token', { takesToken: true }, { Token: 'wrong' }, '$http_authorization'],
    ['adds a token', { addsToken: TOKEN }, { Metrics: 'wrong', Desk: 'wrong' }, 'DESK_PORT'],
  ])('is diagnosed behind a proxy that %s', async (_name, careless, wanted, line) => {
    const { marks, lines } = await through(careless);
    expect(marks).toMatchObject(wanted);
    expect(lines).toContain(line);
  });

  it.concurrent.for<[string, string, Carelessness, Mark]>([
    ['adds the secret for every name', 'X-Forwarded-User', { addsProxySecret: PROXY_SECRET }, 'wrong'],
    ['adds the secret for every name in a custom header', 'X-Our-User', { addsProxySecret: PROXY_SECRET }, 'wrong'],
    ['forwards what the visitor sends, without the secret', 'X-Forwarded-User', { forwards: 'what-it-got' }, 'ok'],
    ['has another secret', 'X-Forwarded-User', { addsProxySecret: `${PROXY_SECRET}-of-before` }, 'ok'],
  ])(
    'is diagnosed behind an authenticating proxy that %s',
    async ([_name, AUTH_PROXY_HEADER, careless, mark], { onTestFinished }) => {
      const settings = { OPERATOR_TOKEN: TOKEN, AUTH_PROXY_HEADER, AUTH_PROXY_SECRET: PROXY_SECRET };
      const proxied = await start({ ...settings, TRUST_PROXY: 'loopback' });
      onTestFinished(() => proxied.stop());
      const proxy = await startCarelessProxy(proxied.url, careless);
      onTestFinished(() => proxy.stop());
      const { marks, findings } = await measure(proxy.url, settings);
      expect(marks).toMatchObject({ 'Forged sign-in': mark, Desk: 'ok' });
      const found = findings.find(({ about }) => about === 'Forged sign-in')?.found;
      if (mark === 'wrong') expect(found).toContain('/desk, /desk/_data');
      expect(JSON.stringify(findings)).not.toContain(PROXY_SECRET);
    },
  );

  it('is checked only from outside without a token or with a wrong one', async () => {
    const without = await measure(server.url, {});
    expect(without.marks).toMatchObject({
      Compression: 'ok',
      'Address, scheme, host, WebSockets, streams, limits': 'unknown',
    });
    const wrong = await measure(server.url, { VIEWER_TOKEN: 'a-token-of-somebody-else' });
    expect(wrong).toMatchObject({ code: 1, marks: { Token: 'wrong' } });
    expect(JSON.stringify(wrong.findings)).not.toContain('somebody-else');
  });

  it("is checked with a token from a file, or from the server's data folder", async () => {
    const file = join(createFolder(onTestFinished), 'token');
    writeFileSync(file, `${TOKEN}\n`);
    expect((await run([server.url, '--token-file', file])).out).toContain('Streams\n');
    const own = await start({});
    onTestFinished(() => own.stop());
    expect((await measure(own.url, { DATA_DIR: own.dataDir })).marks).toMatchObject({ 'Request bodies': 'ok' });
    const none = await run([server.url, '--token-file', `${file}.not`]);
    expect(none).toMatchObject({ code: 1, out: '', err: expect.stringContaining('cannot be read (ENOENT)') });
  });

  it('never gets the token if it is only the target of a redirect', async () => {
    const asked: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      asked.push(request.headers.authorization);
      response.writeHead(302, { Location: server.url, 'X-Request-Id': 'a-redirect' }).end();
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as { port: number };
    const before = server.log().length;
    expect((await measure(`http://127.0.0.1:${port}`)).marks).toMatchObject({ Token: 'wrong' });
    expect(asked.filter((header) => header !== undefined)).toHaveLength(1);
    expect(server.log().slice(before)).not.toContain('"path":"/"');
  });

  it('is reported if it is unreachable or not Spillway', async () => {
    const port = await findFreePort();
    expect(await measure(`http://127.0.0.1:${port}`)).toMatchObject({ code: 1, marks: { Reachable: 'wrong' } });
    expect((await measure(`https://127.0.0.1:${new URL(server.url).port}`)).marks).toEqual({ Reachable: 'wrong' });
    const stranger = createServer((_request, response) => void response.end('hello'));
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void stranger.close());
    const { port: its } = stranger.address() as { port: number };
    expect((await measure(`http://127.0.0.1:${its}`)).marks).toMatchObject({ Reachable: 'wrong', TLS: 'unknown' });
  });

  it('is reported if it accepts only another origin', async () => {
    const strict = await start({ OPERATOR_TOKEN: TOKEN, PUBLIC_ORIGINS: 'http://www.example.com' });
    onTestFinished(() => strict.stop());
    const { marks, lines } = await measure(strict.url);
    expect(marks).toMatchObject({ Reachable: 'wrong', Host: 'wrong', 'Other hosts': 'ok' });
    expect(lines).toContain(`PUBLIC_ORIGINS=${strict.url}`);
  });
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

describe.skipIf(!hasOpenssl)(
  `a site with TLS${hasOpenssl ? '' : ' (skipped: there is no openssl on the PATH)'}`,
  () => {
    /** Returns a self-signed certificate. */
    function makeCertificate(): { readonly file: string; readonly tls: { key: Buffer; cert: Buffer } } {
      const folder = createFolder(onTestFinished);
      const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
      const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '90'];
      const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
      spawnSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...subject]);
      return { file: cert, tls: { key: readFileSync(key), cert: readFileSync(cert) } };
    }

    it('gets the token only if its certificate is valid', async () => {
      const server = await start();
      onTestFinished(() => server.stop());
      const { file, tls } = makeCertificate();
      const proxy = await startCarelessProxy(server.url, { tls });
      onTestFinished(() => proxy.stop());

      const refused = await measure(proxy.url);
      expect(refused).toMatchObject({ code: 1, marks: { Certificate: 'wrong', HSTS: 'ok', Compression: 'ok' } });
      expect(server.log()).not.toContain('/_doctor/');

      // Node reads this setting at startup.
      const good = listMarks(await run([proxy.url, '--json'], { OPERATOR_TOKEN: TOKEN, NODE_EXTRA_CA_CERTS: file }));
      expect(good.marks).toMatchObject({
        Certificate: 'ok',
        'HTTP version': 'warning',
        HSTS: 'ok',
        Scheme: 'ok',
        "Visitor's address": 'ok',
        'Page, gzip': 'ok',
      });
      expect(good.code).toBe(0);
    });
  },
);

describe.skipIf(!hasNginx)(`a site behind nginx${hasNginx ? '' : ' (skipped: there is no nginx on the PATH)'}`, () => {
  const FORWARDED = `
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header X-Forwarded-Host $http_host;`;

  async function through(directives: string) {
    const port = await findFreePort();
    const server = await start({ OPERATOR_TOKEN: TOKEN, PUBLIC_ORIGINS: `http://127.0.0.1:${port}` });
    onTestFinished(() => server.stop());
    const nginx = await startNginx({ upstream: new URL(server.url).host, port, directives });
    onTestFinished(() => nginx.stop());
    return measure(`http://127.0.0.1:${port}`);
  }

  it('has no errors in its installed configuration', async () => {
    const { code, marks } = await through(FORWARDED);
    const ill = Object.entries(marks).filter(([, mark]) => mark !== 'ok');
    // Without TLS there is nothing to check.
    expect({ code, ill }).toEqual({ code: 0, ill: [['TLS', 'unknown']] });
  });

  it('gets remedies only for nginx and the settings in a careless configuration', async () => {
    const { code, marks, lines, findings } = await through(`
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $http_x_forwarded_for;
      proxy_set_header Accept-Encoding "";
      proxy_ignore_headers X-Accel-Buffering;
      client_max_body_size 1k;
      gzip off;
      add_header X-Frame-Options SAMEORIGIN;`);
    expect(code).toBe(1);
    expect(marks).toMatchObject({
      "Visitor's address": 'wrong',
      Scheme: 'warning',
      'Page, uncompressed': 'wrong',
      'Server-sent events': 'wrong',
      'Request bodies': 'wrong',
      Compression: 'warning',
      'Security headers': 'warning',
    });
    for (const line of [
      '$remote_addr',
      'X-Forwarded-Proto $scheme',
      'proxy_buffering off;',
      'client_max_body_size 2m;',
    ]) {
      expect(lines).toContain(line);
    }
    const places = findings.flatMap(({ remedies = [] }) => remedies.map(({ place }) => place));
    expect(new Set(places)).toEqual(new Set(['setting', 'nginx']));
  });

  it('is diagnosed if nginx forwards no headers', async () => {
    const { marks, lines } = await through('');
    expect(marks).toMatchObject({ Reachable: 'wrong', Host: 'wrong', "Visitor's address": 'wrong' });
    expect(lines).toContain('proxy_set_header Host $http_host;');
  });
});
