import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createFolder } from '../../support/folder.ts';
import { ADDRESS, readPlaces } from '../../support/gallery.ts';
import { createOwnedApp, type OwnedApp } from '../../support/owned-app.ts';

const TOKEN = 'a-token-of-sixteen-characters';

let app: OwnedApp;
beforeAll(async () => {
  app = createOwnedApp([], { over: 'gallery' });
  await app.build();
}, 180_000);
afterAll(() => app?.remove());

/** Runs Node with piped output. */
function run(args: readonly string[], env: Readonly<Record<string, string>>) {
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const options = { cwd: app.folder, env: { ...process.env, ...env } };
    execFile(process.execPath, args, options, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });
}

const toFile = () => join(app.folder, 'dist/desk.mjs');
const makeFolder = () => createFolder(onTestFinished);

test('the built command finds the source line of an address, and signs in, next to its server', async () => {
  const env = { DATA_DIR: makeFolder(), OPERATOR_TOKEN: TOKEN };
  const desk = (...args: readonly string[]) => run([toFile(), ...args], env);
  const server = await app.start(env);
  const address = (await fetch(`${server.url}/loader/property`)).headers.get('x-error-digest') ?? '';
  expect(address).toMatch(ADDRESS);
  const place = readPlaces(app.folder).get('loader-property') ?? '';
  // Immediately after its start, a server can still be creating its tables.
  await expect.poll(() => desk(address), { timeout: 20_000 }).toMatchObject({ code: 0, err: '' });
  const { out } = await desk(address);
  expect(out).toContain(`- Where: \`${place}\``);
  expect(out).toMatch(new RegExp(`^> +${place.split(':')[1]} +return \\{ text: order\\.customer\\.name \\};`, 'm'));

  const link = (await run([toFile(), 'link'], { ...env, PUBLIC_ORIGINS: server.url })).out.trim();
  const ticket = new URL(link).searchParams.get('ticket') ?? '';
  const body = new URLSearchParams({ _action: 'root.signIn', ticket });
  const headers = { Origin: server.url };
  expect((await fetch(link, { method: 'POST', body, redirect: 'manual', headers })).status).toBe(303);

  const shell = (rest: string) =>
    execFileSync('sh', ['-c', `"$0" "$1" ${rest} 2>&1`, process.execPath, toFile()], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
    });
  expect(shell('list | head -1')).toMatch(/^# 1 incident [^\n]*\n$/);
  for (const rest of ['list --json | true', 'help | true', `${address} | head -c 0`]) expect(shell(rest)).toBe('');
  await server.stop();
});

test('the built command does not load React, Express or the product, and needs no other files', async () => {
  const bundle = readFileSync(join(app.folder, 'dist/server/desk.js'), 'utf8');
  const modules = [...bundle.matchAll(/^\/\/ (\S+\.[cm]?[jt]sx?)$/gm)].map(([, path = '']) => path);
  expect(modules.length).toBeGreaterThan(50);
  const unwanted = /node_modules\/(?:express|react|react-dom|react-router|@sentry|pino)\/|\/product\/|\.tsx$/;
  expect(modules.filter((path) => unwanted.test(path))).toEqual([]);

  const alone = makeFolder();
  mkdirSync(join(alone, 'dist/server'), { recursive: true });
  for (const path of ['dist/desk.mjs', 'dist/server/desk.js']) copyFileSync(join(app.folder, path), join(alone, path));
  expect(await run([join(alone, 'dist/desk.mjs'), 'help'], {})).toMatchObject({ code: 0, err: '' });
});

test('prints one line if Node is too old', async () => {
  const old = join(makeFolder(), 'old.cjs');
  writeFileSync(old, "Object.defineProperty(process.versions, 'node', { value: '20.20.2' });");
  const { code, out, err } = await run(['--require', old, toFile(), 'help'], { SPILLWAY_PINNED_NODE: '1' });
  expect([code, out]).toEqual([1, '']);
  expect(err).toMatch(/^Spillway needs Node 24 or newer, and this is Node 20\.20\.2\. [^\n]*\n$/);
});

test('is built by `npm run desk` if it is missing', async () => {
  rmSync(join(app.folder, 'dist'), { recursive: true });
  const desk = (...args: readonly string[]) =>
    run([join(app.folder, 'bin/desk.mjs'), ...args], { DATA_DIR: makeFolder() });
  expect(await desk('help')).toMatchObject({ code: 0, err: expect.stringMatching(/^Built \w+ in \d+ ms\.\n$/) });
  expect(existsSync(toFile())).toBe(true);
  expect((await desk()).err).toContain('There is no desk in');
  expect((await desk('--bad')).code).toBe(2);
});
