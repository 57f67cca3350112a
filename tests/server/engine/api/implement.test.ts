import { get } from 'node:http';
import type { RequestHandler } from 'express';
import request from 'supertest';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { type ApiStore, createMemoryStore } from '../../../../src/server/engine/api/api-store.ts';
import { bearer, session } from '../../../../src/server/engine/api/auth.ts';
import { type ApiPart, implement } from '../../../../src/server/engine/api/implement.ts';
import { localClient } from '../../../../src/server/engine/api/local-client.ts';
import { resource } from '../../../../src/server/engine/api/resource.ts';
import { createFunnel } from '../../../../src/server/engine/errors/funnel.ts';
import { HttpError } from '../../../../src/server/engine/errors/http-error.ts';
import { type CallResult, type Client, createClient } from '../../../../src/shared/engine/api/client.ts';
import { operation } from '../../../../src/shared/engine/api/operation.ts';
import { createTestApp, spyOnLog, startTestServer } from '../../../support/app.ts';
import { askRaw } from '../../../support/raw-http.ts';
import { noScrubber } from '../../../support/unguarded.ts';
import { until } from '../../../support/until.ts';

const Person = z.strictObject({ id: z.int(), name: z.string() });

/** The real app around an API. */
function serve(...api: ApiPart[]) {
  return createTestApp({ api });
}

