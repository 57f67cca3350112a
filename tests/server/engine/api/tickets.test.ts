import type { RequestListener } from 'node:http';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestApp } from '#engine/testing';
import type { OpenApi } from '../../../../src/server/engine/api/openapi.ts';
import { ticketsApi } from '../../../fixtures/tickets/handlers.ts';
import { plainTicketsApi } from '../../../fixtures/tickets/plain.ts';
import { createTicketStore, type TicketStore } from '../../../fixtures/tickets/store.ts';
import { type ApiReply, readApiDocument } from '../../../support/api-document.ts';
import {
  type ApiRequest,
  checkRuns,
  createMemory,
  type Plan,
  planRequests,
  RUNS_TIMEOUT,
} from '../../../support/api-requests.ts';
import { type ApiSender, startApiSender, toCurl } from '../../../support/api-sender.ts';

/** The support team of `fixtures/tickets`, in its two versions. */
const VERSIONS = [
  ['operations', (store: TicketStore) => createTestApp({ api: [ticketsApi(store)] })],
  ['plain handlers', (store: TicketStore) => createTestApp({ api: plainTicketsApi(store) })],
] as const;

let sender: ApiSender;
beforeAll(async () => {
  sender = await startApiSender();
});
afterAll(() => sender.close());

// A limit counts the requests of a minute of the clock.
beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-06-15T12:00:30Z') }));
afterEach(() => vi.useRealTimers());

interface Asked {
  /** Grace, an agent, if nobody is named. */
  readonly as?: 'ada' | 'grace' | 'cora' | 'nobody';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, unknown>>;
}

type Step = readonly [request: string, asked: Asked, answer: Answer];

