import { EventEmitter, on } from 'node:events';
import type { RequestHandler } from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type ApiStore, createMemoryStore } from '../../../src/server/api/api-store.ts';
import { bearer, session } from '../../../src/server/api/auth.ts';
import { implement } from '../../../src/server/api/implement.ts';
import { localClient } from '../../../src/server/api/local-client.ts';
import { resource } from '../../../src/server/api/resource.ts';
import { HttpError } from '../../../src/server/request/http-error.ts';
import { type Client, createClient } from '../../../src/shared/api/client.ts';
import { operation } from '../../../src/shared/api/operation.ts';
import { createTestApp, spyOnLog, startTestServer } from '../../support/app.ts';

const Person = z.strictObject({ id: z.int(), name: z.string() });
const GET = { method: 'GET', summary: 'It', replies: { 204: { about: 'Done.' } } } as const;
const done = () => ({ status: 204 as const });
const get200 = <Body extends z.ZodType>(body: Body) => ({ ...GET, replies: { 200: { about: 'It.', body } } }) as const;

interface Sent {
  readonly body?: unknown;
  readonly [header: string]: unknown;
}

type App = ReturnType<typeof createTestApp>;

/** @param line the method and the path below `/api` */
function ask(app: App, line: string, { body, ...headers }: Sent = {}): request.Test {
  const [method = '', path] = line.split(' ');
  const verb = method.toLowerCase() as 'get' | 'head' | 'options' | 'post' | 'put' | 'patch';
  return request(app)
    [verb](`/api${path}`)
    .set(headers as Record<string, string>)
    .send(body as object);
}

type Step = readonly [line: string, sent: Sent, status: number, expected?: object];

/** Sends one request after the other. */
async function walk(app: App, ...steps: readonly Step[]) {
  for (const [line, sent, status, expected] of steps) {
    const reply = await ask(app, line, sent);
    expect(reply, `${line}: ${reply.text}`).toMatchObject({ status, ...expected });
  }
}

const serve = (...api: Parameters<typeof implement>) => createTestApp({ api: [implement(...api)] });

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
      n: z.number().optional(),
      u: z.array(z.union([z.int(), z.literal('all')])).optional(),
    }),
    headers: z.object({ 'x-reason': z.string().optional() }),
    body: z.strictObject({
      name: z.string().trim(),
      home: z.strictObject({ city: z.string().optional() }).optional(),
    }),
    replies: { 200: { about: 'What was sent.', body: z.unknown(), headers: { 'X-Notified': 'Whether.' } } },
  }),
};
const echo = implement(people, {
  changePerson: ({ request: _, ...input }) => ({
    status: 200,
    body: { ...input },
    headers: { 'X-Notified': String(input.query.notify) },
  }),
});
const ADA = { body: { name: ' Ada ' } };
const any = expect.any(String);

