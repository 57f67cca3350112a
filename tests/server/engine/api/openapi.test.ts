import { createHash } from 'node:crypto';
import { Validator } from '@seriousme/openapi-schema-validator';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { bearer, session } from '../../../../src/server/engine/api/auth.ts';
import { type ApiPart, implement } from '../../../../src/server/engine/api/implement.ts';
import { createOpenApi, toExample } from '../../../../src/server/engine/api/openapi.ts';
import { operation } from '../../../../src/shared/engine/api/operation.ts';
import { createTestApp } from '../../../support/app.ts';
import { REQUIRED_HEADERS } from '../../../support/required-headers.ts';

const Person = z
  .strictObject({ id: z.int(), name: z.string(), born: z.int().optional().describe('A year.') })
  .meta({ id: 'Person', description: 'Somebody.' });
const NewPerson = z.strictObject({ name: z.string().trim().min(1).max(40), tags: z.array(z.string()).default([]) });

const people = implement(
  {
    listPeople: operation({
      method: 'GET',
      path: '/people',
      summary: 'List people',
      query: z.strictObject({ limit: z.int().max(10).default(5).describe('The most.') }),
      replies: { 200: { about: 'All of them.', body: z.array(Person) } },
    }),
    addPerson: operation({
      method: 'POST',
      path: '/people',
      summary: 'Add somebody',
      about: 'By name.',
      headers: z.object({ 'idempotency-key': z.string().optional() }),
      body: NewPerson.meta({ id: 'NewPerson' }),
      replies: { 201: { about: 'The person.', body: Person, headers: { Location: 'Where they are.' } } },
      problems: { 409: 'They are here already.' },
    }),
  },
  {
    listPeople: () => ({ status: 200, body: [] }),
    addPerson: ({ body }) => ({ status: 201, body: { id: 1, name: body.name }, headers: { Location: '/people/1' } }),
  },
).implemented;

const person: ApiPart = implement(
  {
    getPart: operation({
      method: 'GET',
      path: '/people/:id/:part',
      summary: 'Get a part',
      deprecated: { since: '2026-11-01' },
      params: z.strictObject({ id: z.int().min(1), part: z.string() }),
      replies: { 200: { about: 'It.', lines: Person } },
    }),
  },
  { getPart: () => ({ status: 200, lines: (async function* () {})() }) },
);
const all = [...people, ...person.implemented];

const FACTS = { title: 'People', version: '2' };
const OPTIONS = { ...FACTS, base: '/api' };

