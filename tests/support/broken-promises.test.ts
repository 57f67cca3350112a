import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Auth, bearer, session } from '../../src/server/engine/api/auth.ts';
import { createOpenApi, type OpenApi } from '../../src/server/engine/api/openapi.ts';
import type { ApiSchema, OperationFacts } from '../../src/shared/engine/api/operation.ts';
import { listBrokenPromises } from './broken-promises.ts';

type Change = Partial<OperationFacts> & { readonly auth?: Auth };

/** The document of an API with one operation. */
function toDocument({ auth, ...change }: Change = {}): OpenApi {
  const facts: OperationFacts = {
    method: 'GET',
    path: '/todos',
    summary: 'A to-do',
    replies: { 200: { about: 'It.' } },
    ...change,
  };
  const operation = { name: 'todo', facts, auth, version: undefined, handle: () => ({ status: 200 }) };
  return createOpenApi({ title: 'Todos', version: '1', base: '/api', operations: [operation] });
}

const list = (before: Change, after: Change) => listBrokenPromises(toDocument(before), toDocument(after));
/** What callers send: the body of a POST. */
const body = (schema: ApiSchema): Change => ({ method: 'POST', body: schema });
/** What callers get. */
const reply = (schema: ApiSchema): Change => ({ replies: { 200: { about: 'It.', body: schema } } });
const lines = (schema: ApiSchema): Change => ({ replies: { 200: { about: 'It.', lines: schema } } });
const query = (schema: ApiSchema): Change => ({ query: schema });
const params = (schema: ApiSchema, path: `/${string}` = '/todos/:id'): Change => ({ path, params: schema });
const statuses = (...all: number[]): Change => ({
  replies: Object.fromEntries(all.map((status) => [status, { about: 'It.' }])),
});

const text = z.string();
const object = z.object;
const strict = z.strictObject;

/** A tree with an id, whose nodes have these fields too. */
function toTree(fields: z.core.$ZodLooseShape) {
  const Tree: z.ZodType = z.lazy(() => Node);
  const Node = z.strictObject({ ...fields, children: z.array(Tree) }).meta({ id: 'Node' });
  return Node;
}

const lookup = () => undefined;

