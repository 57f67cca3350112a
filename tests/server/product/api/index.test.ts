import request from 'supertest';
import { expect, it } from 'vitest';
import { createTestApp } from '#engine/testing';
import { createApi } from '#product-server/api/index.ts';
import { createTodoStore } from '#product-server/api/todos/store.ts';

const createApp = ({ tourFailures = true } = {}) =>
  createTestApp({ api: createApi({ settings: { tourFailures }, services: { todos: createTodoStore() } }) });

const TODOS = '/api/tour/todos';

it('creates, lists, reads, changes and deletes', async () => {
  const api = createApp();
  const add = (title: string) => request(api).post(TODOS).send({ title }).expect(201);
  await add('The first');
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

it('has no page that fails if TOUR_FAILURES is off', async () => {
  await request(createApp({ tourFailures: false }))
    .get('/api/tour/fail')
    .expect(404);
});
