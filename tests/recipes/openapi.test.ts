import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOwnedApp, type OwnedApp, readProjectFile } from '../support/owned-app.ts';
import { listBlocks } from '../support/recipe-blocks.ts';

let app: OwnedApp;

beforeAll(async () => {
  app = createOwnedApp(listBlocks(readProjectFile('docs/recipes/openapi.md')));
  await app.build();
});
afterAll(() => app.remove());

it('serves what the document describes, and describes what it serves', async () => {
  const { url } = await app.start();
  const ask = (path: string, init?: RequestInit) => fetch(`${url}/api${path}`, init);
  const add = (body: unknown) =>
    ask('/books', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

  const document = (await (await ask('/openapi.json')).json()) as Record<string, unknown>;
  expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true });
  expect(Object.keys(document.paths as object)).toEqual([
    '/api/books',
    '/api/books/{id}',
    '/api/books.ndjson',
    '/api/openapi.json',
  ]);

  const added = await add({ title: 'Emma', year: 1815 });
  expect([added.status, added.headers.get('location')]).toEqual([201, '/api/books/1']);
  expect((await add({ title: 'Emma' })).status).toBe(409);
  const wrong = await add({ title: '', pages: 1 });
  expect(wrong.status).toBe(422);
  expect(await wrong.json()).toMatchObject({ errors: { title: expect.any(String), pages: 'Unknown field.' } });
  expect(await (await ask('/books/1')).json()).toEqual({ id: 1, title: 'Emma', year: 1815 });
  expect((await ask('/books/x')).status).toBe(404);
  expect((await ask('/books?limit=0')).status).toBe(400);
  const list = await ask('/books');
  const etag = String(list.headers.get('etag'));
  expect((await ask('/books', { headers: { 'If-None-Match': etag } })).status).toBe(304);
  expect(await (await ask('/books.ndjson')).text()).toBe('{"id":1,"title":"Emma","year":1815}\n');
});