describe('a change of the operations', () => {
  it.each<[string, Change, Change]>([
    ['GET /api/todos: the operation is gone', {}, { path: '/others' }],
    ['GET /api/todos: the operation is gone', {}, { method: 'PUT' }],
    ['GET /api/todos: it needs authentication now (`bearer`)', {}, { auth: bearer(lookup) }],
    [
      'GET /api/todos: it authenticates in another way now (`session`)',
      { auth: bearer(lookup) },
      { auth: session(lookup) },
    ],
    [
      'GET /api/todos: it authenticates in another way now (`session`)',
      { auth: session(lookup, 'one') },
      { auth: session(lookup, 'two') },
    ],
    ['GET /api/todos: the query parameter `q` is required now', {}, query(object({ q: text }))],
    [
      'GET /api/todos: the query parameter `q` is required now',
      query(object({ q: text.optional() })),
      query(object({ q: text })),
    ],
    ['GET /api/todos: the query parameter `q` is not read any more', query(object({ q: text.optional() })), {}],
    [
      'GET /api/todos: the query parameter `sort` has the default "name" now, not "age"',
      query(object({ sort: text.default('age') })),
      query(object({ sort: text.default('name') })),
    ],
    [
      'GET /api/todos: the query parameter `sort` has no default now, not "age"',
      query(object({ sort: text.default('age') })),
      query(object({ sort: text.optional() })),
    ],
    [
      'GET /api/todos: the query parameter `limit` is limited now by `maximum` 50',
      { paged: { limit: 20, max: 100 } },
      { paged: { limit: 20, max: 50 } },
    ],
    [
      'GET /api/todos: the list is divided into pages now, and callers of the last release read only the first',
      reply(text.array()),
      { ...reply(text.array()), paged: { limit: 20, max: 100 } },
    ],
    [
      'GET /api/todos: the query parameter `tags` no longer accepts an array',
      query(object({ tags: text.array() })),
      query(object({ tags: text })),
    ],
    ['GET /api/todos: the header `X-Tenant` is required now', {}, { headers: object({ 'x-tenant': text }) }],
    [
      'POST /api/todos: the header `Idempotency-Key` is not read any more',
      { method: 'POST', idempotent: true },
      { method: 'POST' },
    ],
    [
      'GET /api/todos/{id}: the path parameter `id` no longer accepts a string',
      params(object({ id: text })),
      params(object({ key: z.int() }), '/todos/:key'),
    ],
    ['POST /api/todos: it needs a body now', { method: 'POST' }, body(object({}))],
    ['POST /api/todos: the body is not read any more', body(object({})), { method: 'POST' }],
    ['GET /api/todos: it can answer 202 now', {}, statuses(200, 202)],
    ['GET /api/todos: it can answer 204 now', {}, statuses(204)],
    ['GET /api/todos: it only answers with errors now', {}, statuses()],
    ['GET /api/todos: the reply 200 has no body any more', reply(text), {}],
    [
      'GET /api/todos: the reply 200 is `application/x-ndjson` now, and was `application/json`',
      reply(text),
      lines(text),
    ],
    [
      'GET /api/todos: `id` in the reply 200 can be a string now',
      lines(object({ id: z.int() })),
      lines(object({ id: text })),
    ],
    [
      'GET /api/todos: the reply 200 has no header `Location` any more',
      { replies: { 200: { about: 'It.', headers: { Location: 'The URL.' } } } },
      {},
    ],
  ])('breaks a promise: %s', (sentence, before, after) => {
    expect(list(before, after)).toEqual([`${sentence}.`]);
  });

  it.each<[string, Change, Change]>([
    ['another name of a parameter', params(object({ id: text })), params(object({ key: text }), '/todos/:key')],
    ['a text instead of a number in a path', params(object({ id: z.int() })), params(object({ id: text }))],
    ['an optional parameter', {}, query(object({ q: text.optional(), sort: z.enum(['a', 'b']).default('a') }))],
    ['an optional header', {}, { headers: object({ 'x-tenant': text.optional() }) }],
    ['another cursor', {}, query(object({ cursor: text.optional() }))],
    ['texts instead of numbers', query(object({ v: z.literal([1, 2]) })), query(object({ v: z.enum(['1', '2']) }))],
    ['a list instead of one value', query(object({ tag: z.int() })), query(object({ tag: text.array() }))],
    ['a larger page', { paged: { limit: 20, max: 50 } }, { paged: { limit: 20, max: 100 } }],
    ['no authentication', { auth: bearer(lookup) }, {}],
    ['fewer statuses', statuses(200, 204), statuses(204)],
    ['a body in a reply that had none', {}, reply(text)],
    ['a 304 and an `ETag`', { replies: { 200: { about: 'It.' } } }, reply(text)],
    ['another error', {}, { problems: { 409: 'It exists.' } }],
    ['no limit', { limit: '60/min' }, {}],
    ['other words', { about: 'Old.', deprecated: { since: '2026-01-01' } }, { about: 'New.', summary: 'Another' }],
  ])('can be %s', (_name, before, after) => {
    expect(list(before, after)).toEqual([]);
  });

  it('can add an operation, and rename what callers do not see', () => {
    const [before, after] = [toDocument(), toDocument(reply(text.meta({ id: 'Other' })))];
    expect(listBrokenPromises({ ...before, paths: {} }, after)).toEqual([]);
    const [one, other] = ['One', 'Other'].map((id) => toDocument(reply(strict({ a: text }).meta({ id }))));
    expect(one && other && listBrokenPromises(one, other)).toEqual([]);
  });

  it('can remove an operation after its sunset', () => {
    const released = toDocument({ deprecated: { since: '2026-01-01', sunset: '2026-06-01' } });
    const { get } = released.paths['/api/todos'] ?? {};
    Object.assign(get ?? {}, { 'x-sunset': '2026-06-01' });
    const current = toDocument({ path: '/others' });
    expect(listBrokenPromises(released, current, Date.parse('2026-05-31'))).toHaveLength(1);
    expect(listBrokenPromises(released, current, Date.parse('2026-06-01'))).toEqual([]);
  });
});

