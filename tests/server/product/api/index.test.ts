import request from 'supertest';
import { beforeEach, expect, it } from 'vitest';
import { createTestApp } from '#engine/testing';
import { createApi } from '#product-server/api/index.ts';
import { createTodoStore } from '#product-server/api/todos/store.ts';

const createApp = ({ tourFailures = true } = {}) =>
  createTestApp({ api: createApi({ settings: { tourFailures }, services: { todos: createTodoStore() } }) });

let api: ReturnType<typeof createApp>;
beforeEach(async () => {
  api = createApp();
  await add('The first');
});

const TODOS = '/api/tour/todos';
const FIRST = `${TODOS}/1`;
const add = (title: string) => request(api).post(TODOS).send({ title }).expect(201);

it('creates, lists, reads, changes and deletes', async () => {
  const { body, headers } = await add(' Open the gates ');
  expect(headers.location).toBe(`${TODOS}/2`);
  expect(body).toEqual({ id: 2, title: 'Open the gates', done: false, createdAt: expect.any(String) });
  expect((await request(api).get(TODOS).expect(200)).body).toEqual([expect.objectContaining({ id: 1 }), body]);
  await request(api).get(`${TODOS}/2`).expect(200, body);
  await request(api)
    .patch(`${TODOS}/2`)
    .send({ done: true })
    .expect(200, { ...body, done: true });
  await request(api).delete(`${TODOS}/2`).expect(204);
  await request(api).get(`${TODOS}/2`).expect(404);
});

type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete';

it.each<[verb: Verb, path: string, status: number, sent?: object, fields?: string[]]>([
  ['post', TODOS, 422, { title: '' }, ['title']],
  ['post', TODOS, 422, { title: 'Fine', admin: true }, ['admin']],
  ['post', TODOS, 422, [], ['']],
  ['patch', FIRST, 422, {}, ['']],
  ['patch', FIRST, 422, { done: 'yes' }, ['done']],
  ['post', FIRST, 405],
  ['get', `${TODOS}/7`, 404],
  ['patch', `${TODOS}/7`, 404, { done: true }],
  ['get', '/api/tour/fail', 500],
])('answers %s %s with %d and a problem', async (verb, path, status, sent, fields) => {
  const answer = await request(api)[verb](path).send(sent).expect(status);
  expect(answer.type).toBe('application/problem+json');
  expect(answer.body.errors && Object.keys(answer.body.errors)).toEqual(fields);
  expect(answer.body.digest !== undefined).toBe(status === 500);
  expect(answer.text).not.toContain('The tour threw');
});

it('has no page that fails if TOUR_FAILURES is off', async () => {
  await request(createApp({ tourFailures: false }))
    .get('/api/tour/fail')
    .expect(404);
});