describe('an operation', () => {
  const app = createTestApp({ api: [echo, (_req, res) => void res.json('plain')] });

  it('passes texts to the handler as the types that its schemas expect', async () => {
    const query = { notify: true, tags: [1, 2], n: 1e-7, u: [7, 'all'] };
    const body = { params: { id: 7 }, query, headers: { 'x-reason': 'so' }, body: { name: 'Ada' } };
    const line = 'PATCH /people/7?notify=true&tags=1&tags=2&n=1e-7&u=7&u=all';
    const reply = await ask(app, line, { ...ADA, 'X-Reason': 'so' });
    expect([reply.status, reply.body, reply.headers['x-notified']]).toEqual([200, body, 'true']);
    for (const n of ['0.30000000000000004', '1e21', '5']) {
      await walk(app, [`PATCH /people/7?n=${n}`, ADA, 200, { body: { query: { n: Number(n) } } }]);
    }
  });

  it.each<[path: string, body: unknown, status: number, errors?: object]>([
    ['x', ADA.body, 404],
    ['1e3', ADA.body, 404],
    ['1?limit=x', ADA.body, 400, { limit: any }],
    ['1?limit=1&limit=2', ADA.body, 400, { limit: 'Send it only once.' }],
    ['1?other=1', ADA.body, 400, { other: 'Unknown field.' }],
    ['1?constructor=1', ADA.body, 400, { constructor: 'Unknown field.' }],
    ['1?__proto__=1', ADA.body, 400, { ['__proto__']: 'Unknown field.' }],
    ['1', { name: 7, home: { city: 1 } }, 422, { name: any, 'home.city': any }],
    ['1', { name: 'Ada', home: { zip: 1 } }, 422, { 'home.zip': 'Unknown field.' }],
    ['1', '{"name":', 400],
    ['1', { name: 'x'.repeat(110_000) }, 413],
    ['1', undefined, 415],
  ])('rejects /people/%s with %j with %d, and names the errors', async (path, body, status, errors = {}) => {
    const sent = typeof body === 'string' ? { 'Content-Type': 'application/json' } : {};
    const reply = await ask(app, `PATCH /people/${path}`, { ...sent, body });
    expect([reply.status, reply.type]).toEqual([status, 'application/problem+json']);
    expect(Object.entries(reply.body.errors ?? {})).toEqual(Object.entries(errors));
  });

  it.each(['', ' ', '__proto__', 'constructor', 'toString', '\0', '\u202e', '🙂', '1e999', '-0', 'x'.repeat(5000)])(
    'never fails for the text %j',
    async (text) => {
      const encoded = encodeURIComponent(text);
      const sent = { 'X-Reason': encoded, 'Idempotency-Key': encoded, 'If-Match': encoded };
      const body = { name: text, [text]: [text], home: { [text]: { [text]: text } } };
      for (const path of [`${encoded}`, `1?limit=${encoded}&tags=${encoded}`, `1?${encoded}=1&u=${encoded}`, '1']) {
        expect((await ask(app, `PATCH /people/${path}`, { ...sent, body })).status).toBeLessThan(500);
      }
    },
  );

  it('reads texts as the types of the member of a union that they are for', () => {
    const by = z.discriminatedUnion('by', [
      z.strictObject({ by: z.literal('age'), value: z.int() }),
      z.strictObject({ by: z.literal('name'), value: z.string() }),
    ]);
    const find = operation({ ...get200(z.unknown()), path: '/find', query: by });
    return walk(
      createTestApp({ api: [implement({ find }, { find: ({ query }) => ({ status: 200, body: query }) })] }),
      ['GET /find?by=age&value=5', {}, 200, { body: { by: 'age', value: 5 } }],
      ['GET /find?by=name&value=5', {}, 200, { body: { by: 'name', value: '5' } }],
      ['GET /find?by=size&value=5', {}, 400],
    );
  });

  it('answers HEAD and OPTIONS, 405 with Allow for other methods, and leaves other paths to Express handlers', async () => {
    const plain = serve({ plain: operation({ ...GET, path: '/plain.txt' }) }, { plain: done });
    const headers = { allow: 'GET, HEAD, OPTIONS' };
    await walk(
      plain,
      ['GET /plain.txt?a=1&a=2', {}, 204],
      ['HEAD /plain.txt', {}, 204],
      ['GET /plain.txt/', {}, 204],
      ['OPTIONS /plain.txt', {}, 204, { headers }],
      ['POST /plain.txt', {}, 405, { headers }],
      ['GET /plainxtxt', {}, 404],
    );
    await walk(app, ['GET /other', {}, 200, { body: 'plain' }]);
  });

  it('matches in exact case, so that a step which guards its path sees each of its requests', async () => {
    const secrets = {
      getFixed: operation({ ...get200(z.unknown()), path: '/admin/secret' }),
      getNamed: operation({
        ...get200(z.unknown()),
        path: '/admin/secrets/:name',
        params: z.object({ name: z.string() }),
      }),
    };
    const part = implement(secrets, {
      getFixed: () => ({ status: 200, body: 'fixed' }),
      getNamed: ({ params }) => ({ status: 200, body: params.name }),
    });
    const guard: RequestHandler = (req, res, next) =>
      req.path.startsWith('/api/admin/') ? void res.status(401).end() : next();
    const handler = resource('/admin/plain', { GET: (_req, res) => void res.json('plain') });
    const apps = [[], [guard]].map((steps) => createTestApp({ api: [part, handler], steps }));
    const read = (path: string) => Promise.all(apps.map((one) => request(one).get(path)));
    const status = async (path: string) => (await read(path)).map((reply) => reply.status);
    for (const path of ['secret', 'secret/', 'secrets/Ada', 'plain', 'plain/']) {
      expect(await status(`/api/admin/${path}`), path).toEqual([200, 401]);
      for (const other of [`/api/Admin/${path}`, `/API/admin/${path}`]) {
        expect(await status(other), other).toEqual([404, 404]);
      }
    }
    expect(await status('/api/admin/SECRETS/Ada')).toEqual([404, 401]);
    expect((await read('/api/admin/secrets/%252F'))[0]?.body).toBe('%2F');
  });

  const limited = operation({ ...GET, path: '/', limit: '0/min' });
  const others = { changePerson: operation({ ...GET, path: '/others' }) };
  const renamed = { drop: operation({ ...GET, method: 'DELETE', path: '/people/:personId' }) };
  it.each([
    ['it is served twice', () => createTestApp({ api: [echo, echo] }), 'Two operations have PATCH /people/:id.'],
    [
      'another has its name',
      () => createTestApp({ api: [echo, implement(others, { changePerson: done })] }),
      'Two operations have the name changePerson.',
    ],
    [
      'another names a parameter of its path differently',
      () => createTestApp({ api: [echo, implement(renamed, { drop: done })] }),
      'Two operations have the paths /people/:id and /people/:personId, which match the same URLs.',
    ],
    [
      'it has no handler',
      () => implement(people, {} as never),
      'The operation "changePerson" (PATCH /people/:id) has no handler. Add `changePerson` to the handlers in implement().',
    ],
    [
      'its limit is none',
      () => serve({ limited }, { limited: done }),
      'The limit "0/min" of the operation "limited" is not valid.',
    ],
  ])('does not start if %s', (_name, start, message) => {
    expect(start).toThrow(message);
  });

  it('fails if its reply is not what the schema describes, and does not send it', async () => {
    const { log, lines } = spyOnLog();
    const ada = { id: 1, name: 'Ada', password: 'canary' } as z.infer<typeof Person>;
    const part = implement(
      { getPerson: operation({ ...get200(Person), path: '/person' }) },
      { getPerson: () => ({ status: 200, body: ada }) },
    );
    const app = createTestApp({ api: [part], log });
    const reply = await ask(app, 'GET /person');
    expect(reply).toMatchObject({ status: 500, body: { digest: expect.stringMatching(/^[0-9A-Z]{8}$/) } });
    expect(reply.text).not.toContain('canary');
    const logged = JSON.stringify(lines);
    expect(logged).toContain('The reply of the operation getPerson is not what its schema describes');
    expect(logged).not.toContain('run-operation'); // with a place of Spillway, all such failures would have one digest
  });

  it.each(['its handler', 'its version', 'the lookup of its caller'])(
    'fails if %s passes on the error of another server, whose status and headers are not for the caller',
    async (place) => {
      const { log, lines } = spyOnLog();
      const headers = { 'WWW-Authenticate': 'Basic realm="canary"', 'Retry-After': '60' };
      const at = (here: string): never | undefined => {
        if (here === place) throw Object.assign(new Error('canary'), { status: 401, headers });
      };
      const handler = {
        version: () => at('its version') ?? '1',
        handle: () => at('its handler') ?? { status: 204 as const },
      };
      const auth = bearer(() => at('the lookup of its caller') ?? { id: 1 });
      const part = implement({ pay: operation({ ...GET, path: '/pay' }) }, { pay: handler }, { auth });
      const reply = await ask(createTestApp({ api: [part], log }), 'GET /pay', { Authorization: 'Bearer x' });
      expect(reply).toMatchObject({ status: 500, body: { digest: any } });
      expect([reply.text, reply.headers['www-authenticate'], reply.headers['retry-after']]).toEqual([
        expect.not.stringContaining('canary'),
        undefined,
        undefined,
      ]);
      expect(lines).toContainEqual(expect.objectContaining({ title: 'Error: canary' }));
    },
  );
});