async function ask(request: string, { as = 'grace', body, headers }: Asked = {}): Promise<ApiReply> {
  const [method = '', path] = request.split(' ');
  return sender.send({
    method,
    target: `/api${path}`,
    headers: {
      ...(as !== 'nobody' && { Authorization: `Bearer token-of-${as}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? undefined : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  });
}

function read({ text, headers }: ApiReply): unknown {
  return /^application\/(?:problem\+)?json\b/.test(String(headers['content-type'])) && text ? JSON.parse(text) : text;
}

const TICKETS = '/projects/HELP/tickets';
const TICKET = {
  project: 'HELP',
  number: 4,
  title: 'It smells',
  text: '',
  status: 'open',
  priority: 3,
  hours: null,
  due: null,
  reporter: 'cora',
  assignee: null,
  labels: [],
};
const add = (title: string): Step => [`POST ${TICKETS}`, { as: 'cora', body: { title } }, { status: 201 }];
const titles = (...names: string[]) => names.map((title) => expect.objectContaining({ title }));
const errors = (...names: string[]) => ({
  errors: Object.fromEntries(names.map((name) => [name, expect.any(String)])),
});
const problem = (status: number, detail: string) => ({ type: 'about:blank', status, detail });

const BEHAVIORS: readonly (readonly [name: string, ...steps: Step[]])[] = [
  [
    'lists projects to everybody, with their open tickets',
    [
      'GET /projects',
      { as: 'nobody' },
      {
        status: 200,
        body: [
          { key: 'EMPTY', name: 'An empty project', openTickets: 0, createdAt: expect.any(String) },
          { key: 'HELP', name: 'Support team', openTickets: 1, createdAt: expect.any(String) },
        ],
        headers: { etag: expect.stringMatching(/^W\//), 'cache-control': 'private, no-cache' },
      },
    ],
    ['GET /projects?q=TEAM', {}, { status: 200, body: [expect.objectContaining({ key: 'HELP' })] }],
    ['GET /projects?q=a&q=b', {}, { status: 400, body: errors('q') }],
    ['GET /projects?p=a', {}, { status: 400, body: { errors: { p: 'Unknown field.' } } }],
  ],
  [
    'requires a token',
    [
      'GET /projects/HELP',
      { as: 'nobody' },
      {
        status: 401,
        body: problem(401, 'Send a token: "Authorization: Bearer <token>".'),
        headers: { 'www-authenticate': 'Bearer realm="api"', 'content-type': expect.stringContaining('problem+json') },
      },
    ],
    [
      'GET /projects/HELP',
      { headers: { Authorization: 'Bearer unknown' } },
      { status: 401, headers: { 'www-authenticate': 'Bearer realm="api", error="invalid_token"' } },
    ],
  ],
  [
    'adds a project once, for administrators',
    ['POST /projects', { body: { key: 'NEW', name: 'New' } }, { status: 403 }],
    [
      'POST /projects',
      { as: 'ada', body: { key: 'NEW', name: ' New ' } },
      {
        status: 201,
        body: { key: 'NEW', name: 'New', openTickets: 0, createdAt: expect.any(String) },
        headers: { location: '/api/projects/NEW', 'cache-control': 'no-store' },
      },
    ],
    ['GET /projects/NEW', {}, { status: 200, body: expect.objectContaining({ name: 'New' }) }],
    [
      'POST /projects',
      { as: 'ada', body: { key: 'NEW', name: 'Other' } },
      { status: 409, body: problem(409, 'A project with this key exists.') },
    ],
  ],
  [
    'refuses bodies that are not valid',
    ['POST /projects', { as: 'ada', body: {} }, { status: 422, body: errors('key', 'name') }],
    [
      'POST /projects',
      { as: 'ada', body: { key: 'NEW', name: 'New', constructor: 1 } },
      { status: 422, body: { errors: { constructor: 'Unknown field.' } } },
    ],
    [
      'POST /projects',
      { as: 'ada', body: '{"key":' },
      { status: 400, body: problem(400, 'The body is not valid JSON.') },
    ],
    ['POST /projects', { as: 'ada' }, { status: 415 }],
    ['POST /projects', { as: 'ada', body: {}, headers: { 'Content-Type': 'text/plain' } }, { status: 415 }],
    ['POST /projects', { as: 'ada', body: { name: 'x'.repeat(110_000) } }, { status: 413 }],
  ],
  [
    'deletes projects without open tickets',
    ['DELETE /projects/EMPTY', { as: 'grace' }, { status: 403 }],
    ['DELETE /projects/EMPTY', { as: 'ada' }, { status: 204, body: '' }],
    ['DELETE /projects/EMPTY', { as: 'ada' }, { status: 404 }],
    ['DELETE /projects/HELP', { as: 'ada' }, { status: 409, body: problem(409, 'The project has open tickets.') }],
  ],
  [
    'adds a ticket, with a limit that is counted',
    [
      `POST ${TICKETS}`,
      { as: 'cora', body: { title: ' It smells ' } },
      {
        status: 201,
        body: { ...TICKET, createdAt: expect.any(String), changedAt: expect.any(String) },
        headers: {
          location: `/api${TICKETS}/4`,
          etag: '"1"',
          'ratelimit-policy': '"default";q=30;w=60',
          ratelimit: '"default";r=29;t=30',
        },
      },
    ],
    [
      `POST ${TICKETS}`,
      { as: 'cora', body: { title: '', priority: 9, labels: ['a', 'B'] } },
      { status: 422, body: errors('title', 'priority', 'labels.1') },
    ],
    ['POST /projects/NONE/tickets', { as: 'cora', body: { title: 'x' } }, { status: 404 }],
    ['POST /projects/none/tickets', { as: 'cora', body: { title: 'x' } }, { status: 404 }],
  ],
  [
    'adds a ticket once for an Idempotency-Key',
    [`POST ${TICKETS}`, { body: { title: 'a' }, headers: { 'Idempotency-Key': '1' } }, { status: 201 }],
    [
      `POST ${TICKETS}`,
      { body: { title: 'a' }, headers: { 'Idempotency-Key': '1' } },
      {
        status: 201,
        body: expect.objectContaining({ number: 4 }),
        headers: { 'idempotency-replayed': 'true', location: `/api${TICKETS}/4`, etag: '"1"' },
      },
    ],
    [`POST ${TICKETS}`, { body: { title: 'b' }, headers: { 'Idempotency-Key': '1' } }, { status: 422 }],
    [
      `POST ${TICKETS}`,
      { as: 'cora', body: { title: 'b' }, headers: { 'Idempotency-Key': '1' } },
      { status: 201, body: expect.objectContaining({ number: 5 }) },
    ],
    [`POST ${TICKETS}`, { body: { title: 'b' }, headers: { 'Idempotency-Key': 'é' } }, { status: 400 }],
    ['POST /projects/NONE/tickets', { body: { title: 'a' }, headers: { 'Idempotency-Key': '2' } }, { status: 404 }],
    [
      `POST ${TICKETS}`,
      { body: { title: 'c' }, headers: { 'Idempotency-Key': '2' } },
      { status: 201, body: expect.objectContaining({ number: 6 }) },
    ],
  ],
  [
    'refuses the 31st ticket of a minute',
    ...Array.from({ length: 30 }, () => add('More')),
    [
      `POST ${TICKETS}`,
      { as: 'cora', body: { title: 'Too many' } },
      {
        status: 429,
        headers: { 'retry-after': '30', ratelimit: '"default";r=0;t=30' },
      },
    ],
    [`POST ${TICKETS}`, { body: { title: 'Of another caller' } }, { status: 201 }],
  ],
  [
    'filters tickets',
    [`PUT ${TICKETS}/1/labels/b`, {}, { status: 201 }],
    [`PATCH ${TICKETS}/1`, { body: { priority: 5, hours: 1.5, assignee: 'grace' } }, { status: 200 }],
    [`GET ${TICKETS}?status=open&status=waiting`, {}, { status: 200, body: titles('The printer is on fire') }],
    [`GET ${TICKETS}?label=b&order=newest`, {}, { status: 200, body: titles('Done', 'The printer is on fire') }],
    [`GET ${TICKETS}?minPriority=4`, {}, { status: 200, body: titles('The printer is on fire') }],
    [`GET ${TICKETS}?maxHours=1.25`, {}, { status: 200, body: titles('Done', 'Done') }],
    [`GET ${TICKETS}?assigned=true`, {}, { status: 200, body: titles('The printer is on fire') }],
    [`GET ${TICKETS}?assigned=false&since=2099-01-01T00:00:00Z`, {}, { status: 200, body: [] }],
    [
      `GET ${TICKETS}?status=none&minPriority=1e0&maxHours=-1&assigned=yes&since=now&order=&limit=0`,
      {},
      { status: 400, body: expect.objectContaining({ detail: 'The query is not valid.' }) },
    ],
    [`GET ${TICKETS}?minPriority=6&assigned=1`, {}, { status: 400, body: errors('minPriority', 'assigned') }],
    [`GET ${TICKETS}?label=b&label=B`, {}, { status: 400, body: errors('label.1') }],
    [`GET ${TICKETS}?order=newest&order=newest`, {}, { status: 400, body: errors('order') }],
    [`GET ${TICKETS}?other=1`, {}, { status: 400, body: { errors: { other: 'Unknown field.' } } }],
  ],
  [
    'lists tickets in pages',
    [
      `GET ${TICKETS}?limit=2`,
      {},
      {
        status: 200,
        body: titles('The printer is on fire', 'Done'),
        headers: { link: `</api${TICKETS}?limit=2&cursor=2>; rel="next"` },
      },
    ],
    [`GET ${TICKETS}?limit=2&cursor=2`, {}, { status: 200, body: titles('Done'), headers: { link: undefined } }],
    [
      `GET ${TICKETS}?order=newest&limit=1`,
      {},
      { status: 200, headers: { link: `</api${TICKETS}?order=newest&limit=1&cursor=3>; rel="next"` } },
    ],
    [`GET ${TICKETS}?limit=101`, {}, { status: 400, body: errors('limit') }],
    [`GET ${TICKETS}?limit=1&limit=2`, {}, { status: 400, body: errors('limit') }],
  ],
  [
    'exports tickets as lines, for agents',
    [`GET ${TICKETS}.ndjson`, { as: 'cora' }, { status: 403 }],
    [
      `GET ${TICKETS}.ndjson`,
      {},
      {
        status: 200,
        body: expect.stringMatching(/^(?:\{"project":"HELP".+\}\n){3}$/),
        headers: { 'content-type': 'application/x-ndjson' },
      },
    ],
    ['GET /projects/EMPTY/tickets.ndjson', {}, { status: 200, body: '' }],
    ['GET /projects/NONE/tickets.ndjson', {}, { status: 404 }],
    [`HEAD ${TICKETS}.ndjson`, {}, { status: 200, body: '', headers: { 'content-type': 'application/x-ndjson' } }],
  ],
  [
    'compares the version of a ticket',
    [`GET ${TICKETS}/1`, {}, { status: 200, headers: { etag: '"1"' } }],
    [`GET ${TICKETS}/1`, { headers: { 'If-None-Match': '"1"' } }, { status: 304, body: '' }],
    [
      `PATCH ${TICKETS}/1`,
      { body: { text: 'Now.' }, headers: { 'If-Match': '"1"' } },
      { status: 200, body: expect.objectContaining({ text: 'Now.' }), headers: { etag: '"2"' } },
    ],
    [`GET ${TICKETS}/1`, { headers: { 'If-None-Match': 'W/"1"' } }, { status: 200, headers: { etag: '"2"' } }],
    [
      `PATCH ${TICKETS}/1`,
      { body: { text: 'Later.' }, headers: { 'If-Match': '"1"' } },
      { status: 412, body: problem(412, 'It has changed in the meantime. Get it again.') },
    ],
    [`PATCH ${TICKETS}/1`, { body: { text: 'Later.' }, headers: { 'If-Match': 'W/"2"' } }, { status: 412 }],
    [`PATCH ${TICKETS}/1`, { body: { text: 'Later.' }, headers: { 'If-Match': '"0", "2"' } }, { status: 200 }],
    [`DELETE ${TICKETS}/1`, { as: 'ada', headers: { 'If-Match': '"2"' } }, { status: 412 }],
    [`DELETE ${TICKETS}/1`, { as: 'ada', headers: { 'If-Match': '*' } }, { status: 204 }],
    [`GET ${TICKETS}/1`, {}, { status: 404 }],
  ],
  [
    'changes tickets that are open, for agents',
    [`PATCH ${TICKETS}/1`, { as: 'cora', body: { text: 'x' } }, { status: 403 }],
    [`DELETE ${TICKETS}/1`, { as: 'grace' }, { status: 403 }],
    [`PATCH ${TICKETS}/1`, { body: {} }, { status: 422, body: { errors: { '': 'Send at least one field.' } } }],
    [
      `PATCH ${TICKETS}/1`,
      { body: { assignee: 'bob' } },
      { status: 422, body: problem(422, 'The assignee is not a person of this support team.') },
    ],
    [
      `PATCH ${TICKETS}/2`,
      { body: { text: 'x' } },
      { status: 409, body: problem(409, 'The ticket is closed. Reopen it first.') },
    ],
    [`PATCH ${TICKETS}/2`, { body: { status: 'open' } }, { status: 200 }],
    [`PATCH ${TICKETS}/7`, { body: { text: 'x' } }, { status: 404 }],
    [`GET ${TICKETS}/01`, {}, { status: 404 }],
    [`GET ${TICKETS}/0`, {}, { status: 404 }],
  ],
  [
    'keeps comments on open tickets',
    [
      `POST ${TICKETS}/1/comments`,
      { as: 'cora', body: { text: ' Hello ' } },
      {
        status: 201,
        body: { id: 1, author: 'cora', text: 'Hello', createdAt: expect.any(String) },
        headers: { location: undefined },
      },
    ],
    [`POST ${TICKETS}/1/comments`, { body: { text: 'Hi' } }, { status: 201 }],
    [
      `GET ${TICKETS}/1/comments?limit=1&other=1`,
      {},
      {
        status: 200,
        body: [expect.objectContaining({ id: 1 })],
        headers: { link: `</api${TICKETS}/1/comments?limit=1&other=1&cursor=1>; rel="next"` },
      },
    ],
    [`POST ${TICKETS}/2/comments`, { body: { text: 'Hi' } }, { status: 409 }],
    [`POST ${TICKETS}/7/comments`, { body: { text: 'Hi' } }, { status: 404 }],
    [`GET ${TICKETS}/1`, {}, { status: 200, headers: { etag: '"3"' } }],
  ],
  [
    'sets and removes labels',
    [`PUT ${TICKETS}/1/labels/new`, { as: 'cora' }, { status: 403 }],
    [`PUT ${TICKETS}/1/labels/new`, {}, { status: 201, body: expect.objectContaining({ labels: ['new'] }) }],
    [`PUT ${TICKETS}/1/labels/new`, {}, { status: 200, body: expect.objectContaining({ labels: ['new'] }) }],
    [`PUT ${TICKETS}/3/labels/new`, {}, { status: 409, body: problem(409, 'The ticket has five labels.') }],
    [`PUT ${TICKETS}/1/labels/New`, {}, { status: 404 }],
    [`DELETE ${TICKETS}/1/labels/new`, {}, { status: 204 }],
    [`DELETE ${TICKETS}/1/labels/new`, {}, { status: 404 }],
  ],
  [
    'searches tickets, although that is deprecated',
    [
      'GET /tickets?q=fire',
      {},
      {
        status: 200,
        body: titles('The printer is on fire'),
        headers: {
          deprecation: '@1780272000',
          sunset: 'Tue, 01 Jun 2027 00:00:00 GMT',
          link: '<https://help.example/changes#search>; rel="deprecation"',
        },
      },
    ],
    ['GET /tickets', { as: 'nobody' }, { status: 401, headers: { deprecation: '@1780272000' } }],
    ['GET /tickets', {}, { status: 400, body: errors('q') }],
  ],
  [
    'answers methods that a path does not have',
    [`HEAD ${TICKETS}/1`, {}, { status: 200, body: '', headers: { etag: '"1"' } }],
    [`OPTIONS ${TICKETS}/1`, {}, { status: 204, headers: { allow: 'GET, HEAD, PATCH, DELETE, OPTIONS' } }],
    [`PUT ${TICKETS}/1`, {}, { status: 405, headers: { allow: 'GET, HEAD, PATCH, DELETE, OPTIONS' } }],
    ['GET /nothing', {}, { status: 404 }],
  ],
];

describe.each(VERSIONS)('the support team from %s', (_name, create) => {
  beforeEach(() => sender.serve(create(createTicketStore())));

  it.each(BEHAVIORS.map(([name, ...steps]) => ({ name, steps })))('$name', async ({ steps }) => {
    for (const [request, asked, { status, body, headers = {} }] of steps) {
      const reply = await ask(request, asked);
      const where = `${request}: ${reply.text}`;
      expect(reply.status, where).toBe(status);
      if (body !== undefined)
        expect(read(reply), where).toEqual(isPartial(body) ? expect.objectContaining(body) : body);
      for (const [name, value] of Object.entries(headers))
        expect(reply.headers[name], `${where} ${name}`).toEqual(value);
    }
  });
});

/** Problems are compared in part. */
function isPartial(body: unknown): body is Record<string, unknown> {
  return typeof body === 'object' && body !== null && ('errors' in body || 'detail' in body);
}

describe('both versions', () => {
  const [[, fromOperations], [, plain]] = VERSIONS;

  it('describe the same operations', async () => {
    const expected = await readDocument(fromOperations);
    // The plain document does not describe itself, and its first request with a key is never still running.
    delete expected.paths['/api/openapi.json'];
    delete expected.paths['/api/projects/{key}/tickets']?.post?.responses['409'];
    expect(toComparable(await readDocument(plain))).toEqual(toComparable(expected));
  });

  it(
    'answer 1,000 requests alike that are made from the document',
    async () => {
      const openApi = await readDocument(fromOperations);
      delete openApi.paths['/api/openapi.json'];
      const document = readApiDocument(openApi);

      async function run(plans: readonly Plan[]): Promise<void> {
        const [expected, answers] = [await answer(plans, fromOperations), await answer(plans, plain)];
        for (const [index, { request, seen }] of expected.entries())
          expect(answers[index]?.seen, toCurl(request)).toEqual(seen);
      }

      async function answer(plans: readonly Plan[], create: (store: TicketStore) => RequestListener) {
        sender.serve(create(createTicketStore()));
        const memory = createMemory(document);
        for (const target of ['/api/projects', `/api${TICKETS}`]) {
          memory.learn({ method: 'GET', target }, await ask(`GET ${target.slice('/api'.length)}`));
        }
        const answers: { request: ApiRequest; seen: unknown }[] = [];
        for (const plan of plans) {
          const request = plan(memory);
          const reply = await sender.send(request);
          memory.learn(request, reply);
          answers.push({ request, seen: toSeen(reply) });
        }
        return answers;
      }

      const plans = fc.array(planRequests(openApi, ['token-of-ada', 'token-of-grace']), {
        minLength: 20,
        maxLength: 20,
      });
      await checkRuns(fc.asyncProperty(plans, run), 50);
    },
    RUNS_TIMEOUT,
  );
});

async function readDocument(create: (store: TicketStore) => RequestListener): Promise<OpenApi> {
  sender.serve(create(createTicketStore()));
  return JSON.parse((await ask('GET /openapi.json')).text);
}

/** Without texts for people, and without details of schemas that add nothing to the rest. */
function toComparable(document: OpenApi): unknown {
  return JSON.parse(JSON.stringify(document), (key, value: unknown) => {
    const isBound = Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
    const isPatternOfFormat = key === 'pattern' && String(value).length > 100;
    return DETAILS.has(key) || isBound || isPatternOfFormat ? undefined : value;
  });
}

const DETAILS = new Set(['summary', 'description', 'example', 'examples', 'propertyNames']);

/** What a caller sees of an answer. Messages about fields and hashes of bodies have other words. */
function toSeen(reply: ApiReply): unknown {
  const body = read(reply);
  return {
    status: reply.status,
    headers: HEADERS.map((name) =>
      String(reply.headers[name])
        .replace(/^W\/.*/, 'undefined')
        .replace(/; charset.*/, ''),
    ),
    body: isPartial(body) && 'errors' in body ? { ...body, errors: Object.keys(Object(body.errors)) } : body,
  };
}

const HEADERS = [
  ...['allow', 'cache-control', 'content-type', 'deprecation', 'etag', 'idempotency-replayed', 'link', 'location'],
  ...['ratelimit', 'ratelimit-policy', 'retry-after', 'sunset', 'www-authenticate'],
];
