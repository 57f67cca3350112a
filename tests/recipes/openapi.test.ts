import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, it } from 'vitest';
import { useRecipe } from './recipe.ts';

/** The token whose hash is in the recipe. */
const Authorization = 'Bearer library-7K3QM2XA';

const app = useRecipe('openapi');

it('serves what the document describes, and describes what it serves', async () => {
  const { url } = await app.start();
  const ask = (path: string, headers = {}, init: RequestInit = {}) =>
    fetch(`${url}/api${path}`, { ...init, headers: { Authorization, ...headers } });
  const send = (method: string, path: string, body: object, headers = {}) =>
    ask(path, { 'Content-Type': 'application/json', ...headers }, { method, body: JSON.stringify(body) });

  const document = await (await ask('/openapi.json')).json();
  expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true });
  expect(document.info).toEqual({ title: 'Books', version: '2', description: 'The books of the library.' });
  const paths = ['/api/books', '/api/books/{id}', '/api/books.ndjson', '/api/openapi.json'];
  expect(Object.keys(document.paths)).toEqual(paths);

  const added = await send('POST', '/books', { title: 'Emma' });
  expect([added.status, added.headers.get('location')]).toEqual([201, '/api/books/1']);
  const one = await ask('/books/1');
  expect(await one.json()).toEqual({ id: 1, title: 'Emma' });
  const etag = String(one.headers.get('etag'));
  const statuses = [
    [401, await send('POST', '/books', { title: 'Emma' }, { Authorization: 'Bearer other' })],
    [422, await send('POST', '/books', { title: '', pages: 1 })],
    [404, await ask('/books/x')],
    [304, await ask('/books/1', { 'If-None-Match': etag })],
    [200, await send('PUT', '/books/1', { title: 'Emma II' }, { 'If-Match': etag })],
    [412, await send('PUT', '/books/1', { title: 'Emma III' }, { 'If-Match': etag })],
    [201, await send('POST', '/books', { title: 'Persuasion' })],
    [400, await ask('/books?limit=0')],
  ] as const;
  expect(statuses.map(([, { status }]) => status)).toEqual(statuses.map(([status]) => status));

  const list = await fetch(`${url}/api/books?limit=1`);
  expect(await list.json()).toEqual([{ id: 1, title: 'Emma II' }]);
  const [, next = ''] = /^<(.+)>; rel="next"$/.exec(list.headers.get('link') ?? '') ?? [];
  expect(await (await fetch(url + next)).json()).toEqual([{ id: 2, title: 'Persuasion' }]);
  const stream = await ask('/books.ndjson');
  expect(stream.headers.get('sunset')).toBe('Mon, 01 Nov 2027 00:00:00 GMT');
  expect(await stream.text()).toBe('{"id":1,"title":"Emma II"}\n{"id":2,"title":"Persuasion"}\n');
});
