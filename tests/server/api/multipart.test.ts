import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { bearer } from '../../../src/server/api/auth.ts';
import { implement } from '../../../src/server/api/implement.ts';
import { createOpenApi } from '../../../src/server/api/openapi.ts';
import { openUploads } from '../../../src/server/request/upload-folder.ts';
import { createClient } from '../../../src/shared/api/client.ts';
import { operation } from '../../../src/shared/api/operation.ts';
import { MiB } from '../../../src/shared/units.ts';
import { startTestServer } from '../../support/app.ts';
import { createFolder } from '../../support/folder.ts';
import { until } from '../../support/until.ts';

const photos = {
  addPhoto: operation({
    method: 'POST',
    path: '/photos',
    summary: 'Add a photo',
    body: z.strictObject({ title: z.string(), year: z.int(), tags: z.array(z.string()), photo: z.file().optional() }),
    multipart: { maxBytes: 4 * MiB },
    idempotent: true,
    replies: { 201: { about: 'Added.', body: z.looseObject({}) } },
  }),
};
const AS_ADA = { Authorization: 'Bearer ada' };

async function start() {
  const folder = createFolder(onTestFinished);
  openUploads(folder);
  const uploads = join(folder, 'uploads');
  const countForms = () =>
    existsSync(uploads)
      ? readdirSync(uploads, { recursive: true }).filter((path) => /form-[^/]*$/.test(String(path))).length
      : 0;
  const auth = bearer((token) => (token === 'ada' ? { id: 'ada' } : undefined));
  const part = implement(
    photos,
    {
      addPhoto: async ({ body: { photo, ...rest } }) => ({
        status: 201,
        body: { ...rest, name: photo?.name, bytes: (await photo?.text())?.length, forms: countForms() },
      }),
    },
    { auth },
  );
  const server = await startTestServer({ api: [part] });
  const url = `http://127.0.0.1:${server.port}/api`;
  const { post } = createClient<typeof photos>({ base: url });
  const send = (body: Parameters<typeof post<'/photos'>>[1]['body'], headers = {}) =>
    post('/photos', { body, headers: { ...AS_ADA, ...headers } });
  return { part, url, send, countForms };
}

const photo = (size: number) => new File(['x'.repeat(size)], 'ä.jpg', { type: 'image/jpeg' });
const FIELDS = { title: 'River', year: 2026, tags: ['a', 'b'] };

it.each([
  ['on disk, if it is large', 2 * MiB, { name: 'ä.jpg', bytes: 2 * MiB, forms: 1 }],
  ['in memory, if it is small', 5, { name: 'ä.jpg', bytes: 5, forms: 0 }],
  ['optional: a body without it is JSON', 0, { forms: 0 }],
])('a file of an operation is %s', async (_name, size, expected) => {
  const { send, countForms } = await start();
  const reply = await send({ ...FIELDS, ...(size > 0 && { photo: photo(size) }) });
  expect(reply).toMatchObject({ ok: true, body: { ...FIELDS, ...expected } });
  await until(() => countForms() === 0, 'its removal');
});

it('forms of operations are refused before they are stored, or with the errors of their fields', async () => {
  const { url, send, countForms } = await start();
  const refused = [
    await send({ ...FIELDS, photo: photo(5 * MiB) }),
    await send({ ...FIELDS, photo: photo(2 * MiB) }, { Authorization: 'Bearer eve' }),
    await send({ ...FIELDS, year: 0.5, photo: photo(2 * MiB) }),
  ];
  expect(refused).toMatchObject([
    { problem: { status: 413, detail: expect.stringContaining('larger than 4 MB') } },
    { problem: { status: 401 } },
    { problem: { status: 422, errors: { year: expect.any(String) } } },
  ]);
  const body = new URLSearchParams({ title: 'a' });
  expect((await fetch(`${url}/photos`, { method: 'POST', headers: AS_ADA, body })).status).toBe(415);
  await until(() => countForms() === 0, 'their removal');
});

it('the same form with an `Idempotency-Key` runs once, and another one gets 422', async () => {
  const { send } = await start();
  const key = { 'Idempotency-Key': 'one' };
  const replies = [
    await send({ ...FIELDS, photo: photo(5) }, key),
    await send({ ...FIELDS, photo: photo(5) }, key),
    await send({ ...FIELDS, photo: photo(6) }, key),
  ];
  expect(replies).toMatchObject([{ ok: true }, { ok: true }, { problem: { status: 422 } }]);
  const [, again] = replies;
  expect(again?.ok && again.headers.get('Idempotency-Replayed')).toBe('true');
});

it('the document describes the form', async () => {
  const { implemented } = (await start()).part;
  const { paths } = createOpenApi({ title: 'A', version: '1' }, '/api', implemented);
  const post = paths['/api/photos']?.post;
  expect(post?.requestBody?.content).toMatchObject({
    'multipart/form-data': { schema: { properties: { photo: { type: 'string', format: 'binary' } } } },
  });
  expect(post?.responses[413]).toMatchObject({ description: 'The body is larger than 4 MB.' });
});