describe('an operation', () => {
  const people = {
    changePerson: operation({
      method: 'PATCH',
      path: '/people/:id',
      summary: 'Change a person',
      params: z.strictObject({ id: z.int() }),
      query: z.strictObject({
        notify: z.boolean().default(false),
        tags: z.array(z.int()).optional(),
        limit: z.int().optional(),
      }),
      headers: z.object({ 'x-reason': z.string().optional() }),
      body: z.strictObject({
        name: z.string().trim(),
        home: z.strictObject({ city: z.string().optional() }).optional(),
      }),
      replies: {
        200: { about: 'The person.', body: Person, headers: { 'X-Notified': 'Whether they were notified.' } },
      },
    }),
  };

  it('passes texts to the handler as the types that its schemas expect', async () => {
    const seen: unknown[] = [];
    const app = serve(
      implement(people, {
        changePerson({ params, query, headers, body }) {
          seen.push({ params, query, headers, body });
          return {
            status: 200,
            body: { id: params.id, name: body.name },
            headers: { 'X-Notified': String(query.notify) },
          };
        },
      }),
    );
    const reply = await request(app)
      .patch('/api/people/7?notify=true&tags=1&tags=2')
      .set('X-Reason', 'because')
      .send({ name: ' Ada ' });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ id: 7, name: 'Ada' });
    expect(reply.headers['x-notified']).toBe('true');
    expect(seen).toEqual([
      {
        params: { id: 7 },
        query: { notify: true, tags: [1, 2] },
        headers: { 'x-reason': 'because' },
        body: { name: 'Ada' },
      },
    ]);
  });

  it.each([
    ['/api/people/x', { name: 'Ada' }, 404, undefined],
    ['/api/people/1e3', { name: 'Ada' }, 404, undefined],
    ['/api/people/1?limit=x', { name: 'Ada' }, 400, { limit: expect.any(String) }],
    ['/api/people/1?limit=1&limit=2', { name: 'Ada' }, 400, { limit: 'Send it only once.' }],
    ['/api/people/1?other=1', { name: 'Ada' }, 400, { other: 'Unknown field.' }],
    ['/api/people/1?constructor=1', { name: 'Ada' }, 400, { constructor: 'Unknown field.' }],
    ['/api/people/1?__proto__=1', { name: 'Ada' }, 400, { ['__proto__']: 'Unknown field.' }],
    [
      '/api/people/1',
      { name: 7, home: { city: 1 } },
      422,
      { name: expect.any(String), 'home.city': expect.any(String) },
    ],
    ['/api/people/1', { name: 'Ada', home: { zip: 1 } }, 422, { 'home.zip': 'Unknown field.' }],
    ['/api/people/1', 'text', 415, undefined],
  ])('rejects %s with %j with %d, and names the errors', async (path, body, status, errors) => {
    const app = serve(implement(people, { changePerson: () => ({ status: 200, body: { id: 1, name: '' } }) }));
    const reply = await request(app).patch(path).send(body);
    expect(reply.status).toBe(status);
    expect(reply.headers['content-type']).toMatch('application/problem+json');
    expect(Object.entries(reply.body.errors ?? {})).toEqual(Object.entries(errors ?? {}));
  });

  it.each([
    ['n=1e-7&u=5', { n: 1e-7, u: 5 }],
    ['n=0.30000000000000004&u=all', { n: 0.1 + 0.2, u: 'all' }],
    ['n=1e21&u=1&list=7&list=x', { n: 1e21, u: 1, list: [7, 'x'] }],
  ])('reads what clients make of numbers and unions: %s', async (search, expected) => {
    const read = {
      read: operation({
        method: 'GET',
        path: '/read',
        summary: 'Read',
        query: z.strictObject({
          n: z.number(),
          u: z.union([z.int(), z.literal('all')]),
          list: z.array(z.union([z.int(), z.literal('x')])).optional(),
        }),
        replies: { 200: { about: 'It.', body: z.unknown() } },
      }),
    };
    const app = serve(implement(read, { read: ({ query }) => ({ status: 200, body: query }) }));
    const reply = await request(app).get(`/api/read?${search}`);
    expect([reply.status, reply.body]).toEqual([200, expected]);
  });

  it.each(['/api/it%zz', '/api/x//y', '/api/%00'])('answers %s with a problem', async (path) => {
    const reply = await askRaw((await startForRaw()).port, `GET ${path} HTTP/1.1`);
    expect([reply.status, reply.headers['content-type']]).toEqual([400, 'application/problem+json']);
  });

  async function startForRaw() {
    const server = await startTestServer();
    onTestFinished(() => server.close());
    return server;
  }

  it('answers HEAD and OPTIONS, and 405 with Allow for other methods', async () => {
    const plain = {
      plain: operation({ method: 'GET', path: '/plain.txt', summary: 'Plain', replies: { 204: { about: 'Done.' } } }),
    };
    const app = serve(implement(plain, { plain: () => ({ status: 204 }) }));
    expect((await request(app).get('/api/plain.txt?a=1&a=2')).status).toBe(204);
    expect((await request(app).head('/api/plain.txt')).status).toBe(204);
    expect((await request(app).get('/api/plain.txt/')).status).toBe(204);
    expect((await request(app).options('/api/plain.txt')).headers.allow).toBe('GET, HEAD, OPTIONS');
    const refused = await request(app).post('/api/plain.txt');
    expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect((await request(app).get('/api/plainxtxt')).status).toBe(404);
  });

  it('matches in exact case, so that a step which guards its path sees each of its requests', async () => {
    const facts = {
      method: 'GET',
      summary: 'A secret',
      replies: { 200: { about: 'It.', body: z.unknown() } },
    } as const;
    const secrets = {
      getFixed: operation({ ...facts, path: '/admin/secret' }),
      getNamed: operation({ ...facts, path: '/admin/secrets/:name', params: z.object({ name: z.string() }) }),
    };
    const part = implement(secrets, {
      getFixed: () => ({ status: 200, body: 'fixed' }),
      getNamed: ({ params }) => ({ status: 200, body: params.name }),
    });
    const guard: RequestHandler = (req, res, next) =>
      req.path.startsWith('/api/admin/') ? void res.status(401).end() : next();
    const handler = resource('/admin/plain', { GET: (_req, res) => void res.json('plain') });
    const apps = [[], [guard]].map((steps) => createTestApp({ api: [part, handler], steps }));
    const ask = (path: string) => Promise.all(apps.map((app) => request(app).get(path)));
    const status = async (path: string) => (await ask(path)).map((reply) => reply.status);
    for (const path of ['secret', 'secret/', 'secrets/Ada', 'plain', 'plain/']) {
      expect(await status(`/api/admin/${path}`), path).toEqual([200, 401]);
      for (const other of [`/api/Admin/${path}`, `/API/admin/${path}`]) {
        expect(await status(other), other).toEqual([404, 404]);
      }
    }
    expect(await status('/api/admin/SECRETS/Ada')).toEqual([404, 401]);
    expect((await ask('/api/admin/secrets/%252F'))[0]?.body).toBe('%2F');
  });

  it('is not served twice', () => {
    const part = implement(people, { changePerson: () => ({ status: 200, body: { id: 1, name: '' } }) });
    expect(() => serve(part, part)).toThrow('Two operations have PATCH /people/:id.');
  });

  it.each([
    ['nothing', undefined],
    ['a version only', { version: () => '1' }],
  ])('needs a handler: %s', (_, changePerson) => {
    expect(() => implement(people, { changePerson } as never)).toThrow(
      'The operation "changePerson" (PATCH /people/:id) has no handler. Add `changePerson` to the handlers in implement().',
    );
  });

  it.each([
    ['a promise', Promise.resolve([]), 'returns a promise.'],
    ['a member that is missing', [undefined], 'returns a list whose member 1 is undefined.'],
  ])('needs a list of parts: %s', (_, api, words) => {
    expect(() => createTestApp({ api: api as never })).toThrow(`\`api\` in src/server/product/index.ts ${words}`);
  });

  it('stands beside Express handlers', async () => {
    const part = implement(people, { changePerson: () => ({ status: 200, body: { id: 1, name: '' } }) });
    const app = createTestApp({ api: [part, (_req, res) => void res.json('plain')] });
    expect((await request(app).get('/api/other')).body).toBe('plain');
  });

  it('fails if its reply is not what the schema describes, and does not send it', async () => {
    const { log, lines } = spyOnLog();
    const part = implement(people, {
      changePerson: () => ({ status: 200, body: { id: 1, name: 'Ada', password: 'canary' } as z.infer<typeof Person> }),
    });
    const app = createTestApp({ api: [part], log, funnel: createFunnel({ scrubber: noScrubber, log, build: 'test' }) });
    const reply = await request(app).patch('/api/people/1').send({ name: 'Ada' });
    expect(reply.status).toBe(500);
    expect(reply.body.digest).toMatch(/^[0-9A-Z]{8}$/);
    expect(reply.text).not.toContain('canary');
    expect(JSON.stringify(lines)).toContain('The reply of the operation changePerson is not what its schema describes');
  });
});

