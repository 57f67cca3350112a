import request from 'supertest';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTestApp } from '#engine/testing';
import { createApi } from '#product-server/api/index.ts';
import { createTodoStore } from '#product-server/api/todos/store.ts';

const PROBLEM = /^application\/problem\+json/;

const createApp = ({ tourFailures = true } = {}) =>
  createTestApp({ api: createApi({ settings: { tourFailures }, services: { todos: createTodoStore() } }) });

let api: ReturnType<typeof createApp>;
beforeEach(() => {
  api = createApp();
});

describe('/api/tour/todos', () => {
  it('creates, lists, reads, changes and deletes', async () => {
    const created = await request(api).post('/api/tour/todos').send({ title: ' Open the gates ' }).expect(201);
    expect(created.headers.location).toBe('/api/tour/todos/1');
    expect(created.body).toEqual({ id: 1, title: 'Open the gates', done: false, createdAt: expect.any(String) });

    expect((await request(api).get('/api/tour/todos').expect(200)).body).toEqual([created.body]);
    expect((await request(api).get('/api/tour/todos/1').expect(200)).body).toEqual(created.body);

    const changed = await request(api).patch('/api/tour/todos/1').send({ done: true }).expect(200);
    expect(changed.body).toEqual({ ...created.body, done: true });

    await request(api).delete('/api/tour/todos/1').expect(204);
    await request(api).get('/api/tour/todos/1').expect(404).expect('Content-Type', PROBLEM);
  });

  it.each([
    ['post', '/api/tour/todos', { title: '' }, ['title']],
    ['post', '/api/tour/todos', { title: 'x'.repeat(201) }, ['title']],
    ['post', '/api/tour/todos', { title: 'Fine', admin: true }, ['admin']],
    ['post', '/api/tour/todos', [], ['']],
    ['patch', '/api/tour/todos/1', {}, ['']],
    ['patch', '/api/tour/todos/1', { done: 'yes' }, ['done']],
  ] as const)('answers 422 to %s %s with %j and names the invalid fields', async (method, path, body, fields) => {
    await request(api).post('/api/tour/todos').send({ title: 'The first' });
    const answer = await request(api)[method](path).send(body).expect(422).expect('Content-Type', PROBLEM);
    expect(answer.body).toMatchObject({ status: 422, title: 'Unprocessable Entity' });
    expect(Object.keys(answer.body.errors)).toEqual(fields);
  });

  it('answers 404 for a to-do that does not exist, for every method', async () => {
    await request(api).post('/api/tour/todos').send({ title: 'The first' });
    for (const id of ['7', '01', '__proto__', '1.0', '1e0']) {
      await request(api).get(`/api/tour/todos/${id}`).expect(404).expect('Content-Type', PROBLEM);
    }
    await request(api).delete('/api/tour/todos/7').expect(404);
    await request(api).patch('/api/tour/todos/7').send({ done: true }).expect(404);
  });

  it('deletes the oldest when there are more than a hundred', async () => {
    for (let count = 0; count < 101; count++) {
      await request(api)
        .post('/api/tour/todos')
        .send({ title: `Number ${count}` });
    }
    const { body } = await request(api).get('/api/tour/todos');
    expect(body).toHaveLength(100);
    expect(body[0].title).toBe('Number 1');
  });
});

describe('/api/tour/fail', () => {
  it('answers 500 with a digest, and no details of the error', async () => {
    const answer = await request(api).get('/api/tour/fail').expect(500).expect('Content-Type', PROBLEM);
    expect(answer.body.digest).toMatch(/^[0-9A-Z]{8}$/);
    expect(answer.text).not.toContain('The tour threw');
  });

  it('does not exist if TOUR_FAILURES is off', async () => {
    await request(createApp({ tourFailures: false }))
      .get('/api/tour/fail')
      .expect(404);
  });
});
