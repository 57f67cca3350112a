import { get } from 'node:http';
import express from 'express';
import request from 'supertest';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { operation } from '../../../../src/server/engine/api/operation.ts';
import { resource } from '../../../../src/server/engine/api/resource.ts';
import { createFunnel } from '../../../../src/server/engine/errors/funnel.ts';
import { HttpError } from '../../../../src/server/engine/errors/http-error.ts';
import { createTestApp, spyOnLog, startTestServer } from '../../../support/app.ts';
import { noScrubber } from '../../../support/unguarded.ts';
import { until } from '../../../support/until.ts';

const Person = z.strictObject({ id: z.int(), name: z.string() });

/** Creates the real app with these resources. */
function serve(...resources: express.RequestHandler[]) {
  return createTestApp({ api: express.Router().use(...resources) });
}

describe('an operation', () => {
  it('passes parsed input to the handler', async () => {
    const seen: unknown[] = [];
    const app = serve(
      resource('/people/:id', {
        PATCH: operation({
          id: 'changePerson',
          summary: 'Change a person',
          params: z.strictObject({ id: z.coerce.number().int() }),
          query: z.strictObject({ notify: z.enum(['yes', 'no']).default('no') }),
          headers: z.object({ 'if-match': z.string().optional() }),
          body: z.strictObject({ name: z.string().trim() }),
          replies: {
            200: { about: 'The person.', body: Person, headers: { 'X-Notified': 'Whether they were told.' } },
          },
        }).handle((asked) => {
          seen.push(asked);
          return {
            status: 200,
            body: { id: asked.params.id, name: asked.body.name },
            headers: { 'X-Notified': asked.query.notify },
          };
        }),
      }),
    );
    const reply = await request(app).patch('/api/people/7?notify=yes').set('If-Match', '"1"').send({ name: ' Ada ' });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ id: 7, name: 'Ada' });
    expect(reply.headers['x-notified']).toBe('yes');
    expect(seen).toEqual([
      { params: { id: 7 }, query: { notify: 'yes' }, headers: { 'if-match': '"1"' }, body: { name: 'Ada' } },
    ]);
  });

  it.each([
    ['/api/people/x', { name: 'Ada' }, 404, undefined],
    ['/api/people/1?limit=x', { name: 'Ada' }, 400, { limit: expect.any(String) }],
    ['/api/people/1?limit=1&limit=2', { name: 'Ada' }, 400, { limit: 'Send it only once.' }],
    ['/api/people/1?other=1', { name: 'Ada' }, 400, { other: 'Unknown field.' }],
    ['/api/people/1?constructor=1', { name: 'Ada' }, 400, { constructor: 'Unknown field.' }],
    [
      '/api/people/1',
      { name: 7, home: { city: 1 } },
      422,
      { name: expect.any(String), 'home.city': expect.any(String) },
    ],
    ['/api/people/1', { name: 'Ada', home: { zip: 1 } }, 422, { 'home.zip': 'Unknown field.' }],
    ['/api/people/1', 'text', 415, undefined],
  ])('rejects %s with %j with %d, and names the errors', async (path, body, status, errors) => {
    const app = serve(
      resource('/people/:id', {
        POST: operation({
          id: 'post',
          summary: 'Post',
          params: z.strictObject({ id: z.coerce.number().int() }),
          query: z.strictObject({ limit: z.coerce.number().int().optional() }),
          body: z.strictObject({ name: z.string(), home: z.strictObject({ city: z.string().optional() }).optional() }),
          replies: { 204: { about: 'Done.' } },
        }).handle(() => ({ status: 204 })),
      }),
    );
    const reply = await request(app).post(path).send(body);
    expect(reply.status).toBe(status);
    expect(reply.headers['content-type']).toMatch('application/problem+json');
    expect(reply.body.errors).toEqual(errors);
  });

  it('ignores a query and body that it does not declare', async () => {
    const app = serve(
      resource('/plain', {
        GET: operation({ id: 'plain', summary: 'Plain', replies: { 204: { about: 'Done.' } } }).handle((asked) => {
          expect(asked).toEqual({ params: undefined, query: undefined, headers: undefined, body: undefined });
          return { status: 204 };
        }),
      }),
    );
    expect((await request(app).get('/api/plain?a=1&a=2')).status).toBe(204);
    expect((await request(app).post('/api/plain')).headers.allow).toBe('GET, HEAD, OPTIONS');
  });

  it('answers 304 by its version, without running the handler', async () => {
    let handled = 0;
    let version = 'first one';
    const app = serve(
      resource('/list', {
        GET: operation({
          id: 'list',
          summary: 'List',
          replies: { 200: { about: 'All.', body: z.array(Person) } },
        }).handle(
          () => {
            handled += 1;
            return { status: 200, body: [] };
          },
          { version: async () => version },
        ),
      }),
    );
    const { etag } = (await request(app).get('/api/list')).headers;
    expect(etag).toBe('W/"first%20one"');
    const again = request(app).get('/api/list').set('If-None-Match', String(etag));
    expect((await again.set('Cache-Control', 'no-cache')).status).toBe(304); // fetch() sends this
    expect(handled).toBe(1);
    version = 'second';
    expect((await request(app).get('/api/list').set('If-None-Match', String(etag))).status).toBe(200);
  });

  it('tags the response itself if it has no version', async () => {
    const list = operation({ id: 'list', summary: 'List', replies: { 200: { about: 'All.', body: z.array(Person) } } });
    const app = serve(resource('/list', { GET: list.handle(() => ({ status: 200, body: [] })) }));
    const { etag } = (await request(app).get('/api/list')).headers;
    const again = request(app).get('/api/list').set('If-None-Match', String(etag));
    expect((await again.set('Cache-Control', 'no-cache')).status).toBe(304); // fetch() sends this
  });

  it('streams lines as they are produced, and reports an error before the first one by its status', async () => {
    async function* lines(count: number) {
      if (count === 0) throw new HttpError(409, 'There are none.');
      for (let index = 0; index < count; index++) yield { id: index, name: 'Ada' };
    }
    let ended = 0;
    const app = serve(
      resource('/lines/:count', {
        GET: operation({
          id: 'lines',
          summary: 'Lines',
          params: z.strictObject({ count: z.coerce.number() }),
          replies: { 200: { about: 'A line each.', lines: Person } },
          problems: { 409: 'There are none.' },
        }).handle(({ params }) => ({
          status: 200,
          lines: (async function* () {
            try {
              yield* lines(params.count);
            } finally {
              ended += 1;
            }
          })(),
        })),
      }),
    );
    const reply = await request(app).get('/api/lines/3').buffer(true);
    expect(reply.headers['content-type']).toBe('application/x-ndjson');
    expect(reply.text ?? String(reply.body)).toBe(
      '{"id":0,"name":"Ada"}\n{"id":1,"name":"Ada"}\n{"id":2,"name":"Ada"}\n',
    );
    expect((await request(app).get('/api/lines/0')).status).toBe(409);
    expect(ended).toBe(2);
    const head = await request(app).head('/api/lines/3');
    expect(head.status).toBe(200);
    expect(head.headers['content-type']).toBe('application/x-ndjson');
    expect(ended).toBe(2);
  });

  it('sends nothing and reports nothing if the client leaves during the first line', async () => {
    const first = Promise.withResolvers<void>();
    let begun = 0;
    let ended = 0;
    async function* lines() {
      begun += 1;
      try {
        await first.promise;
        yield { id: 1, name: 'Ada' };
      } finally {
        ended += 1;
      }
    }
    const { log, lines: logged } = spyOnLog();
    const facts = {
      id: 'lines',
      summary: 'Lines',
      replies: { 200: { about: 'A line each.', lines: Person } },
    } as const;
    const GET = operation(facts).handle(() => ({ status: 200, lines: lines() }));
    const api = express.Router().use(resource('/lines', { GET }));
    const server = await startTestServer({
      api,
      log,
      funnel: createFunnel({ scrubber: noScrubber, log, build: 'test' }),
    });
    onTestFinished(() => server.close());
    const asked = get({ port: server.port, path: '/api/lines', agent: false });
    asked.on('error', () => {});
    await until(() => begun === 1, 'the request');
    asked.destroy();
    await until(() => logged.some(({ msg }) => msg === 'request'), 'the line of the request');
    first.resolve();
    await until(() => ended === 1, 'the end of the lines');
    await fetch(`http://127.0.0.1:${server.port}/livez`);
    expect(logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });
});