describe('the version of a reply', () => {
  const list = {
    list: operation({
      method: 'GET',
      path: '/list',
      summary: 'List',
      replies: { 200: { about: 'All.', body: z.array(Person) } },
    }),
  };

  it('is compared before the handler runs, if it is cheap', async () => {
    let handled = 0;
    let version = 'first one';
    const app = serve(
      implement(list, {
        list: {
          version: async () => version,
          handle() {
            handled += 1;
            return { status: 200, body: [] };
          },
        },
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

  it('is a hash by default', async () => {
    const app = serve(implement(list, { list: () => ({ status: 200, body: [] }) }));
    const { etag } = (await request(app).get('/api/list')).headers;
    const again = request(app).get('/api/list').set('If-None-Match', String(etag));
    expect((await again.set('Cache-Control', 'no-cache')).status).toBe(304);
  });

  it('protects a change, if the caller sends the version that it knows', async () => {
    let stored = 1;
    const one = {
      read: operation({
        method: 'GET',
        path: '/one',
        summary: 'Read',
        replies: { 200: { about: 'It.', body: z.object({}) } },
      }),
      change: operation({
        method: 'PUT',
        path: '/one',
        summary: 'Change',
        ifMatch: true,
        replies: { 204: { about: 'Changed.' } },
      }),
    };
    const app = serve(
      implement(one, {
        read: () => ({ status: 200, body: {}, version: String(stored) }),
        change({ match }) {
          match(String(stored));
          stored += 1;
          return { status: 204, version: String(stored) };
        },
      }),
    );
    const { etag } = (await request(app).get('/api/one')).headers;
    const change = (tag: string) => request(app).put('/api/one').set('If-Match', tag);
    expect((await change(String(etag))).headers.etag).toBe('"2"');
    expect((await change(String(etag))).status).toBe(412);
    expect((await change('"0", "2"')).status).toBe(204);
    expect((await request(app).put('/api/one')).status).toBe(204);
    expect(stored).toBe(4);
  });
});

describe('a list with pages', () => {
  const pages = {
    list: operation({
      method: 'GET',
      path: '/numbers',
      summary: 'List numbers',
      query: z.strictObject({ even: z.boolean().optional() }),
      paged: { limit: 2, max: 3 },
      replies: { 200: { about: 'Numbers.', body: z.array(z.int()) } },
    }),
  };
  const app = serve(
    implement(pages, {
      list({ page: { cursor = '0', limit } }) {
        const first = Number(cursor);
        const body = [0, 1, 2, 3, 4].slice(first, first + limit);
        return { status: 200, body, next: first + limit < 5 ? String(first + limit) : undefined };
      },
    }),
  );

  it('is followed by its links', async () => {
    const seen: unknown[] = [];
    let path: string | undefined = '/api/numbers?even=true&limit=3';
    while (path) {
      const reply: request.Response = await request(app).get(path);
      seen.push(reply.body);
      path = /^<([^>]+)>; rel="next"$/.exec(reply.headers.link ?? '')?.[1];
      if (path) expect(path).toBe('/api/numbers?even=true&limit=3&cursor=3');
    }
    expect(seen).toEqual([
      [0, 1, 2],
      [3, 4],
    ]);
  });

  it('refuses two cursors', async () => {
    const reply = await request(app).get('/api/numbers?cursor=1&cursor=2');
    expect([reply.status, reply.body.errors]).toEqual([400, { cursor: 'Send it only once.' }]);
  });

  it.each(['0', '4', 'x', '1&limit=2'])('refuses limit=%s', async (limit) => {
    const reply = await request(app).get(`/api/numbers?limit=${limit}`);
    expect([reply.status, Object.keys(reply.body.errors)]).toEqual([400, ['limit']]);
  });
});

describe('a client in the same process', () => {
  const numbers = {
    list: operation({
      method: 'GET',
      path: '/numbers',
      summary: 'List',
      paged: { limit: 2, max: 3 },
      replies: { 200: { about: 'Numbers.', body: z.array(z.int()), headers: { 'X-Total': 'How many.' } } },
    }),
    change: operation({
      method: 'PUT',
      path: '/numbers/:id',
      summary: 'Change',
      params: z.strictObject({ id: z.int() }),
      body: z.strictObject({ value: z.int() }),
      ifMatch: true,
      replies: { 200: { about: 'It.', body: z.object({ value: z.int() }) } },
    }),
    fail: operation({ method: 'GET', path: '/fail', summary: 'Fail', replies: { 204: { about: 'Never.' } } }),
  };
  const failure = new Error('failed');
  const part = implement(numbers, {
    list: ({ page: { cursor = '0', limit } }) => ({
      status: 200,
      body: [0, 1, 2].slice(Number(cursor), Number(cursor) + limit),
      headers: { 'X-Total': '3' },
      next: cursor === '0' ? '2' : undefined,
      version: 'all of them',
    }),
    change({ params, body, match }) {
      if (params.id === 0) throw new HttpError(410, 'It was deleted.');
      match('1');
      return { status: 200, body };
    },
    fail() {
      throw failure;
    },
  });

  /** Calls it in a handler, as a loader does. */
  async function call<Result>(run: (client: Client<typeof numbers>) => Promise<Result>): Promise<Result> {
    let result: Promise<Result> | undefined;
    const handler: RequestHandler = (req, res) => {
      result = run(localClient<typeof numbers>(req));
      result.then(
        () => res.end(),
        () => res.end(),
      );
    };
    await request(createTestApp({ api: [part, handler] })).get('/api/other');
    return result ?? Promise.reject(new Error('The handler did not run.'));
  }

  it('returns what a request gets', async () => {
    const list = await call((client) => client.get('/numbers'));
    expect(list).toMatchObject({ ok: true, status: 200, body: [0, 1], next: '2' });
    expect(list.ok && [list.headers.get('X-Total'), list.headers.get('ETag')]).toEqual(['3', '"all%20of%20them"']);
    const rest = await call((client) => client.get('/numbers', { query: { cursor: '2' } }));
    expect(rest).toMatchObject({ body: [2], next: undefined });
    const changed = await call((client) =>
      client.put('/numbers/:id', { params: { id: 1 }, body: { value: 7 }, headers: { 'If-Match': '"1"' } }),
    );
    expect(changed).toMatchObject({ ok: true, body: { value: 7 } });
  });

  it.each([
    [0, { value: 1 }, {}, { status: 410, detail: 'It was deleted.' }],
    [1, { value: 'x' as never }, {}, { status: 422, errors: { value: expect.any(String) } }],
    [1, { value: 1 }, { 'If-Match': '"0"' }, { status: 412 }],
    ['x' as never, { value: 1 }, {}, { status: 404 }],
  ])('returns the problems of %j with %j and %j', async (id, body, headers, problem) => {
    expect(await call((client) => client.put('/numbers/:id', { params: { id }, body, headers }))).toMatchObject({
      ok: false,
      problem,
    });
  });

  it('throws what the handler throws', async () => {
    await expect(call((client) => client.get('/fail'))).rejects.toBe(failure);
    const signal = AbortSignal.abort(new Error('left'));
    await expect(call((client) => client.get('/numbers', { signal }))).rejects.toThrow('left');
  });

  it('says that an operation has no handler', async () => {
    const missing = '/other' as string as '/numbers';
    await expect(call((client) => client.get(missing))).rejects.toThrow('The API has no operation GET /other.');
  });
});

describe('a deprecated operation', () => {
  it('says so, and until when it works', async () => {
    const old = {
      old: operation({
        method: 'GET',
        path: '/old',
        summary: 'Old',
        deprecated: { since: '2026-11-01', sunset: '2027-05-01', link: 'https://example.com/new' },
        replies: { 204: { about: 'Done.' } },
      }),
    };
    const { headers } = await request(serve(implement(old, { old: () => ({ status: 204 }) }))).get('/api/old');
    expect(headers).toMatchObject({
      deprecation: '@1793491200',
      sunset: 'Sat, 01 May 2027 00:00:00 GMT',
      link: '<https://example.com/new>; rel="deprecation"',
    });
  });
});

describe('a caller', () => {
  const operations = {
    whoAmI: operation({
      method: 'GET',
      path: '/me',
      summary: 'Who am I',
      replies: { 200: { about: 'A name.', body: z.object({ name: z.string() }) } },
    }),
    ping: operation({
      method: 'GET',
      path: '/ping',
      summary: 'Ping',
      isOpen: true,
      replies: { 204: { about: 'Here.' } },
    }),
  };

  it('is found by a token', async () => {
    const auth = bearer(async (token) => (token === 'secret-token' ? { id: 7, name: 'Ada' } : undefined));
    const app = serve(
      implement(
        operations,
        { whoAmI: ({ caller }) => ({ status: 200, body: { name: caller.name } }), ping: () => ({ status: 204 }) },
        { auth },
      ),
    );
    const me = (value?: string) => {
      const asked = request(app).get('/api/me');
      return value === undefined ? asked : asked.set('Authorization', value);
    };
    expect((await me('Bearer secret-token')).body).toEqual({ name: 'Ada' });
    const unknown = await me('Bearer other');
    expect([unknown.status, unknown.headers['www-authenticate']]).toEqual([
      401,
      'Bearer realm="api", error="invalid_token"',
    ]);
    const none = await me();
    expect([none.status, none.headers['www-authenticate'], none.type]).toEqual([
      401,
      'Bearer realm="api"',
      'application/problem+json',
    ]);
    expect((await request(app).get('/api/ping')).status).toBe(204);
  });

  it('is found by a session', async () => {
    const auth = session((req) => (req.headers.cookie === 'sid=1' ? { id: 'ada', name: 'Ada' } : undefined), 'sid');
    const app = serve(
      implement(
        operations,
        { whoAmI: ({ caller }) => ({ status: 200, body: { name: caller.name } }), ping: () => ({ status: 204 }) },
        { auth },
      ),
    );
    expect((await request(app).get('/api/me').set('Cookie', 'sid=1')).body).toEqual({ name: 'Ada' });
    expect((await request(app).get('/api/me')).headers['www-authenticate']).toBe('Cookie realm="api"');
    const { components, paths } = (await request(app).get('/api/openapi.json')).body;
    expect(components.securitySchemes).toEqual({ session: { type: 'apiKey', in: 'cookie', name: 'sid' } });
    expect([paths['/api/me'].get.security, paths['/api/ping'].get.security]).toEqual([[{ session: [] }], []]);
  });
});

describe('a limit', () => {
  const limited = {
    search: operation({
      method: 'GET',
      path: '/search',
      summary: 'Search',
      limit: '2/day',
      replies: { 204: { about: 'Done.' } },
    }),
    other: operation({ method: 'GET', path: '/other', summary: 'Other', replies: { 204: { about: 'Done.' } } }),
  };
  const handlers = { search: () => ({ status: 204 as const }), other: () => ({ status: 204 as const }) };

  it('is counted for each operation and caller, with headers that say what is left', async () => {
    const auth = bearer((token) => ({ id: token }));
    const app = serve(implement(limited, handlers, { auth }));
    const search = (token: string) => request(app).get('/api/search').set('Authorization', `Bearer ${token}`);
    const first = await search('ada');
    expect([first.status, first.headers['ratelimit-policy']]).toEqual([204, '"default";q=2;w=86400']);
    expect(first.headers.ratelimit).toMatch(/^"default";r=1;t=\d+$/);
    expect((await search('ada')).status).toBe(204);
    const refused = await search('ada');
    expect([refused.status, refused.type]).toEqual([429, 'application/problem+json']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await search('grace')).status).toBe(204);
    expect((await request(app).get('/api/other').set('Authorization', 'Bearer ada')).status).toBe(204);
  });

  it('is counted by address without callers', async () => {
    const app = serve(implement(limited, handlers));
    const statuses = [];
    for (let count = 0; count < 3; count++) statuses.push((await request(app).get('/api/search')).status);
    expect(statuses).toEqual([204, 204, 429]);
  });

  it('is counted by address for callers that are refused, and does not refuse others', async () => {
    const auth = bearer((token) => (token === 'ada' ? { id: 1 } : undefined));
    const app = serve(implement(limited, handlers, { auth }));
    const search = (token: string) => request(app).get('/api/search').set('Authorization', `Bearer ${token}`);
    expect([(await search('x1')).status, (await search('x2')).status]).toEqual([401, 401]);
    const refused = [await search('x3'), await request(app).get('/api/search')];
    expect(refused.map(({ status }) => status)).toEqual([429, 429]);
    expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await search('ada')).status).toBe(204);
    expect((await request(app).get('/api/other').set('Authorization', 'Bearer x')).status).toBe(401);
  });

  it('does not count a failure to find the caller', async () => {
    const auth = bearer(() => Promise.reject(new Error('no connection')));
    const app = serve(implement(limited, handlers, { auth }));
    const search = () => request(app).get('/api/search').set('Authorization', 'Bearer ada');
    expect([(await search()).status, (await search()).status, (await search()).status]).toEqual([500, 500, 500]);
  });

  it('is checked when the server starts', () => {
    const wrong = operation({ ...limited.search, limit: '0/min' });
    expect(() => serve(implement({ wrong }, { wrong: handlers.search }))).toThrow(
      'The limit "0/min" of the operation "wrong" is not valid.',
    );
  });
});

/** Open operations accept no shorter keys. */
const [A, B, C] = ['a'.repeat(16), 'b'.repeat(16), 'c'.repeat(16)] as const;

describe('an idempotent operation', () => {
  const orders = {
    addOrder: operation({
      method: 'POST',
      path: '/orders',
      summary: 'Order',
      idempotent: true,
      body: z.strictObject({ item: z.string() }),
      replies: { 201: { about: 'The order.', body: z.object({ id: z.int() }), headers: { Location: 'Its URL.' } } },
    }),
  };

  async function start() {
    const gate = Promise.withResolvers<void>();
    let count = 0;
    const app = serve(
      implement(orders, {
        async addOrder({ body }) {
          if (body.item === 'slow') await gate.promise;
          count += 1;
          if (body.item === 'broken' && count === 1) throw new HttpError(503);
          return { status: 201, body: { id: count }, headers: { Location: `/api/orders/${count}` } };
        },
      }),
    );
    const order = (item: string, key?: string) => {
      const asked = request(app).post('/api/orders').send({ item });
      return key === undefined ? asked : asked.set('Idempotency-Key', key);
    };
    return { order, gate };
  }

  it('runs once for a key, and repeats its response', async () => {
    const { order } = await start();
    const first = await order('book', A);
    const again = await order('book', A);
    expect([first.body, first.headers['idempotency-replayed']]).toEqual([{ id: 1 }, undefined]);
    expect([again.status, again.body, again.headers.location]).toEqual([201, { id: 1 }, '/api/orders/1']);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect((await order('book', B)).body).toEqual({ id: 2 });
    expect((await order('book')).body).toEqual({ id: 3 });
  });

  it('keeps the keys of callers apart, for any ids', async () => {
    let count = 0;
    const ids: Record<string, string | number> = { a: 'bob', b: 'bob smith', c: '["bob"]', d: 1, e: '1' };
    const auth = bearer((token) => ({ id: ids[token] ?? '' }));
    const part = implement(orders, { addOrder: () => ({ status: 201, body: { id: ++count } }) }, { auth });
    const app = serve(part);
    const order = async (token: string, key: string) => {
      const asked = request(app)
        .post('/api/orders')
        .set({ 'Idempotency-Key': key, Authorization: `Bearer ${token}` });
      return (await asked.send({ item: 'book' })).body.id;
    };
    expect([await order('a', 'smith 1'), await order('b', '1'), await order('a', 'smith 1')]).toEqual([1, 2, 1]);
    expect([await order('c', '1'), await order('d', '1'), await order('e', '1')]).toEqual([3, 4, 5]);
  });

  it('needs a key that others do not have if it is open, because strangers can share an address', async () => {
    const { order } = await start();
    for (const key of ['1', 'order-2026-1', 'x'.repeat(15)]) {
      const refused = await order('book', key);
      expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining('Use 16 to 255')]);
    }
    expect((await order('book', 'x'.repeat(16))).body).toEqual({ id: 1 });
  });

  it('works with a store that knows no ids of claims', async () => {
    const inner = createMemoryStore();
    const store: ApiStore = {
      ...inner,
      claim: (key, fingerprint) => inner.claim(key, fingerprint),
      keep: (key, reply) => inner.keep(key, reply),
      release: (key) => inner.release(key),
    };
    let count = 0;
    const part = implement(orders, {
      addOrder() {
        count += 1;
        if (count === 1) throw new HttpError(503);
        return { status: 201, body: { id: count } };
      },
    });
    const app = createTestApp({ api: [part], apiStore: store });
    const order = () => request(app).post('/api/orders').set('Idempotency-Key', A).send({ item: 'book' });
    expect([(await order()).status, (await order()).body, (await order()).body]).toEqual([503, { id: 2 }, { id: 2 }]);
  });

  it('refuses a key that was used for another request, is in use, or is not valid', async () => {
    const { order, gate } = await start();
    await order('book', A);
    expect((await order('pen', A)).status).toBe(422);
    const slow = order('slow', C).then((reply) => reply.body);
    await expect.poll(async () => (await order('slow', C)).status).toBe(409);
    gate.resolve();
    expect(await slow).toEqual({ id: expect.any(Number) });
    expect((await order('book', 'x'.repeat(256))).status).toBe(400);
  });

  it('is not run twice if its response could not be kept', async () => {
    let count = 0;
    const store: ApiStore = { ...createMemoryStore(), keep: () => Promise.reject(new Error('no connection')) };
    const part = implement(orders, { addOrder: () => ({ status: 201, body: { id: ++count } }) });
    const app = createTestApp({ api: [part], apiStore: store });
    const order = () => request(app).post('/api/orders').set('Idempotency-Key', A).send({ item: 'book' });
    expect([(await order()).status, (await order()).status, count]).toEqual([500, 409, 1]);
  });

  it('runs again after a failure', async () => {
    const { order } = await start();
    expect((await order('broken', A)).status).toBe(503);
    expect((await order('broken', A)).body).toEqual({ id: 2 });
  });
});