describe('a document', () => {
  it('is valid OpenAPI 3.1 according to a public validator', async () => {
    const document = createOpenApi({
      ...OPTIONS,
      about: 'All of them.',
      operations: all.map((one) => ({ ...one, auth: bearer(() => undefined) })),
    });
    expect(
      await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>),
    ).toMatchObject({
      valid: true,
    });
  });

  it('describes parameters with the schemas that validate them', () => {
    const { paths } = createOpenApi({ ...OPTIONS, operations: all });
    expect(paths['/api/people']?.get?.parameters).toEqual([
      {
        name: 'limit',
        in: 'query',
        required: false,
        description: 'The most.',
        schema: { type: 'integer', maximum: 10, default: 5 },
      },
      {
        name: 'If-None-Match',
        in: 'header',
        required: false,
        description: expect.any(String),
        schema: { type: 'string' },
      },
    ]);
    expect(paths['/api/people']?.post?.parameters).toMatchObject([{ name: 'Idempotency-Key', in: 'header' }]);
    expect(paths['/api/people/{id}/{part}']?.get?.parameters).toEqual([
      { name: 'id', in: 'path', required: true, schema: { type: 'integer', minimum: 1 } },
      { name: 'part', in: 'path', required: true, schema: { type: 'string' } },
    ]);
    expect(paths['/api/people/{id}/{part}']?.get?.deprecated).toBe(true);
  });

  it('describes bodies, responses and their errors', () => {
    const { paths, components } = createOpenApi({ ...OPTIONS, operations: all });
    const { get, post } = paths['/api/people'] ?? {};
    expect(post?.requestBody).toEqual({
      required: true,
      content: {
        'application/json': { schema: { $ref: '#/components/schemas/NewPerson' }, example: { name: 'text', tags: [] } },
      },
    });
    expect(Object.keys(post?.responses ?? {})).toEqual(['201', '400', '409', '413', '415', '422', 'default']);
    expect(Object.keys(get?.responses ?? {})).toEqual(['200', '304', '400', 'default']);
    expect(get?.responses['200']).toMatchObject({
      headers: { ETag: {} },
      content: { 'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Person' } } } },
    });
    expect(paths['/api/people/{id}/{part}']?.get?.responses['200']?.content).toEqual({
      'application/x-ndjson': {
        schema: { $ref: '#/components/schemas/Person' },
        example: { id: 1, name: 'text', born: 1 },
      },
    });
    expect(components.schemas.Person).toEqual({
      type: 'object',
      description: 'Somebody.',
      properties: {
        id: { type: 'integer' },
        name: { type: 'string' },
        born: { type: 'integer', description: 'A year.' },
      },
      required: ['id', 'name'],
      additionalProperties: false,
    });
    // Request bodies use the input type of a schema, in which properties with a default are optional.
    expect(components.schemas.NewPerson?.required).toEqual(['name']);
  });

  it.each([
    [[...people, ...people], 'Two operations have the name listPeople.'],
    [
      [...listOf(Person), ...listOf(z.strictObject({ id: z.string() }).meta({ id: 'Person' }))],
      'Two schemas have the id Person',
    ],
    [listOf(toTree()), 'Give it one: `.meta({ id:'],
  ])('is not created if a required id is missing or used twice', (operations, words) => {
    expect(() => createOpenApi({ ...OPTIONS, operations })).toThrow(words);
  });

  it('is served, and includes its own path', async () => {
    const app = createTestApp({ api: [person], apiDocument: OPTIONS });
    const { status, body } = await request(app).get('/api/openapi.json');
    expect(status).toBe(200);
    expect(body.info).toEqual({ title: 'People', version: '2' });
    expect(Object.keys(body.paths)).toEqual(['/api/people/{id}/{part}', '/api/openapi.json']);
    expect(body.paths['/api/openapi.json'].get.security).toEqual([]);
  });
});

describe('an example', () => {
  it.each<[string, z.ZodType, unknown]>([
    ['its own', z.strictObject({ name: z.string() }).meta({ examples: [{ name: 'Ada' }] }), { name: 'Ada' }],
    [
      'made up',
      z.strictObject({
        id: z.uuid(),
        at: z.iso.datetime(),
        email: z.email(),
        kind: z.enum(['a', 'b']),
        done: z.boolean(),
        count: z.int().min(3),
        limit: z.int().default(20),
        text: z.string().min(6),
        either: z.union([z.string(), z.null()]),
        list: z.array(z.literal('x')),
        pair: z.tuple([z.string(), z.int()]),
      }),
      {
        id: expect.any(String),
        at: '2026-01-31T12:00:00Z',
        email: 'ada@example.com',
        kind: 'a',
        done: true,
        count: 3,
        limit: 20,
        text: 'text..',
        either: 'text',
        list: ['x'],
        pair: ['text', 1],
      },
    ],
    ['none, if the schema refuses what was made up', z.string().regex(/^[A-Z]{3}\d$/), undefined],
    ['of a tree', toTree(), expect.objectContaining({ name: 'text' })],
    ['of a chain', toChain(), expect.objectContaining({ name: 'text' })],
  ])('is %s', (_name, schema, example) => {
    expect(toExample(schema, 'input')).toEqual(example);
  });
});

let listed = 0;

function listOf(schema: z.ZodType) {
  listed += 1;
  const list = operation({
    method: 'GET',
    path: `/list-${listed}`,
    summary: 'List',
    replies: { 200: { about: 'All.', body: z.array(schema) } },
  });
  return implement({ [`list${listed}`]: list }, { [`list${listed}`]: () => ({ status: 200, body: [] }) }).implemented;
}

