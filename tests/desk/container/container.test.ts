import { chownSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Container, startContainer, whyNot } from './container.ts';
import { createVolume, PATIENCE, readDesk, run, TOKEN, useImage } from './harness.ts';
import { MOUNTED } from './lay-out.ts';

const obstacle = whyNot();
if (obstacle) console.warn(`The image is built but not run: ${obstacle}.`);

const image = useImage();

describe.skipIf(process.platform !== 'linux')('the image', () => {
  it('contains no executables other than Node', () => {
    const programs = listFiles(image().root).filter((path) => isProgram(join(image().root, path)));
    const isLibrary = (path: string) => /^(?:usr\/)?lib[^/]*\/(?:[^/]+\/)?[^/]+\.so[.\d]*$/.test(path);
    expect(programs.filter((path) => !isLibrary(path))).toEqual(['usr/local/bin/node']);
    const installed = readdirSync(join(image().root, 'app/node_modules'));
    expect(installed).toEqual(expect.arrayContaining(['pino', 'pino-pretty', 'sonic-boom', 'thread-stream']));
    expect(
      installed.filter((name) => /^(?:npm|node-.*|esbuild|typescript|vitest|react|express|oxc-.*)$/.test(name)),
    ).toEqual([]);
    expect(readdirSync(join(image().root, 'app')).sort()).toEqual(['LICENSE', 'dist', 'node_modules', 'package.json']);
  });
});

describe.skipIf(obstacle !== undefined)('a container', () => {
  it('serves as an unprivileged first process, and can write only to the volume', async () => {
    const container = await run(image());
    expect(userOf(container)).toEqual([image().config.user.uid, image().config.user.gid]);

    const site = await container.beside<{ page: number; script: number; ready: unknown }>(`
      const page = await fetch('http://127.0.0.1:3000/');
      const [script] = /\\/assets\\/[\\w.-]+\\.js/.exec(await page.text());
      const asset = await fetch('http://127.0.0.1:3000' + script);
      const ready = await (await fetch('http://127.0.0.1:3000/readyz')).json();
      console.log(JSON.stringify({ page: page.status, script: asset.status, ready }));`);
    expect(site).toMatchObject({
      page: 200,
      script: 200,
      ready: { status: 'ready', journal: 'written' },
    });
    expect(
      container.inside<string>(
        "console.log(JSON.stringify((await import('node:fs')).readFileSync('/proc/1/cmdline', 'latin1').split('\\0')[0]))",
      ),
    ).toBe('node');

    expect(container.inside<string[]>(listWritable)).toEqual(image().config.volumes);
    expect(image().config.command).toContain('--max-old-space-size-percentage=60');
    const link = container.exec(['node', 'dist/desk.mjs', 'link']);
    expect(link).toMatchObject({ status: 0, stdout: expect.stringMatching(/\/desk\?\w+=/) });
    expect(container.exec(image().config.health)).toMatchObject({ status: 0, stdout: '', stderr: '' });
    const ill = container.exec(image().config.health, { PORT: '3999' });
    expect(ill).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^The server on port 3999 is unhealthy: .+\n$/),
    });
  });

  it('exits with 0 on SIGTERM after sending its responses, and finds its data on the volume again', async () => {
    const data = createVolume(image());
    // Disables overload protection, because the machine can be busy.
    const first = await run(image(), { data, env: { DRAIN_LAG: '1', OVERLOAD_DELAY: '0' } });
    const asked = first.beside<number[]>(`
      const answers = await Promise.all(Array.from({ length: 50 }, () => fetch('http://127.0.0.1:3000/')));
      console.log(JSON.stringify(answers.map(({ status }) => status)));`);
    await expect.poll(() => /"path":"\/".*"status":200/.test(first.log()), PATIENCE).toBe(true);
    first.kill('SIGTERM');
    expect(await asked).toEqual(Array.from({ length: 50 }, () => 200));
    expect(await first.ended).toEqual({ code: 0, signal: null });

    expect(await readDesk(await run(image(), { data }))).toEqual([200]);
  });

  it('stops if it gets a signal before it listens', async () => {
    const container = startContainer({ image: image(), data: createVolume(image()), env: { OPERATOR_TOKEN: TOKEN } });
    await expect.poll(() => readFileSync(`/proc/${container.pid}/cmdline`, 'latin1'), PATIENCE).toMatch(/^node\0/);
    // Node handles signals only from the first line of the bundle on.
    const timer = setInterval(() => container.kill('SIGTERM'), 20);
    expect(await container.ended.finally(() => clearInterval(timer))).toMatchObject({ signal: null });
  });

  it.each([
    ['its volume', (data: string) => chownSync(data, 0, 0), 'The folder /data (DATA_DIR)'],
    [
      'a backup that root put there',
      (data: string) => writeFileSync(join(data, 'desk.sqlite'), '', { mode: 0o600 }),
      '/data/desk.sqlite (in DATA_DIR)',
    ],
  ])('prints one sentence if it cannot write to %s', async (_what, spoil, place) => {
    const data = createVolume(image());
    spoil(data);
    const container = startContainer({ image: image(), data, env: { OPERATOR_TOKEN: TOKEN } });
    expect(await container.ended).toEqual({ code: 1, signal: null });
    expect(container.log()).toBe(
      `${place} cannot be written to (EACCES). Let this user (number 10001) write there, or set DATA_DIR to another folder.\n`,
    );
  });
});

/** Prints the topmost paths that this user can write to. Does not rely on file modes. */
const listWritable = `
  const { accessSync, constants, readdirSync, lstatSync } = await import('node:fs');
  const found = [];
  const may = (path) => { try { accessSync(path, constants.W_OK); return true; } catch { return false; } };
  const walk = (path) => {
    if (${JSON.stringify(MOUNTED.map((name) => `/${name}`))}.includes(path)) return;
    if (may(path)) return found.push(path);
    if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) walk(path === '/' ? '/' + name : path + '/' + name);
  };
  walk('/');
  console.log(JSON.stringify(found));`;

function userOf({ pid }: Container): number[] {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return ['Uid', 'Gid'].map((name) => Number(new RegExp(`^${name}:\\t(\\d+)`, 'm').exec(status)?.[1]));
}

function listFiles(folder: string, under = ''): string[] {
  return readdirSync(join(folder, under), { withFileTypes: true }).flatMap((entry) => {
    const path = join(under, entry.name);
    return entry.isDirectory() ? listFiles(folder, path) : [path];
  });
}

/** Whether the kernel would execute a file: a binary, or an executable script with an interpreter. */
function isProgram(path: string): boolean {
  const begin = readFileSync(path).subarray(0, 4).toString('latin1');
  return begin === '\x7fELF' || (begin.startsWith('#!') && (lstatSync(path).mode & 0o111) !== 0);
}