describe('lines', () => {
  const streams = {
    lines: operation({
      method: 'GET',
      path: '/lines/:count',
      summary: 'Lines',
      params: z.strictObject({ count: z.int() }),
      replies: { 200: { about: 'A line each.', lines: Person } },
      problems: { 409: 'There are none.' },
    }),
  };

  it('are streamed as they are produced, and an error before the first one has its status', async () => {
    async function* toLines(count: number) {
      if (count === 0) throw new HttpError(409, 'There are none.');
      for (let index = 0; index < count; index++) yield { id: index, name: 'Ada' };
    }
    let ended = 0;
    const app = serve(
      implement(streams, {
        lines: ({ params }) => ({
          status: 200,
          lines: (async function* () {
            try {
              yield* toLines(params.count);
            } finally {
              ended += 1;
            }
          })(),
        }),
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

  it('end at a line that the schema refuses', async () => {
    async function* toLines() {
      yield { id: 1, name: 'Ada' };
      yield { id: 2, name: 'Grace', password: 'canary' };
    }
    const app = serve(implement(streams, { lines: () => ({ status: 200, lines: toLines() }) }));
    const sent = await new Promise<string>((resolve) => {
      let text = '';
      request(app)
        .get('/api/lines/1')
        .parse((response, done) => {
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('error', () => done(null, text));
          response.on('end', () => done(null, text));
        })
        .end(() => resolve(text));
    });
    expect(sent).toBe('{"id":1,"name":"Ada"}\n');
  });

  it('end without a report if the client leaves during the first line', async () => {
    const first = Promise.withResolvers<void>();
    let begun = 0;
    let ended = 0;
    async function* toLines() {
      begun += 1;
      try {
        await first.promise;
        yield { id: 1, name: 'Ada' };
      } finally {
        ended += 1;
      }
    }
    const { log, lines: logged } = spyOnLog();
    const server = await startTestServer({
      api: [implement(streams, { lines: () => ({ status: 200, lines: toLines() }) })],
      log,
      funnel: createFunnel({ scrubber: noScrubber, log, build: 'test' }),
    });
    onTestFinished(() => server.close());
    const asked = get({ port: server.port, path: '/api/lines/1', agent: false });
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

describe('a client', () => {
  const todos = {
    getTodo: operation({
      method: 'GET',
      path: '/todos/:id',
      summary: 'Get',
      params: z.strictObject({ id: z.int() }),
      query: z.strictObject({ tags: z.array(z.string()).optional() }),
      replies: { 200: { about: 'It.', body: z.object({ id: z.int(), tags: z.array(z.string()) }) } },
      problems: { 410: 'It was deleted.' },
    }),
    addTodo: operation({
      method: 'POST',
      path: '/todos',
      summary: 'Add',
      body: z.strictObject({ title: z.string().min(1, 'Enter a title.') }),
      replies: { 201: { about: 'It.', body: z.object({ title: z.string() }) } },
    }),
    listTodos: operation({
      method: 'GET',
      path: '/todos',
      summary: 'List',
      paged: { limit: 1, max: 1 },
      replies: { 200: { about: 'Their cursors.', body: z.array(z.string()) } },
    }),
    fail: operation({ method: 'GET', path: '/fail', summary: 'Fail', replies: { 204: { about: 'Never.' } } }),
  };
  type Todos = typeof todos;

  async function start() {
    let failed = 0;
    const part = implement(todos, {
      getTodo({ params: { id }, query: { tags = [] } }) {
        if (id === 0) throw new HttpError(410, 'It was deleted.');
        return { status: 200, body: { id, tags } };
      },
      addTodo: ({ body }) => ({ status: 201, body }),
      listTodos: ({ page: { cursor = '' } }) => ({
        status: 200,
        body: [cursor],
        next: cursor === '0' ? 'b&c >' : undefined,
      }),
      fail() {
        failed += 1;
        throw new Error('canary');
      },
    });
    const server = await startTestServer({ api: [part] });
    onTestFinished(() => server.close());
    return {
      client: createClient<Todos>({ base: `http://127.0.0.1:${server.port}/api` }),
      countFailed: () => failed,
    };
  }

  it('calls operations with checked types', async () => {
    const { client } = await start();
    const todo = await client.get('/todos/:id', { params: { id: 7 }, query: { tags: ['a', 'b c'] } });
    expect(todo).toMatchObject({ ok: true, status: 200, body: { id: 7, tags: ['a', 'b c'] } });
    const added = await client.post('/todos', { body: { title: 'x' } });
    expect(added.ok && added.body.title).toBe('x');
    const seen: unknown[] = [];
    for (let next: string | undefined = '0'; next !== undefined; ) {
      const page: CallResult<Todos['listTodos']> = await client.get('/todos', { query: { cursor: next } });
      if (!page.ok) break;
      seen.push(page.body);
      next = page.next;
    }
    expect(seen).toEqual([['0'], ['b&c >']]);
  });

  it('returns problems, and throws failures after three attempts', async () => {
    const { client, countFailed } = await start();
    const gone = await client.get('/todos/:id', { params: { id: 0 } });
    expect(gone).toMatchObject({ ok: false, problem: { status: 410, detail: 'It was deleted.' } });
    const invalid = await client.post('/todos', { body: { title: '' } });
    expect(!invalid.ok && invalid.problem.errors).toEqual({ title: 'Enter a title.' });
    await expect(client.get('/fail')).rejects.toMatchObject({
      name: 'ApiError',
      status: 500,
      problem: { digest: expect.any(String) },
    });
    expect(countFailed()).toBe(3);
  });

  it('stops when it is aborted', async () => {
    const { client } = await start();
    const signal = AbortSignal.abort(new Error('left'));
    await expect(client.get('/fail', { signal })).rejects.toThrow('left');
  });

  it('does not compile with a wrong path, input or reply', () => {
    const client = createClient<Todos>();
    const never = async () => {
      // @ts-expect-error There is no such path.
      await client.get('/todo/:id', { params: { id: 1 } });
      // @ts-expect-error The method is another one.
      await client.put('/todos', { body: { title: 'x' } });
      // @ts-expect-error The parameter is missing.
      await client.get('/todos/:id');
      // @ts-expect-error The parameter is a number.
      await client.get('/todos/:id', { params: { id: '1' } });
      // @ts-expect-error The field has another name.
      await client.post('/todos', { body: { titel: 'x' } });
      const todo = await client.get('/todos/:id', { params: { id: 1 } });
      // @ts-expect-error The reply has no such field.
      if (todo.ok) return todo.body.name;
      // @ts-expect-error The operation has no such problem.
      return !todo.ok && todo.problem.status === 409;
    };
    expect(never).toBeTypeOf('function');
  });

  it('does not compile with a handler that does not fit', () => {
    const getTodo = () => ({ status: 200 as const, body: { id: 1, tags: [] } });
    const addTodo = () => ({ status: 201 as const, body: { title: '' } });
    const listTodos = () => ({ status: 200 as const, body: [] });
    const fail = () => ({ status: 204 as const });
    const never = () => {
      // @ts-expect-error A handler is missing.
      implement(todos, { getTodo, addTodo, listTodos });
      // @ts-expect-error The operation describes no such status.
      implement(todos, { getTodo, addTodo, listTodos, fail: () => ({ status: 200 }) });
      // @ts-expect-error The body has another type.
      implement(todos, { getTodo: () => ({ status: 200, body: { id: '1', tags: [] } }), addTodo, listTodos, fail });
      // @ts-expect-error Without `auth` there is no caller.
      implement(todos, { getTodo, addTodo, listTodos, fail: ({ caller }) => ({ status: caller.id }) });
    };
    expect(never).toBeTypeOf('function');
  });
});
