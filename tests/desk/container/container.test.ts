import { spawnSync } from 'node:child_process';
import { chownSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import buildOnce from '../../support/build-once.ts';
import { type Container, type ContainerOptions, startContainer, whyNot } from './container.ts';
import { readImageConfig } from './dockerfile.ts';
import { type Image, layOut, MOUNTED } from './lay-out.ts';

const TOKEN = 'a-token-of-sixteen-characters';
const PATIENCE = { timeout: 30_000, interval: 100 };

const obstacle = whyNot();
if (obstacle) console.warn(`The image is built but not run: ${obstacle}.`);

let made: Image | undefined;
const image = () => made as Image; // set before the first test
beforeAll(async () => {
  if (process.platform !== 'linux') return;
  await buildOnce();
  made = layOut(readImageConfig());
});
afterAll(() => made?.remove());

describe.skipIf(process.platform !== 'linux')('the image', () => {
  it('contains no executables other than Node', () => {
    const programs = listFiles(image().root).filter((path) => isProgram(join(image().root, path)));
    const isLibrary = (path: string) => /^(?:usr\/)?lib[^/]*\/(?:[^/]+\/)?[^/]+\.so[.\d]*$/.test(path);
    expect(programs.filter((path) => !isLibrary(path))).toEqual(['usr/local/bin/node']);
    const installed = readdirSync(join(image().root, 'app/node_modules'));
    expect(installed).toEqual(expect.arrayContaining(['pino-pretty', 'sonic-boom']));
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
    expect(readFileSync(`/proc/${container.pid}/cmdline`, 'latin1')).toMatch(/^node\0/);

    const writable = container.exec(['node', '--input-type=module', '--eval', listWritable]).stdout;
    expect(JSON.parse(writable)).toEqual(image().config.volumes);
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

describe.skipIf(obstacle !== undefined)('with a volume that fails while it runs, a container', () => {
  it.each([
    [
      'is full',
      (data: string) => void spawnSync('dd', ['if=/dev/zero', `of=${data}/ballast`, 'bs=1M', 'count=64']),
      true,
    ],
    ['is read-only', (data: string) => void spawnSync('chmod', ['-R', 'a-w', data]), false],
  ])(
    'serves pages if the volume %s, acknowledges only reports that it stored, and logs it seldom',
    async (_name, spoil, isFull) => {
      const data = createVolume(image(), 32);
      const container = await run(image(), { data });
      await readDesk(container); // waits for the store
      const kept = await report(container, 1);
      expect(kept.map(({ status }) => status)).toEqual([200]);

      spoil(data);
      const spoilt = await report(container, 40);
      expect((await site(container)).page).toBe(200);
      // Not always the last: moving the journal into the store frees space for more. A file that is open stays writable,
      // regardless of later permissions.
      if (isFull) expect(spoilt.map(({ status }) => status)).toContain(503);
      expect(spoilt.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);

      rmSync(join(data, 'ballast'), { force: true });
      spawnSync('chmod', ['-R', 'u+w', data]);
      await expect.poll(async () => (await report(container, 1))[0]?.status, PATIENCE).toBe(200);
      await expect
        .poll(async () => (await site(container)).ready, PATIENCE)
        .toEqual({
          status: 'ready',
          store: 'reachable',
          journal: 'written',
          worker: 'running',
        });
      const acknowledged = [...kept, ...spoilt]
        .filter(({ status }) => status === 200)
        .map(({ digest }) => `/${digest}`);
      await expect.poll(() => readDesk(container, acknowledged), PATIENCE).toEqual(acknowledged.map(() => 200));
      const count = (words: string) => container.log().split(words).length - 1;
      for (const [away, back] of [
        ['The journal cannot be written, so', 'The journal can be written again.'],
        ["The desk's store cannot be used. Pages", "The desk's store is back."],
      ] as const) {
        // Once each time that space runs out, not for each of the 40 reports.
        expect(count(away), away).toBeLessThanOrEqual(count(back) + 1);
      }
      container.kill('SIGTERM');
      expect(await container.ended).toMatchObject({ code: 0 });
    },
  );
});

/** Starts a container that is stopped at the end of the test, and resolves when it listens. */
async function run(image: Image, options: Partial<ContainerOptions> = {}): Promise<Container> {
  // Other load on a shared machine would trigger overload protection.
  const env = { OPERATOR_TOKEN: TOKEN, DRAIN_LAG: '0', OVERLOAD_DELAY: '0', ...options.env };
  const container = startContainer({ image, data: options.data ?? createVolume(image), env });
  onTestFinished(async () => {
    container.kill('SIGKILL');
    await container.ended;
  });
  await expect.poll(() => container.log(), PATIENCE).toContain('Listening on ');
  return container;
}

/** Creates a folder owned by the image's user. @param megabytes makes it a separate disk of this size */
function createVolume(image: Image, megabytes?: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-volume-'));
  chownSync(folder, image.config.user.uid, image.config.user.gid);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  if (megabytes !== undefined) {
    const { uid, gid } = image.config.user;
    const options = `size=${megabytes}m,mode=755,uid=${uid},gid=${gid}`;
    spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
    onTestFinished(() => void spawnSync('umount', ['--lazy', folder]));
  }
  return folder;
}

/** A script that signs in to the desk and sets `headers`. */
const SIGN_IN = `
  const ask = (path, init) => fetch('http://127.0.0.1:3000' + path, { redirect: 'manual', ...init });
  let signedIn;
  // The first pages can be served before the store is open.
  for (let left = 50; left > 0 && signedIn?.status !== 303; left -= 1) {
    if (signedIn) await new Promise((resolve) => setTimeout(resolve, 200));
    signedIn = await ask('/desk', { method: 'POST', body: new URLSearchParams({ _action: 'root.signIn', token: '${TOKEN}' }) });
  }
  const headers = { Cookie: signedIn.headers.get('set-cookie').split(';')[0] };`;

/** Returns the status of each of these pages of the desk. */
function readDesk(container: Container, paths: readonly string[] = ['']): Promise<number[]> {
  return container.beside(`${SIGN_IN}
    const statuses = [];
    for (const path of ${JSON.stringify(paths)}) statuses.push((await ask('/desk' + path, { headers })).status);
    console.log(JSON.stringify(statuses));`);
}

/** The responses to a visitor and to a probe. */
function site(container: Container): Promise<{ page: number; ready: unknown }> {
  return container.beside(`
    const page = await fetch('http://127.0.0.1:3000/');
    const ready = await (await fetch('http://127.0.0.1:3000/readyz')).json();
    console.log(JSON.stringify({ page: page.status, ready }));`);
}

/** Reports different failures of 4 kB each, like a browser. */
function report(container: Container, count: number): Promise<{ status: number; digest?: string }[]> {
  return container.beside(`
    const { randomBytes } = await import('node:crypto');
    const replies = [];
    for (let index = 0; index < ${count}; index += 1) {
      const event_id = randomBytes(16).toString('hex');
      const values = [{ type: 'Error' + event_id.slice(0, 8), value: randomBytes(2000).toString('hex') }];
      const event = { event_id, platform: 'javascript', exception: { values } };
      const body = [{ dsn: 'https://spillway@127.0.0.1:3000/1' }, { type: 'event' }, event].map((part) => JSON.stringify(part)).join('\\n');
      const reply = await fetch('http://127.0.0.1:3000/_report', { method: 'POST', body });
      const text = await reply.text();
      replies.push({ status: reply.status, ...(reply.status === 200 && { digest: JSON.parse(text).digest }) });
    }
    console.log(JSON.stringify(replies));`);
}

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