const list = { list: operation({ ...get200(z.array(Person)), path: '/list' }) };
/** fetch() sends `no-cache` with a condition. */
const known = (etag: string) => ({ 'If-None-Match': etag, 'Cache-Control': 'no-cache' });

it('the version of a reply is compared before the handler runs if it is cheap, and is a hash by default', async () => {
  let handled = 0;
  let version = 'first one';
  const handle = () => {
    handled += 1;
    return { status: 200 as const, body: [] };
  };
  const app = serve(list, { list: { version: async () => version, handle } });
  await walk(app, ['GET /list', {}, 200, { headers: { etag: 'W/"first%20one"' } }]);
  await walk(app, ['GET /list', known('W/"first%20one"'), 304]);
  expect(handled).toBe(1);
  version = 'second';
  await walk(app, ['GET /list', known('W/"first%20one"'), 200]);
  const plain = serve(list, { list: handle });
  const { etag = '' } = (await ask(plain, 'GET /list')).headers;
  await walk(plain, ['GET /list', known(etag), 304]);
});

it('the version of a reply protects a change, if the caller sends the version that it knows', () => {
  let stored = 1;
  const one = {
    read: operation({ ...get200(z.object({ text: z.string() })), path: '/one' }),
    change: operation({ ...GET, method: 'PUT', path: '/one', ifMatch: true }),
  };
  const text = 'x'.repeat(5000);
  const version = () => String(stored);
  const part = implement(one, {
    read: { version, handle: () => ({ status: 200, body: { text }, version: version() }) },
    change({ match }) {
      match(String(stored));
      stored += 1;
      return { status: 204, version: String(stored) };
    },
  });
  const headers = { etag: 'W/"1"' };
  return walk(
    createTestApp({ api: [part], compression: true }),
    ['GET /one', { 'Accept-Encoding': 'gzip' }, 200, { headers: { ...headers, 'content-encoding': 'gzip' } }],
    ['GET /one', known('W/"1"'), 304, { headers }],
    ['PUT /one', { 'If-Match': 'W/"1"' }, 204, { headers: { etag: 'W/"2"' } }],
    ['PUT /one', { 'If-Match': 'W/"1"' }, 412],
    ['PUT /one', { 'If-Match': '' }, 412],
    ['PUT /one', { 'If-Match': '"0", "2"' }, 204],
    ['PUT /one', { 'If-Match': '*' }, 204],
    ['PUT /one', {}, 204],
  );
});

