import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createOwnedApp } from '../support/owned-app.ts';

describe('`npm start`', () => {
  const app = createOwnedApp();
  beforeAll(() => app.build());
  afterAll(() => app.remove());

  it.each([
    ['npm itself', (npm: ChildProcess) => npm.kill('SIGTERM')],
    ['all of its processes', (npm: ChildProcess) => process.kill(-(npm.pid ?? 0), 'SIGTERM')],
  ])('finishes requests in flight and exits when a signal is sent to %s', async (_, end) => {
    const npm = spawn('npm', ['start'], {
      cwd: app.folder,
      env: { ...process.env, HOST: '127.0.0.1', PORT: '0', DRAIN_LAG: '2' },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    let output = '';
    npm.stdout.on('data', (chunk) => {
      output += chunk;
    });
    const closed = once(npm, 'close');
    await expect.poll(() => output).toMatch(/Listening on/);
    const url = /Listening on (http:\/\/[^\s"]+)/.exec(output)?.[1];
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    end(npm);
    // The output closes when the last process that writes to it has ended, including the server.
    await closed;
    await expect(fetch(`${url}/livez`)).rejects.toThrow();
    // The last line of a server that exited normally.
    expect(output).toContain('Stopped.');
  });
});

it('says in a check that the build is older than the sources', async () => {
  const app = createOwnedApp();
  onTestFinished(() => app.remove());
  await app.build();
  const check = () => spawnSync(process.execPath, ['bin/start.mjs', '--check'], { cwd: app.folder, encoding: 'utf8' });
  const warning = 'warning: The build is not of these sources.';
  expect(check().stdout).not.toContain(warning);
  app.write({ 'src/server/product/new.ts': '' });
  expect(check()).toMatchObject({ status: 0, stdout: expect.stringContaining(warning) });
});

it('builds first if it must, and needs no more memory afterwards than without', async () => {
  const app = createOwnedApp();
  onTestFinished(() => app.remove());
  const token = 'a-token-of-the-operator';
  let said = '';
  async function measure(): Promise<number> {
    const child = spawn(process.execPath, ['bin/start.mjs'], {
      cwd: app.folder,
      env: { ...process.env, HOST: '127.0.0.1', PORT: '0', OPERATOR_TOKEN: token },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    said = '';
    child.stderr.on('data', (text) => {
      said += text;
    });
    const [first] = await once(child.stdout, 'data');
    const url = /Listening on (http:\/\/[^\s"]+)/.exec(String(first))?.[1];
    const metrics = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
    child.kill('SIGKILL');
    await once(child, 'exit');
    return Number(/^process_resident_memory_bytes (\d+)/m.exec(metrics)?.[1]);
  }
  const built = await measure();
  expect(said).toMatch(/^Building\./);
  // The builder outlives the server that was killed.
  await expect.poll(() => existsSync(join(app.folder, 'dist/.stamp'))).toBe(true);
  expect(existsSync(join(app.folder, 'dist/sites.json'))).toBe(true);
  expect(existsSync(join(app.folder, 'dist/.unfinished'))).toBe(false);
  expect(built / (await measure())).toBeLessThan(1.3);
  expect(said).not.toContain('Building');
});

it('ends its builder quietly if it ends before it can start', async () => {
  const app = createOwnedApp();
  onTestFinished(() => app.remove());
  const child = spawn(process.execPath, ['bin/start.mjs'], { cwd: app.folder, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
    setTimeout(() => child.kill('SIGTERM'), 500); // the builder runs by then
  });
  // The builder writes to it too.
  await once(child.stderr, 'close');
  expect(said).toBe('Building. The first time takes longest.\n');
  expect(existsSync(join(app.folder, 'dist'))).toBe(false);
});

it('ends with its builder if npm ends before it can start', async () => {
  const app = createOwnedApp();
  onTestFinished(() => app.remove());
  const npm = spawn('npm', ['start'], {
    cwd: app.folder,
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  npm.stdout.on('data', (text) => {
    said += text;
  });
  npm.stderr.once('data', () => setTimeout(() => npm.kill('SIGTERM'), 500)); // the builder runs by then
  // All of them write to both.
  await once(npm, 'close');
  expect(said).not.toContain('Listening');
  expect(existsSync(join(app.folder, 'dist'))).toBe(false);
});

it.each([
  ['its log is no longer read', 1, (child: ChildProcess) => child.stdout?.destroy()],
  // A pipe holds 64 KiB.
  ['the reader of its log has stopped', 1000, (child: ChildProcess) => child.stdout?.pause()],
])('exits if %s', async (_, lines, stop) => {
  const logger = new URL('../../src/server/start/logger.ts', import.meta.url).href;
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
