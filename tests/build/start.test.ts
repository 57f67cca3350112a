import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createOwnedApp } from '../support/owned-app.ts';

const LISTENING = /Listening on (http:\/\/[^\s"]+)/;

/** Runs a command in an app's folder. `said` has its output so far, and that of the processes that it started. */
function run(cwd: string, command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a group of its own
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (text) => {
    said.out += text;
  });
  child.stderr.on('data', (text) => {
    said.err += text;
  });
  return { child, said };
}

/** @returns the URL of the server, once it listens */
async function listening(said: { readonly out: string }): Promise<string> {
  await expect.poll(() => said.out).toMatch(LISTENING);
  return LISTENING.exec(said.out)?.[1] ?? '';
}

describe('`npm start`', () => {
  const app = createOwnedApp();
  beforeAll(() => app.build());
  afterAll(() => app.remove());

  it.each([
    ['npm itself', (npm: ChildProcess) => npm.kill('SIGTERM')],
    ['all of its processes', (npm: ChildProcess) => process.kill(-(npm.pid ?? 0), 'SIGTERM')],
  ])('finishes requests in flight and exits when a signal is sent to %s', async (_, end) => {
    const { child, said } = run(app.folder, 'npm', ['start'], { DRAIN_LAG: '1' });
    const closed = once(child, 'close');
    const url = await listening(said);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    end(child);
    // The output closes when the last process that writes to it has ended, including the server.
    await closed;
    await expect(fetch(`${url}/livez`)).rejects.toThrow();
    // The last line of a server that exited normally.
    expect(said.out).toContain('Stopped.');
  });

  it('has only ASCII in its bundle, so that V8 keeps one byte for each letter', () => {
    const text = readFileSync(join(app.folder, 'dist/server/site.js'), 'latin1');
    expect(/[\x80-\xff]+/.exec(text)).toBeNull();
  });

  it('says in a check that the build is older than the sources', async () => {
    const check = () =>
      spawnSync(process.execPath, ['bin/start.mjs', '--check'], { cwd: app.folder, encoding: 'utf8' });
    const warning = 'warning: The build is not of these sources.';
    expect(check().stdout).not.toContain(warning);
    app.write({ 'src/server/product/new.ts': '' });
    expect(check()).toMatchObject({ status: 0, stdout: expect.stringContaining(warning) });
  });
});

it('names the source of what a module of the product throws', async () => {
  const app = createOwnedApp();
  onTestFinished(() => app.remove());
  app.write({
    'src/server/product/rates.ts': `const RATES: Record<string, { value: string }> = {};

function readRate(name: string) {
  const { value } = RATES[name]!;
  return Number(value);
}

// A comment
export const chf = readRate('CHF');
`,
  });
  app.replace('src/server/product/index.ts', 'import ', "import './rates.ts';\nimport ");
  await app.build();
  const { status, stderr } = spawnSync(process.execPath, ['bin/start.mjs'], { cwd: app.folder, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toBe(`The server does not start:
TypeError: Cannot destructure property 'value' of 'RATES[name]' as it is undefined.
    at src/server/product/rates.ts:4
    at src/server/product/rates.ts:9
    at src/server/product/index.ts:1
`);
});

it('names the package that looks for its own folder, and what to do', async () => {
  const app = createOwnedApp();
  onTestFinished(() => app.remove());
  app.write({
    'legacy/node_modules/@acme/has-views/package.json': '{ "main": "main.js" }',
    'legacy/node_modules/@acme/has-views/main.js': 'exports.views = () => __dirname;',
    'legacy/app.ts': "import { views } from '@acme/has-views';\nexport const folder = views();\n",
  });
  app.replace('src/server/product/index.ts', 'import ', "import '../../../legacy/app.ts';\nimport ");
  await app.build();
  const { stderr } = spawnSync(process.execPath, ['bin/start.mjs'], { cwd: app.folder, encoding: 'utf8' });
  expect(stderr).toBe(`The server does not start:
ReferenceError: __dirname is not defined
    at legacy/app.ts:2
    at src/server/product/index.ts:1
@acme/has-views looks for its own files, and the build bundles it. Install it in the project's root, and add '@acme/has-views' to \`external\` in src/server/product/build.mjs.
`);
});

it('builds first if it must, and needs no more memory afterwards than without', async () => {
  const app = createOwnedApp();
  onTestFinished(() => app.remove());
  const token = 'a-token-of-the-operator';
  async function measure() {
    const { child, said } = run(app.folder, process.execPath, ['bin/start.mjs'], { OPERATOR_TOKEN: token });
    onTestFinished(() => void child.kill('SIGKILL'));
    const url = await listening(said);
    // A failure needs it immediately, also while the builder still writes other files.
    expect(existsSync(join(app.folder, 'dist/sites.json'))).toBe(true);
    const metrics = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
    child.kill('SIGKILL');
    await once(child, 'exit');
    return { bytes: Number(/^process_resident_memory_bytes (\d+)/m.exec(metrics)?.[1]), said: said.err };
  }
  const built = await measure();
  expect(built.said).toMatch(/^Building\./);
  // The builder outlives the server that was killed.
  await expect.poll(() => existsSync(join(app.folder, 'dist/.stamp'))).toBe(true);
  expect(existsSync(join(app.folder, 'dist/.unfinished'))).toBe(false);
  const again = await measure();
  expect(built.bytes / again.bytes).toBeLessThan(1.3);
  expect(again.said).not.toContain('Building');
});

it.each([
  ['its process', process.execPath, ['bin/start.mjs']],
  ['npm', 'npm', ['start']],
])('ends quietly with its builder if %s ends before it can start', async (_, command, args) => {
  const app = createOwnedApp();
  onTestFinished(() => app.remove());
  const { child, said } = run(app.folder, command, args);
  child.stderr.once('data', () => setTimeout(() => child.kill('SIGTERM'), 500)); // the builder runs by then
  await once(child, 'close'); // the builder writes to its output too
  expect(said.out).not.toContain('Listening');
  if (command !== 'npm') expect(said.err).toBe('Building. The first time takes longest.\n'); // npm reports the signal
  expect(existsSync(join(app.folder, 'dist'))).toBe(false);
});

it.each([
  ['its log is no longer read', 1, (child: ChildProcess) => child.stdout?.destroy()],
  // A pipe holds 64 KiB.
  ['the reader of its log has stopped', 1000, (child: ChildProcess) => child.stdout?.pause()],
])('exits if %s', async (_, lines, stop) => {
  const logger = new URL('../../src/server/request/logger.ts', import.meta.url).href;
  const script = `
    const { createLogger } = await import('${logger}');
    const { log, flush } = await createLogger({ level: 'info', terminal: false });
    process.stdout; // as in the server, this makes the pipe non-blocking
    process.once('message', () => {
      for (let line = 0; line < ${lines}; line += 1) log.info('x'.repeat(1000));
      flush();
      process.exit(0);
    });
    process.send('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  stop(child);
  child.send('end');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