it('a list has pages, which follow each other by links', async () => {
  const list = operation({
    ...get200(z.array(z.int())),
    path: '/numbers',
    query: z.strictObject({ even: z.boolean().optional() }),
    paged: { limit: 2, max: 3 },
  });
  const part = implement(
    { list },
    {
      list: ({ page: { cursor = '0', limit } }) => ({
        status: 200,
        body: [0, 1, 2, 3, 4].slice(Number(cursor), Number(cursor) + limit),
        next: cursor === '0' ? String(limit) : undefined,
      }),
    },
  );
  const app = createTestApp({ api: [part] });
  const link = '</api/numbers?even=true&limit=3&cursor=3>; rel="next"';
  const refused = (field: string) => ({ body: { errors: { [field]: any } } });
  await walk(
    app,
    ['GET /numbers', {}, 200, { body: [0, 1] }],
    ['GET /numbers?even=true&limit=3', {}, 200, { body: [0, 1, 2], headers: { link } }],
    ['GET /numbers?even=true&limit=3&cursor=3', {}, 200, { body: [3, 4] }],
    ['GET /numbers?cursor=1&cursor=2', {}, 400, refused('cursor')],
    ...['0', '4', 'x', '1&limit=2'].map((limit): Step => [`GET /numbers?limit=${limit}`, {}, 400, refused('limit')]),
  );
  expect((await ask(app, 'GET /numbers?cursor=3')).headers.link).toBeUndefined();
});

const operations = {
  whoAmI: operation({ ...get200(z.object({ name: z.string() })), path: '/me' }),
  ping: operation({ ...GET, path: '/ping', isOpen: true }),
};
const start = (auth: ReturnType<typeof bearer<{ id: number; name: string }>>) => {
  const whoAmI = ({ caller: { name } }: { caller: { name: string } }) => ({ status: 200 as const, body: { name } });
  return createTestApp({ api: [implement(operations, { whoAmI, ping: done }, { auth })] });
};
const ada = { id: 7, name: 'Ada' };

it('a caller is found by a token', () => {
  const refused = (challenge: string) => ({
    type: 'application/problem+json',
    headers: { 'www-authenticate': `Bearer realm="api"${challenge}` },
  });
  return walk(
    start(bearer(async (token) => (token === 'secret-token' ? ada : undefined))),
    ['GET /me', { Authorization: 'Bearer secret-token' }, 200, { body: { name: 'Ada' } }],
    ['GET /me', { Authorization: 'bearer  secret-token ' }, 200],
    ['GET /me', { Authorization: 'Bearer other' }, 401, refused(', error="invalid_token"')],
    ['GET /me', {}, 401, refused('')],
    ...['', 'Bearer', 'Basic secret-token', 'secret-token', 'Bearer secret-token x'].map(
      (Authorization): Step => ['GET /me', { Authorization }, 401],
    ),
    ['GET /ping', {}, 204],
  );
});