function toChain(): z.ZodType {
  const Chain = z.strictObject({
    name: z.string(),
    get next() {
      return Chain.optional();
    },
  });
  return Chain;
}

/** Returns a recursive schema without an id. */
function toTree(): z.ZodType {
  const Tree = z.strictObject({
    name: z.string(),
    get children() {
      return z.array(Tree);
    },
  });
  return Tree;
}

it('describes the statuses of idempotent operations, and of versions', () => {
  const reply = { about: 'It.' };
  const operations = {
    retry: operation({ method: 'POST', path: '/retry', summary: 'Retry', idempotent: true, replies: { 204: reply } }),
    lines: operation({
      method: 'GET',
      path: '/lines',
      summary: 'Lines',
      replies: { 200: { ...reply, lines: Person } },
    }),
  };
  const { implemented } = implement(operations, {
    retry: () => ({ status: 204 }),
    lines: { version: () => '1', handle: () => ({ status: 200, lines: (async function* () {})() }) },
  });
  const { paths } = createOpenApi({ ...OPTIONS, operations: implemented });
  expect(Object.keys(paths['/api/retry']?.post?.responses ?? {})).toEqual(['204', '400', '409', '422', 'default']);
  const lines = paths['/api/lines']?.get;
  expect(Object.keys(lines?.responses ?? {})).toEqual(['200', '304', 'default']);
  expect(lines?.responses[200]?.headers).toHaveProperty('ETag');
});

describe('the reference', () => {
  const part: ApiPart = { implemented: all };

  it('has a policy that names its style, and no script', async () => {
    const reply = await request(createTestApp({ api: [part] })).get('/api/docs');
    expect([reply.status, reply.type]).toEqual([200, 'text/html']);
    const [, text = ''] = /<style>([\s\S]*?)<\/style>/.exec(reply.text) ?? [];
    const source = `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    expect(reply.headers['content-security-policy']).toContain(`style-src ${source};`);
    expect(reply.headers['content-security-policy']).toMatch(/^default-src 'none';/);
    for (const name of REQUIRED_HEADERS) expect(reply.headers, name).toHaveProperty(name);
  });

  it('shows what the document says', async () => {
    const { text } = await request(createTestApp({ api: [part] })).get('/api/docs');
    const words = text.replace(/<style>[\s\S]*?<\/style>/, '').replace(/<[^>]+>/g, '');
    for (const shown of [
      'API 1',
      'GET /api/people/{id}/{part}',
      'They are here already.',
      'id path: integerminimum: 1',
      'tags optional list of stringdefault: []',
      'born optional integer A year.',
    ])
      expect(words).toContain(shown);
    expect(text).toContain('<a href="#schema-Person">Person</a>');
  });

  it('escapes what schemas say', async () => {
    const note = operation({
      method: 'GET',
      path: '/note',
      summary: '<script>alert(1)</script>',
      replies: { 200: { about: 'It.', body: z.strictObject({ a: z.literal('</script><u>') }) } },
    });
    const app = createTestApp({
      api: [implement({ note }, { note: () => ({ status: 200, body: { a: '</script><u>' } }) })],
    });
    const { text } = await request(app).get('/api/docs');
    expect(text).not.toMatch(/<script>|<\/script>|<u>/);
  });

  it.each([
    [{ ...FACTS, reference: false as const }, 200, 404],
    [false as const, 404, 404],
    [{ ...FACTS, auth: session(() => undefined) }, 401, 401],
    [{ ...FACTS, auth: session(() => ({ id: 1 })) }, 200, 200],
  ])('can be switched off or protected', async (apiDocument, document, reference) => {
    const app = createTestApp({ api: [part], apiDocument });
    expect((await request(app).get('/api/openapi.json')).status).toBe(document);
    expect((await request(app).get('/api/docs')).status).toBe(reference);
  });

  it('leaves its path to an operation or a handler of the API', async () => {
    const app = createTestApp({ api: [part, (_req, res) => void res.json('mine')] });
    expect((await request(app).get('/api/docs')).body).toBe('mine');
  });
});