describe('a change of what callers send', () => {
  it.each<[string, ApiSchema, ApiSchema]>([
    ['`due` in the body is required now', strict({}), strict({ due: text })],
    ['`due` in the body is required now', strict({ due: text.optional() }), strict({ due: text })],
    ['`due` in the body is refused now', strict({ due: text.optional() }), strict({})],
    ['`due` in the body is ignored now', object({ due: text.optional() }), object({})],
    ['the body refuses unknown fields now', object({}), strict({})],
    ['the body no longer accepts a string', text, z.int()],
    ['the body no longer accepts null', text.nullable(), text],
    ['the body no longer accepts a fraction', z.number(), z.int()],
    ['the body no longer accepts a string', z.enum(['a', 'b']), z.int()],
    ['the body no longer accepts false', z.boolean(), z.literal(true)],
    [
      '`a[].b` in the body is required now',
      strict({ a: strict({}).array() }),
      strict({ a: strict({ b: text }).array() }),
    ],
    ['the body no longer accepts "b"', z.enum(['a', 'b']), z.literal('a')],
    ['the body accepts only "a" now', text, z.enum(['a'])],
    ['the body is limited now by `maxLength` 5', text, text.max(5)],
    ['the body is limited now by `minLength` 5', text.min(4), text.min(5)],
    ['the body is limited now by `minLength` 3', z.enum(['abc', 'ab']), text.min(3)],
    ['the body is limited now by `pattern` "^a$"', z.enum(['a', 'b']), text.regex(/^a$/)],
    ['the body is limited now by `pattern` "^b$"', text.regex(/^a$/), text.regex(/^b$/)],
    ['the body is limited now by `format` "uri"', text, z.url()],
    ['the body is limited now by `minimum` 2', z.int().min(1), z.int().min(2)],
    ['the body is limited now by `exclusiveMinimum` 1', z.number().min(1), z.number().gt(1)],
    ['the body is limited now by `exclusiveMaximum` 5', z.int().max(5), z.int().lt(5)],
    ['the body is limited now by `multipleOf` 4', z.number().multipleOf(2), z.number().multipleOf(4)],
    ['the body is limited now by `minItems` 1', text.array(), text.array().min(1)],
    ['the body is limited now by `maxItems` 2', text.array().max(3), text.array().max(2)],
    [
      '`[].a.b` in the body no longer accepts a string',
      z.array(strict({ a: strict({ b: text }) })),
      z.array(strict({ a: strict({ b: z.int() }) })),
    ],
    ['`[1]` in the body no longer accepts a string', z.tuple([text, text]), z.tuple([text, z.int()])],
    ['`*` in the body no longer accepts a string', z.record(text, text), z.record(text, z.int())],
    [
      'the body accepts fewer names of fields now',
      z.partialRecord(z.enum(['a', 'b']), text),
      z.partialRecord(z.enum(['a']), text),
    ],
    ['`a` in the body is refused now', strict({ a: text.optional() }), strict({ a: z.never().optional() })],
    [
      '`a` in the body has the default 2 now, not 1',
      strict({ a: z.int().default(1) }),
      strict({ a: z.int().default(2) }),
    ],
    [
      '`size` in the body is required now',
      z.discriminatedUnion('kind', [strict({ kind: z.literal('a') }), strict({ kind: z.literal('b') })]),
      z.discriminatedUnion('kind', [strict({ kind: z.literal('a') }), strict({ kind: z.literal('b'), size: z.int() })]),
    ],
    ['`due` in the body is required now', toTree({ due: text.optional() }), toTree({ due: text })],
  ])('breaks a promise: %s', (sentence, before, after) => {
    expect(list(body(before), body(after))).toEqual([`POST /api/todos: ${sentence}.`]);
  });

  it.each<[string, ApiSchema, ApiSchema]>([
    ['an optional field', strict({}), strict({ due: text.optional() })],
    ['a field with a type in an open object', object({}), object({ due: z.int().optional() })],
    ['a field that can be missing', strict({ due: text }), strict({ due: text.default('') })],
    ['unknown fields', strict({ a: text }), object({ a: text })],
    ['null', text.min(3), text.min(3).nullable()],
    ['null in another notation', z.int().nullable(), z.union([z.null(), z.number()])],
    ['fractions', z.int(), z.number()],
    ['more values', z.enum(['a', 'b']), z.enum(['a', 'b', 'c'])],
    ['any text', z.enum(['a', 'b']), text.min(1).max(1)],
    ['the same values', z.enum(['a', 'b']), z.union([z.literal('b'), z.literal('a')])],
    ['a pattern that the values have', z.literal('abc'), text.regex(/^[a-z]+$/)],
    ['longer texts', text.min(3).max(5), text.max(6)],
    ['numbers from 1, in another notation', z.int().positive(), z.int().min(1)],
    ['numbers from 0, in another notation', z.int().min(1), z.int().positive()],
    ['parts of a whole', z.int(), z.number().multipleOf(0.5)],
    ['numbers between the values', z.literal([1, 2]), z.int().min(1).max(2)],
    ['a whole number, in another notation', z.intersection(z.number(), z.int()), z.int()],
    ['null as a value', z.null(), z.literal([null, 'a'])],
    ['a tuple', text.array().length(1), z.tuple([text])],
    ['known names', strict({ a: text }), z.partialRecord(z.enum(['a', 'b']), text)],
    ['a smaller step', z.int().multipleOf(6), z.int().multipleOf(3)],
    ['longer lists', text.array().min(1), z.union([text, z.int()]).array()],
    ['a longer tuple', z.tuple([text]), z.tuple([text, text.optional()])],
    ['a list', z.tuple([text, text]), text.array().max(2)],
    ['any fields', strict({ a: text, b: text.optional() }), z.record(text, text)],
    ['more names', z.partialRecord(z.enum(['a']), text), z.partialRecord(z.enum(['a', 'b']), text)],
    [
      'another kind',
      strict({ kind: z.literal('a') }),
      z.discriminatedUnion('kind', [strict({ kind: z.literal('b') }), strict({ kind: z.literal('a') })]),
    ],
    ['anything', strict({ a: text }), z.unknown()],
    ['an email with the same patterns', z.email().regex(/x$/), z.email().regex(/x$/)],
    [
      'the fields of both',
      z.intersection(object({ a: text }).meta({ id: 'A' }), object({ b: text }).meta({ id: 'B' })),
      object({ a: text, b: text }),
    ],
    [
      'the fields of an intersection',
      object({ a: text, b: text }),
      z.intersection(object({ a: text }).meta({ id: 'A' }), object({ b: text }).meta({ id: 'B' })),
    ],
    ['a tree', toTree({ due: text }), toTree({ due: text.optional() })],
  ])('can accept %s', (_name, before, after) => {
    expect(list(body(before), body(after))).toEqual([]);
  });
});