it('a caller is found by a session', () =>
  walk(
    start(session((req) => (req.headers.cookie === 'sid=1' ? ada : undefined), 'sid')),
    ['GET /me', { Cookie: 'sid=1' }, 200, { body: { name: 'Ada' } }],
    ['GET /me', {}, 401, { headers: { 'www-authenticate': 'Cookie realm="api"' } }],
  ));

describe('a limit', () => {
  const limited = {
    search: operation({ ...GET, path: '/search', limit: '2/day' }),
    other: operation({ ...GET, path: '/other' }),
  };
  const start = (lookup?: Parameters<typeof bearer>[0]) =>
    createTestApp({
      api: [implement(limited, { search: done, other: done }, lookup ? { auth: bearer(lookup as never) } : {})],
    });
  const as = (token: string) => ({ Authorization: `Bearer ${token}` });
  const search = (sent: Sent, status: number, headers = {}): Step => ['GET /search', sent, status, { headers }];
  const digits = expect.stringMatching(/^[1-9]\d*$/);

  it('is counted for each operation and caller, with headers that say what is left', () => {
    const ratelimit = expect.stringMatching(/^"default";r=1;t=\d+$/);
    return walk(
      start((token) => ({ id: token })),
      search(as('ada'), 204, { 'ratelimit-policy': '"default";q=2;w=86400', ratelimit }),
      search(as('ada'), 204),
      search(as('ada'), 429, { 'retry-after': digits, 'content-type': 'application/problem+json' }),
      search(as('grace'), 204),
      ['GET /other', as('ada'), 204],
    );
  });

  it('is counted by address without callers, which does not refuse callers', async () => {
    await walk(start(), search({}, 204), search({}, 204), search({}, 429));
    await walk(
      start(() => ({ id: 1 })),
      ...[search({}, 401), search({}, 401), search({}, 429), search(as('ada'), 204)],
    );
  });

  it('is that of wrong tokens too: after so many, none of the address is looked up', async () => {
    const lookedUp: string[] = [];
    const app = start((token) => {
      lookedUp.push(token);
      return token === 'ada' ? { id: 1 } : undefined;
    });
    await walk(
      app,
      search({}, 401),
      ...['x1', 'x2'].map((token) => search(as(token), 401)),
      ...['x3', 'ada'].map((token) => search(as(token), 429, { 'retry-after': digits })),
      ['GET /other', as('ada'), 204],
    );
    expect(lookedUp).toEqual(['x1', 'x2', 'ada']);
  });
});

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
  const [A, B] = ['a'.repeat(16), 'b'.repeat(16)];

  function start({ auth, ...store }: { auth?: ReturnType<typeof bearer> } & Partial<ApiStore> = {}) {
    const gate = Promise.withResolvers<void>();
    let count = 0;
    const part = implement(
      orders,
      {
        async addOrder({ body }: { body: { item: string } }) {
          if (body.item === 'slow') await gate.promise;
          count += 1;
          if (body.item === 'broken' && count === 1) throw new HttpError(503);
          const id = body.item === 'unfit' ? ('x' as never) : count;
          return { status: 201 as const, body: { id }, headers: { Location: `/api/orders/${count}` } };
        },
      },
      auth ? { auth } : {},
    );
    return {
      app: createTestApp({ api: [part], apiStore: { ...createMemoryStore(), ...store } }),
      gate,
      count: () => count,
    };
  }

  const order = (item: string, key: string | undefined, status: number, expected = {}, headers = {}): Step => {
    const sent = { ...headers, ...(key !== undefined && { 'Idempotency-Key': key }), body: { item } };
    return ['POST /orders', sent, status, expected];
  };
  const id = (value: number) => ({ body: { id: value } });

  it('runs once for a key, repeats its response, and refuses the key for another request', () => {
    const replayed = { ...id(1), headers: { location: '/api/orders/1', 'idempotency-replayed': 'true' } };
    return walk(
      start().app,
      order('book', A, 201, id(1)),
      order('book', A, 201, replayed),
      order('book', B, 201, id(2)),
      order('book', undefined, 201, id(3)),
      order('pen', A, 422),
    );
  });

  it('keeps the keys of callers apart, for any ids', () => {
    const ids: Record<string, string | number> = { a: 'bob', b: 'bob smith', c: '["bob"]', d: 1, e: '1' };
    const by = (token: string, key: string, value: number) =>
      order('book', key, 201, id(value), { Authorization: `Bearer ${token}` });
    return walk(
      start({ auth: bearer((token) => ({ id: ids[token] ?? '' })) }).app,
      ...[by('a', 'smith 1', 1), by('b', '1', 2), by('a', 'smith 1', 1)],
      ...[by('c', '1', 3), by('d', '1', 4), by('e', '1', 5)],
    );
  });

  it.each(['1', 'order-2026-1', 'x'.repeat(15), 'é'.repeat(20), 'x'.repeat(256)])(
    'needs a key that others do not have if it is open, because strangers can share an address: %s',
    (key) => walk(start().app, order('book', key, 400, { body: { detail: expect.stringContaining('Use 16 to 255') } })),
  );

  it('refuses a key that is in use', async () => {
    const { app, gate } = start();
    const send = () => ask(app, 'POST /orders', { 'Idempotency-Key': A, body: { item: 'slow' } });
    const slow = send().then((reply) => reply.body);
    await expect.poll(async () => (await send()).status).toBe(409);
    gate.resolve();
    expect(await slow).toEqual({ id: 1 });
  });

  it('runs again after a failure', () =>
    walk(start().app, ...[order('broken', A, 503), order('broken', A, 201, id(2)), order('broken', A, 201, id(2))]));

  it.each([
    ['could not be kept', 'book', '', { keep: () => Promise.reject(new Error('no connection')) }],
    ['does not fit its schema', 'unfit', 'Its result is unknown', {}],
  ])('is not run twice if its response %s', async (_why, item, detail, store) => {
    const { app, count } = start(store);
    const refused = order(item, A, 409, { body: { detail: expect.stringContaining(detail) } });
    await walk(app, order(item, A, 500), refused, refused);
    expect(count()).toBe(1);
  });
});

