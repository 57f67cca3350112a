import { execFile, execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ADDRESS, readPlaces } from '../../support/gallery.ts';
import { createOwnedApp, type OwnedApp } from '../../support/owned-app.ts';
import { runDesk } from '../../support/terminal.ts';
import { usePostgres } from '../../support/use-postgres.ts';

const TOKEN = 'a-token-of-sixteen-characters';
/** Includes CSI of the C1 control characters, which HTTP allows in a header. */
const EVIL_AGENT = 'evil\x9b2J\x85agent';

let app: OwnedApp;
const postgres = usePostgres();
beforeAll(async () => {
  app = createOwnedApp([], { over: 'gallery' });
  await app.build();
}, 180_000);
afterAll(() => app?.remove());

interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the built command with piped output. */
function run(args: readonly string[], env: Readonly<Record<string, string>>, file = 'dist/desk.mjs'): Promise<Said> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(app.folder, file), ...args],
      { cwd: app.folder, env: { ...process.env, ...env } },
      (error, out, err) => {
        resolve({ code: error ? Number(error.code) : 0, out, err });
      },
    );
  });
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-terminal-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe.each([
  ['SQLite', async () => ({})],
  ['PostgreSQL', async () => ({ DESK_DATABASE_URL: await postgres.createDatabase() })],
])('the built command next to its server, on %s', (_name, makeEnv) => {
  test('finds the source line of an address, signs in, and restores the store', async () => {
    const env: Record<string, string> = { ...(await makeEnv()), DATA_DIR: makeFolder(), OPERATOR_TOKEN: TOKEN };
    const server = await app.start(env);
    const reply = await fetch(`${server.url}/loader/property?x=%1b%5b2J`, { headers: { 'User-Agent': EVIL_AGENT } });
    const address = reply.headers.get('x-error-digest') ?? '';
    expect(address).toMatch(ADDRESS);

    const place = readPlaces(app.folder).get('loader-property') ?? '';
    const line = place.split(':')[1];
    // Immediately after its start, a server can still be creating its tables.
    await expect.poll(() => run([address], env), { timeout: 20_000 }).toMatchObject({ code: 0, err: '' });
    const plain = await run([address], env);
    expect(plain.out).toContain(`Where  ${place}`);
    expect(plain.out).toMatch(new RegExp(`> +${line} │ +return \\{ text: order\\.customer\\.name \\};`));
    expect(plain.out).toContain('evil\\x9b2J\\x85agent');
    expect(plain.out).not.toMatch(/[^\P{C}\n]/u);

    const coloured = await run([address], { ...env, FORCE_COLOR: '1' });
    expect(coloured.out).toContain('\x1b[35mreturn\x1b[0m');
    expect((await run([address], { ...env, FORCE_COLOR: '0' })).out).not.toContain('\x1b');

    const link = (await run(['link'], { ...env, PUBLIC_ORIGINS: server.url })).out.trim();
    const body = new URLSearchParams({
      _action: 'root.signIn',
      ticket: new URL(link).searchParams.get('ticket') ?? '',
    });
    const signIn = () => fetch(link, { method: 'POST', body, redirect: 'manual', headers: { Origin: server.url } });
    const signedIn = await signIn();
    expect(signedIn.status).toBe(303);
    expect((await signIn()).status).not.toBe(303);
    const Cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';

    await run(['resolve', address, '--as', 'ada'], env);
    const page = await fetch(`${server.url}/desk/${address.slice(0, 8)}`, { headers: { Cookie } });
    expect(await page.text()).toContain('Resolved');

    const isSqlite = env.DESK_DATABASE_URL === undefined;
    const file = join(env.DATA_DIR ?? '', 'backup.sqlite');
    expect((await run(['backup', file], env)).code).toBe(isSqlite ? 0 : 1);
    if (isSqlite) expect(statSync(file).mode & 0o777).toBe(0o600);
    const restore = isSqlite ? ['restore', file] : ['restore'];
    expect((await run(restore, env)).err).toContain('Stop');
    await server.stop();
    if (isSqlite) writeFileSync(join(env.DATA_DIR ?? '', 'desk.sqlite'), 'wrecked');
    expect(await run(restore, env)).toMatchObject({ code: 0, err: expect.stringContaining('Start the server.') });
    const again = await run([address], env);
    expect(again.out).toMatch(/Resolved \(by ada/);
    expect(again.out.slice(again.out.indexOf('\nStack'), again.out.indexOf('\nHow often'))).toBe(
      plain.out.slice(plain.out.indexOf('\nStack'), plain.out.indexOf('\nHow often')),
    );
  });
});

describe('the built command', () => {
  test('exits silently when its output is no longer read', async () => {
    const env = { DATA_DIR: makeFolder() };
    const server = await app.start(env);
    for (const way of ['property', 'thrown', 'cause']) await fetch(`${server.url}/loader/${way}`);
    const shell = (rest: string) =>
      execFileSync('sh', ['-c', `"$0" "$1" ${rest} 2>&1`, process.execPath, join(app.folder, 'dist/desk.mjs')], {
        env: { ...process.env, ...env },
        encoding: 'utf8',
      });
    expect(shell('| head -1')).toMatch(/^DIGEST[^\n]*\n$/);
    for (const rest of ['--json | true', 'help | true', '--json | head -c 10 >/dev/null']) expect(shell(rest)).toBe('');
    await server.stop();
  });

  test.skipIf(!existsSync('/usr/bin/script'))('fits the width of a terminal, and prints colours', async () => {
    const env = { DATA_DIR: makeFolder() };
    const server = await app.start(env);
    await fetch(`${server.url}/loader/property`);
    // Its end stores what it has in its journal.
    await server.stop();
    const command = `stty cols 50; "${process.execPath}" "${join(app.folder, 'dist/desk.mjs')}"`;
    const out = execFileSync('script', ['-qec', command, '/dev/null'], {
      env: { ...process.env, ...env, TERM: 'xterm', NO_COLOR: '', SHELL: '/bin/sh' },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect(out).toContain('\x1b[36m');
    const colours = new RegExp(`${'\x1b'}\\[[\\d;]+m`, 'g');
    const rows = out.replaceAll(colours, '').split(/\r?\n/);
    expect(rows.some((row) => row.startsWith('  TypeError') && row.endsWith('…'))).toBe(true);
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(50);
  });

  test('does not load React, Express or the product, and needs no other files', async () => {
    const bundle = readFileSync(join(app.folder, 'dist/server/desk.js'), 'utf8');
    const modules = [...bundle.matchAll(/^\/\/ (\S+\.[cm]?[jt]sx?)$/gm)].map(([, path = '']) => path);
    expect(modules.length).toBeGreaterThan(50);
    const unwanted = /node_modules\/(?:express|react|react-dom|react-router|@sentry|pino)\/|\/product\/|\.tsx$/;
    expect(modules.filter((path) => unwanted.test(path))).toEqual([]);

    const alone = makeFolder();
    mkdirSync(join(alone, 'dist/server'), { recursive: true });
    for (const path of ['dist/desk.mjs', 'dist/server/desk.js'])
      copyFileSync(join(app.folder, path), join(alone, path));
    const out = execFileSync(process.execPath, [join(alone, 'dist/desk.mjs'), 'help'], {
      cwd: alone,
      encoding: 'utf8',
    });
    expect(out).toBe((await runDesk(['help'], { DATA_DIR: alone })).out);
  });

  test('prints one line if Node is too old', async () => {
    const folder = makeFolder();
    const old = join(folder, 'old.cjs');
    writeFileSync(old, "Object.defineProperty(process.versions, 'node', { value: '20.20.2' });");
    const { code, out, err } = await new Promise<Said>((resolve) => {
      const args = ['--require', old, join(app.folder, 'dist/desk.mjs'), 'help'];
      execFile(
        process.execPath,
        args,
        { env: { ...process.env, SPILLWAY_PINNED_NODE: '1' } },
        (error, stdout, stderr) => {
          resolve({ code: error ? Number(error.code) : 0, out: stdout, err: stderr });
        },
      );
    });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^Spillway needs Node 24 or newer, and this is Node 20\.20\.2\. [^\n]*\n$/);
  });

  test('is built by `npm run desk` if it is missing, and nothing else is changed', async () => {
    const env = { DATA_DIR: makeFolder() };
    const main = join(app.folder, 'dist/server/main.js');
    const before = statSync(main).mtimeMs;
    rmSync(join(app.folder, 'dist/desk.mjs'));
    const first = await run(['help'], { ...env, npm_lifecycle_event: 'desk' }, 'bin/desk.mjs');
    expect(first).toMatchObject({ code: 0, err: '', out: expect.stringContaining('npm run desk -- 7K3QM2XA') });
    expect(existsSync(join(app.folder, 'dist/desk.mjs'))).toBe(true);
    expect(statSync(main).mtimeMs).toBe(before);
    expect((await run([], env, 'bin/desk.mjs')).err).toContain('There is no desk in');
    expect((await run(['--bad'], env, 'bin/desk.mjs')).code).toBe(2);
  });
});
