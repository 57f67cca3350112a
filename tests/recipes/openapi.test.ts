import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOwnedApp, type OwnedApp, readProjectFile } from '../support/owned-app.ts';
import { listBlocks } from '../support/recipe-blocks.ts';

/** The token whose hash is in the recipe. */
const TOKEN = 'library-7K3QM2XA';

let app: OwnedApp;

beforeAll(async () => {
  app = createOwnedApp(listBlocks(readProjectFile('docs/recipes/openapi.md')));
  await app.build();
});
afterAll(() => app.remove());

it('serves what the document describes, and describes what it serves', async () => {
  const { url } = await app.start();
  const ask = (path: string, init?: RequestInit) =>
    fetch(`${url}/api${path}`, { ...init, headers: { Authorization: `Bearer ${TOKEN}`, ...init?.headers } });
  const send = (method: string, path: string, body: unknown, headers = {}) =>
    ask(path, { method, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) });

  const document = (await (await ask('/openapi.json')).json()) as Record<string, unknown>;
  expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true });
  expect(document.info).toEqual({ title: 'Books', version: '2', description: 'The books of the library.' });
  expect(Object.keys(document.paths as object)).toEqual([
    '/api/books',
    '/api/books/{id}',
    '/api/books.ndjson',
    '/api/openapi.json',
  ]);

  const added = await send('POST', '/books', { title: 'Emma', year: 1815 });
  expect([added.status, added.headers.get('location')]).toEqual([201, '/api/books/1']);
  expect((await send('POST', '/books', { title: 'Emma' })).status).toBe(409);
  expect((await send('POST', '/books', { title: 'Emma' }, { Authorization: 'Bearer other' })).status).toBe(401);
  const wrong = await send('POST', '/books', { title: '', pages: 1 });
  expect(wrong.status).toBe(422);
  expect(await wrong.json()).toMatchObject({ errors: { title: expect.any(String), pages: expect.any(String) } });
  expect((await ask('/books/x')).status).toBe(404);

  const one = await ask('/books/1');
  expect(await one.json()).toEqual({ id: 1, title: 'Emma', year: 1815 });
  const etag = String(one.headers.get('etag'));
  expect((await ask('/books/1', { headers: { 'If-None-Match': etag } })).status).toBe(304);
  expect((await send('PUT', '/books/1', { title: 'Emma II' }, { 'If-Match': etag })).status).toBe(200);
  expect((await send('PUT', '/books/1', { title: 'Emma III' }, { 'If-Match': etag })).status).toBe(412);

  await send('POST', '/books', { title: 'Persuasion' });
  const list = await fetch(`${url}/api/books?limit=1`);
  expect(await list.json()).toEqual([{ id: 1, title: 'Emma II' }]);
  const [, next = ''] = /^<(.+)>; rel="next"$/.exec(list.headers.get('link') ?? '') ?? [];
  expect(await (await fetch(url + next)).json()).toEqual([{ id: 2, title: 'Persuasion' }]);
  expect((await ask('/books?limit=0')).status).toBe(400);

  const stream = await ask('/books.ndjson');
  expect(stream.headers.get('sunset')).toBe('Mon, 01 Nov 2027 00:00:00 GMT');
  expect(await stream.text()).toBe('{"id":1,"title":"Emma II"}\n{"id":2,"title":"Persuasion"}\n');
});