const params = z.strictObject({ count: z.int() });
const lines = operation({
  ...GET,
  path: '/lines/:count',
  params,
  replies: { 200: { about: 'A line each.', lines: Person } },
  problems: { 409: 'There are none.' },
});

it('lines break off at one that the schema refuses, and can fail before the first', async () => {
  let ended = 0;
  async function* toLines(count: number) {
    try {
      if (count === 0) throw new HttpError(409, 'There are none.');
      for (let index = 0; index < Math.min(count, 3); index++) yield { id: index, name: 'Ada' };
      if (count > 3) yield { id: 3, name: 'Grace', password: 'canary' };
    } finally {
      ended += 1;
    }
  }
  const part = implement({ lines }, { lines: (input) => ({ status: 200, lines: toLines(input.params.count) }) });
  const server = await startTestServer({ api: [part] });
  async function read(path: string, method = 'GET') {
    const reply = await fetch(`http://127.0.0.1:${server.port}/api/lines/${path}`, { method });
    return [reply.status, reply.headers.get('content-type'), await reply.text().catch(() => 'broken')];
  }
  const type = 'application/x-ndjson';
  expect(await read('2')).toEqual([200, type, '{"id":0,"name":"Ada"}\n{"id":1,"name":"Ada"}\n']);
  expect(await read('4')).toEqual([200, type, 'broken']);
  expect((await read('0'))[0]).toBe(409);
  expect(ended).toBe(3);
  expect(await read('3', 'HEAD')).toEqual([200, type, '']);
  expect(ended).toBe(3);
});

it.each([0, 1])('lines that wait end when their caller leaves after %i of them, which is no failure', async (sent) => {
  const emitter = new EventEmitter();
  let ended = 0;
  async function* follow(signal: AbortSignal) {
    try {
      for await (const [name] of on(emitter, 'name', { signal })) yield { id: 1, name };
    } finally {
      ended += 1;
    }
  }
  const part = implement({ lines }, { lines: ({ signal }) => ({ status: 200, lines: follow(signal) }) });
  const { port, lines: logged } = await startTestServer({ api: [part] });
  const leaving = new AbortController();
  const asked = fetch(`http://127.0.0.1:${port}/api/lines/1`, { signal: leaving.signal });
  asked.catch(() => undefined);
  await expect.poll(() => emitter.listenerCount('name')).toBe(1);
  if (sent > 0) emitter.emit('name', 'Ada');
  if (sent > 0) await (await asked).body?.getReader().read();
  leaving.abort();
  await expect.poll(() => ended).toBe(1);
  expect(emitter.listenerCount('name')).toBe(0);
  await expect.poll(() => logged.some(({ msg }) => msg === 'request')).toBe(true);
  expect(logged.filter(({ digest, level }) => digest !== undefined || Number(level) > 30)).toEqual([]);
});

