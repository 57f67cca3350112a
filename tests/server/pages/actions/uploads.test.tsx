import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { ClientRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createUploadFolder, openUploads } from '../../../../src/server/request/upload-folder.ts';
import { forbidden } from '../../../../src/shared/routing/control-flow.ts';
import { MiB } from '../../../../src/shared/units.ts';
import { createFolder } from '../../../support/folder.ts';
import {
  DATA,
  leakIn,
  type PagesAppOptions,
  parsePage,
  startPages,
  type TestPage,
} from '../../../support/pages-app.tsx';
import { until } from '../../../support/until.ts';

const TYPE = { 'Content-Type': 'multipart/form-data; boundary=b' };
const END = '\r\n--b--\r\n';

function field(name: string, value: string) {
  return `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}

const FILE_HEAD =
  '--b\r\nContent-Disposition: form-data; name="photo"; filename="a %221%22 ä.jpg"\r\nContent-Type: image/jpeg\r\n\r\n';

/** A form with a file of this size, which names its action first. */
function toForm(action: string, size: number, more = ''): Buffer {
  return Buffer.from(`${field('_action', action)}${more}${FILE_HEAD}${'x'.repeat(size)}${END}`);
}

let dataDir: string;
beforeAll(() => {
  dataDir = createFolder(afterAll);
  openUploads(dataDir);
});

/** The files of forms on disk, and the folders of forms. */
function listAll() {
  const uploads = join(dataDir, 'uploads');
  if (!existsSync(uploads)) return [];
  return readdirSync(uploads, { recursive: true, withFileTypes: true }).filter(
    ({ parentPath }) => parentPath !== uploads,
  );
}

const listFiles = () =>
  listAll()
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
const isClean = () => listAll().length === 0;

async function start(server: Partial<NonNullable<TestPage['server']>> = {}, options: PagesAppOptions = {}) {
  const seen: Record<string, unknown>[] = [];
  let guards = 0;
  const app = await startPages(
    [
      {
        id: 'page',
        path: '/page',
        server: {
          guard: () => void guards++,
          actions: {
            photo: {
              maxBytes: 8 * MiB,
              async run({ form, signal }) {
                const file = form.get('photo');
                if (!(file instanceof File)) return { note: form.get('note') };
                const { name, size, type } = file;
                const part = await file.slice(size - 3, size).text();
                await writeFile(join(dataDir, 'kept'), file.stream());
                const read = statSync(join(dataDir, 'kept')).size;
                const modes = listFiles().map((path) => (statSync(path).mode & 0o777).toString(8));
                seen.push({ name, size, type, part, read, modes, isAborted: signal.aborted });
                if (form.has('fail')) throw new Error('The action fails.');
                return { size };
              },
            },
            small: ({ form }) => ({ text: form.get('note') }),
          },
          ...server,
        },
      },
    ],
    options,
  );
  return { app, seen, guards: () => guards };
}

const readStatus = (request: ClientRequest) =>
  new Promise<number>((resolve) => {
    request.on('response', (response) => resolve(response.resume().statusCode ?? 0));
  });

describe('a file', () => {
  it.each([
    ['of more than 1 MiB is on disk until the response', 3 * MiB, {}, ['600']],
    ['whose size was not announced is there too', 3 * MiB, { 'Transfer-Encoding': 'chunked' }, ['600']],
    ['of less than 1 MiB is in memory', MiB - 999, {}, []],
    ['that is empty is a file', 0, {}, []],
  ])('%s', async (_name, size, headers, modes) => {
    const { app, seen, guards } = await start();
    const reply = await app.post('/page', toForm('page.photo', size), { ...TYPE, ...headers });
    expect(parsePage(reply.text).payload.action?.data).toEqual({ size });
    const part = 'x'.repeat(Math.min(3, size));
    expect(seen).toEqual([
      { name: 'a "1" ä.jpg', size, type: 'image/jpeg', part, read: size, modes, isAborted: false },
    ]);
    expect(guards()).toBe(2); // before the action, and for the page after it
    await until(() => listFiles().length === 0 && (modes.length === 0 || isClean()), 'its removal');
  });

  it.each([
    ['the', ''],
    ['another', field('_action', 'page.small')],
  ])('has the limit of the action if a button after it names %s one', async (_which, first) => {
    const { app, seen, guards } = await start();
    const named = field('_action', 'page.photo');
    const body = Buffer.from(`${first}${FILE_HEAD}${'x'.repeat(2 * MiB)}\r\n${named}--b--\r\n`);
    const reply = await app.post('/page', body, TYPE);
    expect([reply.status, seen[0]?.read, guards()]).toEqual([200, 2 * MiB, 2]);
    await until(isClean, 'its removal');
  });

  it('can take longer than the deadline of its page', async () => {
    const { app, seen } = await start({}, { deadlineMs: 500 });
    const body = toForm('page.photo', 2 * MiB);
    const request = app.open('/page', { method: 'POST', headers: { ...DATA, ...TYPE } });
    const answered = readStatus(request);
    request.write(body.subarray(0, 1.5 * MiB));
    await sleep(700);
    request.end(body.subarray(1.5 * MiB));
    expect(await answered).toBe(200);
    expect(seen[0]?.isAborted).toBe(false);
  });
});

describe('a form is refused, and leaves nothing on disk,', () => {
  const large = 9 * MiB;
  const text = field('note', 'x'.repeat(1.5 * MiB));
  const malformed = field('', '').replace('name=""', 'a=""');
  const CHUNKED = { 'Transfer-Encoding': 'chunked' };
  it.each<[string, Buffer, status: number, words: string, headers?: Record<string, string>]>([
    ['larger than its action allows', toForm('page.photo', large), 413, 'This is more than 8 MB.'],
    ['the same, not announced', toForm('page.photo', large), 413, 'than 8 MB.', CHUNKED],
    ['for an action without a limit of its own', toForm('page.small', 2 * MiB), 413, 'This is more than 1 MB.'],
    ['for an action that its end names', toForm('page.photo', 2 * MiB, field('_action', 'page.small')), 413, '1 MB'],
    ['for no action', toForm('page.lost', 2 * MiB), 413, 'This is more than 1 MB.'],
    [
      'for an action without a limit of its own, named after the file',
      Buffer.from(`${FILE_HEAD}${'x'.repeat(2 * MiB)}\r\n${field('_action', 'page.small')}--b--\r\n`),
      413,
      'This is more than 1 MB.',
    ],
    ['with too much text', toForm('page.photo', 2 * MiB, text), 413, 'This is more than 1 MB.'],
    ['with too many parts', toForm('page.photo', 2 * MiB, field('a', '').repeat(1000)), 413, 'more than 1000 fields'],
    ['cut off', toForm('page.photo', 2 * MiB).subarray(0, -5), 400, 'The form is malformed'],
    ['with a name that is missing', toForm('page.photo', 2 * MiB, malformed), 400, 'malformed'],
  ])('if it is %s', async (_name, body, status, words, headers = {}) => {
    const { app, seen } = await start();
    const plain = await app.post('/page', body, { ...TYPE, ...headers });
    expect([plain.status, plain.text]).toEqual([status, expect.stringContaining(words)]);
    const data = await app.post('/page', body, { ...DATA, ...TYPE, ...headers });
    expect(parsePage(data.text).payload.action).toMatchObject({
      status,
      errors: { '': expect.stringContaining(words) },
    });
    expect(seen).toEqual([]);
    await until(() => listFiles().length === 0, 'its removal');
  });

  it.each([
    ['', toForm('page.photo', MiB)],
    [', also if a button after the file names its action', Buffer.from(`${FILE_HEAD}${'x'.repeat(MiB)}`)],
  ])('by a guard, before its file arrives%s', async (_name, body) => {
    let files: string[] | undefined;
    const { app, seen } = await start({
      guard() {
        files = listFiles();
        forbidden();
      },
    });
    const request = app.open('/page', { method: 'POST', headers: { ...TYPE, 'Content-Length': String(3 * MiB) } });
    request.on('error', () => undefined);
    onTestFinished(() => void request.destroy());
    const answered = readStatus(request);
    request.write(body); // the rest never arrives
    expect([await answered, files, seen]).toEqual([403, [], []]);
  });

  it('if its action fails', async () => {
    const { app, seen } = await start();
    const reply = await app.post('/page', toForm('page.photo', 2 * MiB, field('fail', '1')), TYPE);
    expect([reply.status, seen.length]).toEqual([500, 1]);
    await until(isClean, 'its removal');
  });

  it('if its visitor leaves', async () => {
    const { app, seen } = await start();
    const request = app.open('/page', { method: 'POST', headers: { ...TYPE, 'Content-Length': String(4 * MiB) } });
    request.on('error', () => undefined);
    request.write(toForm('page.photo', 3 * MiB).subarray(0, 2 * MiB));
    await until(() => listFiles().length === 1, 'the file');
    request.destroy();
    await until(isClean, 'its removal');
    expect([seen, app.failures()]).toEqual([[], []]);
  });

  it.each([
    ['full', () => openUploads(dataDir, Number.POSITIVE_INFINITY)],
    ['broken', () => openUploads(import.meta.filename)],
  ])('if the disk is %s, which is a failure', async (_name, fail) => {
    fail();
    onTestFinished(() => openUploads(dataDir));
    const { app, seen } = await start();
    const reply = await app.post('/page', toForm('page.photo', 2 * MiB), TYPE);
    expect([reply.status, seen, app.failures().length]).toEqual([500, [], 1]);
    expect([leakIn(reply.text), reply.text.includes(dataDir)]).toEqual([undefined, false]);
    await until(isClean, 'its removal');
  });
});

const FOLDER = JSON.stringify(join(import.meta.dirname, '../../../../src/server/request/upload-folder.ts'));

/** Runs a process that has received a form, with the id of this one, as in containers. @returns the form's folder */
function run(folder: string, end: string) {
  const script = `const self = process.pid; Object.defineProperty(process, 'pid', { value: ${process.pid} });
      const { createUploadFolder, openUploads } = await import(${FOLDER});
      openUploads(${JSON.stringify(folder)}); console.log(await createUploadFolder()); ${end}`;
  try {
    return execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).trim();
  } catch (error) {
    return String((error as { stdout: string }).stdout).trim();
  }
}
const runKilled = (folder: string) => run(folder, 'process.kill(self, "SIGKILL"); await new Promise(() => {});');

function age(form: string) {
  const twoHoursAgo = Date.now() / 1000 - 7200;
  utimesSync(join(form, '..'), twoHoursAgo, twoHoursAgo);
}

it('files of a process are removed when it ends', () => {
  expect(existsSync(run(createFolder(onTestFinished), 'process.exit(1)'))).toBe(false);
});

it('files of a process are removed at a start an hour after it was killed, although the next one receives forms', async () => {
  onTestFinished(() => openUploads(dataDir));
  const folder = createFolder(onTestFinished);
  const left = runKilled(folder);
  openUploads(folder);
  const form = await createUploadFolder();
  age(left);
  await createUploadFolder();
  openUploads(folder);
  await until(() => !existsSync(left), 'its removal');
  expect(existsSync(form)).toBe(true);
});