it('lists each field that breaks a promise', () => {
  const [before, after] = [text, z.int()].map((type) => body(strict({ a: type, b: type }).nullable()));
  expect(before && after && list(before, after)).toEqual([
    'POST /api/todos: `a` in the body no longer accepts a string.',
    'POST /api/todos: `b` in the body no longer accepts a string.',
  ]);
});

describe('a change of what callers get', () => {
  it.each<[string, ApiSchema, ApiSchema]>([
    ['the reply 200 has no `title` any more', object({ title: text }), object({})],
    ['`title` in the reply 200 can be missing now', object({ title: text }), object({ title: text.optional() })],
    ['`title` in the reply 200 can be null now', object({ title: text }), object({ title: text.nullable() })],
    [
      '`author` in the reply 200 has no `name` any more',
      object({ author: object({ name: text }) }),
      object({ author: object({}) }),
    ],
    ['the reply 200 can be a fraction now', z.int(), z.number()],
    ['the reply 200 can be "c" now', z.enum(['a', 'b']), z.enum(['a', 'b', 'c'])],
    ['the reply 200 can be other values than "a" now', z.literal('a'), text],
    ['the reply 200 can be anything now', text, z.unknown()],
    ['the reply 200 can be an array now', text, z.union([text, text.array()])],
    ['the reply 200 is no longer limited by `maximum` 10', z.int().max(10), z.int()],
    ['the reply 200 is no longer limited by `format` "uri"', z.url(), text],
    ['`[].id` in the reply 200 can be a string now', object({ id: z.int() }).array(), object({ id: text }).array()],
    ['`due` in the reply 200 can be missing now', toTree({ due: text }), toTree({ due: text.optional() })],
    [
      '`a` in the reply 200 can be an integer now',
      object({ a: text.optional() }),
      z.looseObject({ a: z.int().optional() }),
    ],
    [
      'the reply 200 can have other names of fields now',
      z.partialRecord(z.enum(['a']), text),
      z.partialRecord(z.enum(['a', 'b']), text),
    ],
  ])('breaks a promise: %s', (sentence, before, after) => {
    expect(list(reply(before), reply(after))).toEqual([`GET /api/todos: ${sentence}.`]);
  });

  it.each<[string, ApiSchema, ApiSchema]>([
    ['a new field', object({ title: text }), object({ title: text, due: text })],
    ['a new field in an item', strict({ a: text }).array(), strict({ a: text, b: text }).array()],
    ['unknown fields', strict({ a: text }), z.looseObject({ a: text })],
    ['a field that was optional', object({ title: text.optional() }), object({ title: text })],
    ['one value less', z.enum(['a', 'b']), z.enum(['a'])],
    ['no null', text.nullable(), text],
    ['another default', object({ a: text.default('x') }), object({ a: text.default('y') })],
    ['a smaller list', text.array().max(9), text.array().max(5)],
    ['a tree', toTree({ due: text.optional() }), toTree({ due: text })],
  ])('can be %s', (_name, before, after) => {
    expect(list(reply(before), reply(after))).toEqual([]);
  });
});