it('lines of a database that answers at once leave their turn to other requests', async () => {
  let hasEnded = false;
  async function* read() {
    for (let id = 0; id < 200; id += 1) {
      const end = performance.now() + 1;
      while (performance.now() < end);
      yield { id, name: 'Ada' };
    }
    hasEnded = true;
  }
  const server = await startTestServer({
    api: [implement({ lines }, { lines: () => ({ status: 200, lines: read() }) })],
  });
  const asked = fetch(`http://127.0.0.1:${server.port}/api/lines/1`).then((reply) => reply.text());
  await fetch(`http://127.0.0.1:${server.port}/api/lines/x`);
  expect(hasEnded).toBe(false);
  expect((await asked).split('\n')).toHaveLength(201);
});

describe('a client', () => {
  const todos = {
    getTodo: operation({
      ...get200(z.object({ id: z.int(), tags: z.array(z.string()) })),
      path: '/todos/:id',
      params: z.strictObject({ id: z.int() }),
      query: z.strictObject({ tags: z.array(z.string()).optional() }),
      problems: { 410: 'It was deleted.' },
    }),
    putTodo: operation({
      method: 'PUT',
      path: '/todos/:id',
      summary: 'Change',
      params: z.strictObject({ id: z.int() }),
      body: z.strictObject({ title: z.string().min(1, 'Enter a title.') }),
      ifMatch: true,
      replies: { 200: { about: 'It.', body: z.object({ title: z.string() }) } },
    }),
    listTodos: operation({
      ...GET,
      path: '/todos',
      paged: { limit: 1, max: 1 },
      replies: { 200: { about: 'Cursors.', body: z.array(z.string()), headers: { 'X-Total': 'How many.' } } },
    }),
    fail: operation({ ...GET, path: '/fail' }),
    think: operation({
      ...GET,
      method: 'POST',
      path: '/think',
      body: z.strictObject({ about: z.enum(['dams', 'leaks', 'ever']) }),
      replies: { 200: { about: 'Words.', lines: z.object({ word: z.string() }) } },
    }),
  };
  type Todos = typeof todos;
  const failure = new Error('canary');
  let failed = 0;
  const part = implement(todos, {
    getTodo({ params: { id }, query: { tags = [] } }) {
      if (id === 0) throw new HttpError(410, 'It was deleted.');
      return { status: 200, body: { id, tags } };
    },
    putTodo({ body, match }) {
      match('1');
      return { status: 200, body };
    },
    listTodos({ page: { cursor = '' } }) {
      const next = cursor === '0' ? 'b&c >' : undefined;
      return { status: 200, body: [cursor], next, version: 'all of them', headers: { 'X-Total': '3' } };
    },
    fail() {
      failed += 1;
      throw failure;
    },
    think: ({ body, signal }) => ({ status: 200, lines: think(body.about, signal) }),
  });

  async function* think(about: string, signal: AbortSignal) {
    yield { word: 'Dämme' };
    yield { word: 'halten', secret: 'canary' };
    if (about === 'leaks') throw failure;
    if (about === 'ever') for await (const [word] of on(new EventEmitter(), 'never', { signal })) yield { word };
  }

  type Call = <Result>(run: (client: Client<Todos>) => Promise<Result>) => Promise<Result>;

  const remotely: Call = async (run) => {
    const server = await startTestServer({ api: [part] });
    return run(createClient<Todos>({ base: `http://127.0.0.1:${server.port}/api` }));
  };

  /** Calls it in a handler, as a loader does. */
  const inProcess: Call = async (run) => {
    let result: ReturnType<typeof run> | undefined;
    const handler: RequestHandler = (req, res) => {
      result = run(localClient<Todos>(req));
      const end = () => void res.end();
      result.then(end, end);
    };
    await ask(createTestApp({ api: [part, handler] }), 'GET /other');
    return result ?? Promise.reject(new Error('The handler did not run.'));
  };

  it.each(['', '.', '..'])('refuses %j as a part of a path, which would call another operation', (id) =>
    expect(remotely((client) => client.get('/todos/:id', { params: { id } } as never))).rejects.toThrow(TypeError),
  );

  describe.each([
    ['of another process', remotely],
    ['in the same process', inProcess],
  ])('%s', (_name, call) => {
    it('returns what a request gets, and problems', async () => {
      const results = await call(async (client) => [
        await client.get('/todos/:id', { params: { id: 7 }, query: { tags: ['a', 'b c'] } }),
        await client.get('/todos', { query: { cursor: '0' } }),
        await client.get('/todos', { query: { cursor: 'b&c >' } }),
        await client.put('/todos/:id', { params: { id: 1 }, body: { title: 'x' }, headers: { 'If-Match': '"1"' } }),
        await client.put('/todos/:id', { params: { id: 1 }, body: { title: 'x' }, headers: { 'If-Match': '"0"' } }),
        await client.put('/todos/:id', { params: { id: 1 }, body: { title: '' } }),
        await client.get('/todos/:id', { params: { id: 0 } }),
        await client.get('/todos/:id', { params: { id: 'x' as never } }),
      ]);
      expect(results).toMatchObject([
        { ok: true, status: 200, body: { id: 7, tags: ['a', 'b c'] } },
        { ok: true, body: ['0'], next: 'b&c >' },
        { ok: true, body: ['b&c >'], next: undefined },
        { ok: true, body: { title: 'x' } },
        { ok: false, problem: { status: 412 } },
        { ok: false, problem: { status: 422, errors: { title: 'Enter a title.' } } },
        { ok: false, problem: { status: 410, detail: 'It was deleted.' } },
        { ok: false, problem: { status: 404 } },
      ]);
      const headers = results[1]?.ok ? results[1].headers : new Headers();
      expect(headers.get('X-Total')).toBe('3');
      expect(headers.get('ETag')).toMatch(/^(?:W\/)?"all%20of%20them"$/);
    });

    it('reads lines while they are made, until one breaks off', async () => {
      const words: string[] = [];
      const read = (about: 'dams' | 'leaks') =>
        call(async (client) => {
          const thought = await client.post('/think', { body: { about } });
          if (thought.ok) for await (const { word } of thought.lines) words.push(word);
        });
      await read('dams');
      expect(words.splice(0)).toEqual(['Dämme', 'halten']);
      await expect(read('leaks')).rejects.toThrow(
        call === inProcess ? 'canary' : /^The answer .*broke off \(.{36}\)\.$/,
      );
      expect(words).toEqual(['Dämme', 'halten']);
    });

    it('stops to read lines when it is aborted', async () => {
      const leaving = new AbortController();
      const read = call(async (client) => {
        const thought = await client.post('/think', { body: { about: 'ever' }, signal: leaving.signal });
        if (thought.ok) for await (const { word } of thought.lines) if (word === 'halten') leaving.abort();
      });
      await expect(read).rejects.toMatchObject({ name: 'AbortError' });
    });
  });

  it('throws failures after three attempts, and what the handler throws in the same process', async () => {
    const fail = (client: Client<Todos>) => client.get('/fail');
    await expect(remotely(fail)).rejects.toMatchObject({ name: 'ApiError', status: 500, problem: { digest: any } });
    expect(failed).toBe(3);
    await expect(inProcess(fail)).rejects.toBe(failure);
    const missing = '/other' as string as '/todos';
    await expect(inProcess((client) => client.get(missing))).rejects.toThrow('The API has no operation GET /other.');
  });

  it('does not compile with a wrong path, input or reply', () => {
    const client = createClient<Todos>();
    const never = async () => {
      // @ts-expect-error There is no such path.
      await client.get('/todo/:id', { params: { id: 1 } });

      // @ts-expect-error The parameter is a number.
      await client.get('/todos/:id', { params: { id: '1' } });
      // @ts-expect-error The field has another name.
      await client.put('/todos/:id', { params: { id: 1 }, body: { titel: 'x' } });
      const todo = await client.get('/todos/:id', { params: { id: 1 } });
      // @ts-expect-error The reply has no such field.
      if (todo.ok) return todo.body.name;
      const thought = await client.post('/think', { body: { about: 'dams' } });
      // @ts-expect-error The lines have no such field.
      if (thought.ok) for await (const { words } of thought.lines) return words;
      // @ts-expect-error The operation has no such problem.
      return !todo.ok && todo.problem.status === 409;
    };
    expect(never).toBeTypeOf('function');
  });
});
