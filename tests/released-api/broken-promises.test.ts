import { expect, it } from 'vitest';
import * as z from 'zod';
import { type Auth, bearer, session } from '../../src/server/api/auth.ts';
import { createOpenApi, type OpenApi } from '../../src/server/api/openapi.ts';
import type { ApiSchema, OperationFacts } from '../../src/shared/api/operation.ts';
import { listBrokenPromises } from './broken-promises.ts';

type Change = Partial<OperationFacts> & { readonly auth?: Auth };

/** The document of an API with one operation. */
function toDocument({ auth, ...change }: Change = {}): OpenApi {
  const about: OperationFacts = {
    method: 'GET',
    path: '/todos',
    summary: 'A to-do',
    replies: { 200: { about: 'It.' } },
  };
  const operation = {
    name: 'todo',
    facts: { ...about, ...change },
    auth,
    version: undefined,
    handle: () => ({ status: 200 }),
  };
  return createOpenApi({ title: 'Todos', version: '1', base: '/api', operations: [operation] });
}

/** The sentences, without the method and the path that they begin with. */
const list = (before: Change, after: Change) =>
  listBrokenPromises(toDocument(before), toDocument(after)).map((says) => says.replace(/^.*?: (.*)\.$/, '$1'));

const body = (schema: ApiSchema): Change => ({ method: 'POST', body: schema });
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
const paged = (max: number): Change => ({ paged: { limit: 20, max } });

/** A tree with an id, whose nodes have these fields too. */
function toTree(fields: z.core.$ZodLooseShape) {
  const Tree: z.ZodType = z.lazy(() => Node);
  const Node = strict({ ...fields, children: z.array(Tree) }).meta({ id: 'Node' });
  return Node;
}

const lookup = () => undefined;
const kinds = (fields: z.core.$ZodLooseShape) =>
  z.discriminatedUnion('kind', [strict({ kind: z.literal('a') }), strict({ kind: z.literal('b'), ...fields })]);

it.each<[string, Change, Change]>([
  ['the operation is gone', {}, { path: '/others' }],
  ['it needs authentication now (`bearer`)', {}, { auth: bearer(lookup) }],
  ['it authenticates in another way now (`session`)', { auth: bearer(lookup) }, { auth: session(lookup) }],
  ['the query parameter `q` is required now', query(object({ q: text.optional() })), query(object({ q: text }))],
  ['the query parameter `q` is not read any more', query(object({ q: text.optional() })), {}],
  [
    'the query parameter `sort` has the default "name" now, not "age"',
    query(object({ sort: text.default('age') })),
    query(object({ sort: text.default('name') })),
  ],
  ['the query parameter `limit` is limited now by `maximum` 50', paged(100), paged(50)],
  [
    'the list is divided into pages now, and callers of the last release read only the first',
    reply(text.array()),
    { ...reply(text.array()), ...paged(100) },
  ],
  ['the header `X-Tenant` is required now', {}, { headers: object({ 'x-tenant': text }) }],
  ['the header `Idempotency-Key` is not read any more', { method: 'POST', idempotent: true }, { method: 'POST' }],
  ['it needs a body now', { method: 'POST' }, body(object({}))],
  ['the body is not read any more', body(object({})), { method: 'POST' }],
  ['it can answer 202 now', {}, statuses(200, 202)],
  ['it only answers with errors now', {}, statuses()],
  ['the reply 200 is `application/x-ndjson` now, and was `application/json`', reply(text), lines(text)],
  [
    'the reply 200 has no header `Location` any more',
    { replies: { 200: { about: 'It.', headers: { Location: 'The URL.' } } } },
    {},
  ],
  ['`due` in the body is required now', body(strict({})), body(strict({ due: text }))],
  ['`due` in the body is refused now', body(strict({ due: text.optional() })), body(strict({}))],
  ['`due` in the body is ignored now', body(object({ due: text.optional() })), body(object({}))],
  ['the body refuses unknown fields now', body(object({})), body(strict({}))],
  ['the body no longer accepts null', body(text.nullable()), body(text)],
  ['the body no longer accepts false', body(z.boolean()), body(z.literal(true))],
  ['the body no longer accepts "b"', body(z.enum(['a', 'b'])), body(z.literal('a'))],
  ['the body accepts only "a" now', body(text), body(z.enum(['a']))],
  ['the body is limited now by `minLength` 5', body(text.min(4)), body(text.min(5))],
  ['the body is limited now by `multipleOf` 4', body(z.number().multipleOf(2)), body(z.number().multipleOf(4))],
  ['`[1]` in the body no longer accepts a string', body(z.tuple([text, text])), body(z.tuple([text, z.int()]))],
  ['`size` in the body is required now', body(kinds({})), body(kinds({ size: z.int() }))],
  ['`due` in the body is required now', body(toTree({ due: text.optional() })), body(toTree({ due: text }))],
  ['the reply 200 has no `title` any more', reply(object({ title: text })), reply(object({}))],
  [
    '`title` in the reply 200 can be missing now',
    reply(object({ title: text })),
    reply(object({ title: text.optional() })),
  ],
  ['the reply 200 can be "c" now', reply(z.enum(['a', 'b'])), reply(z.enum(['a', 'b', 'c']))],
  ['the reply 200 can be other values than "a" now', reply(z.literal('a')), reply(text)],
  ['the reply 200 can be anything now', reply(text), reply(z.unknown())],
])('breaks a promise: %s', (sentence, before, after) => {
  expect(list(before, after)).toEqual([sentence]);
});

it.each<[string, Change, Change]>([
  ['another name of a parameter', params(object({ id: text })), params(object({ key: text }), '/todos/:key')],
  ['an optional parameter', {}, query(object({ q: text.optional(), sort: z.enum(['a', 'b']).default('a') }))],
  ['a list instead of one value', query(object({ tag: text })), query(object({ tag: text.array() }))],
  ['a larger page', paged(50), paged(100)],
  ['fewer statuses', statuses(200, 204), statuses(204)],
  ['a body, a 304 and an `ETag` in a reply', {}, reply(text)],
  ['other words', { about: 'Old.', deprecated: { since: '2026-01-01' } }, { about: 'New.', summary: 'Another' }],
  ['an optional field in the body', body(strict({})), body(strict({ due: text.optional() }))],
  ['a field with a type in an open object', body(object({})), body(object({ due: z.int().optional() }))],
  ['a body with unknown fields', body(strict({ a: text })), body(object({ a: text }))],
  ['a body that can be null', body(text.min(3)), body(text.min(3).nullable())],
  ['another kind in the body', body(strict({ kind: z.literal('a') })), body(kinds({}))],
  [
    'an intersection with the same fields',
    body(object({ a: text, b: text })),
    body(z.intersection(object({ a: text }), object({ b: text }))),
  ],
  ['a tree with fewer required fields', body(toTree({ due: text })), body(toTree({ due: text.optional() }))],
  ['a new field in the reply', reply(strict({ a: text }).array()), reply(strict({ a: text, b: text }).array())],
  ['a reply without one of its values', reply(z.enum(['a', 'b']).nullable()), reply(z.enum(['a']))],
  [
    'another id of a schema',
    reply(strict({ a: text }).meta({ id: 'One' })),
    reply(strict({ a: text }).meta({ id: 'Two' })),
  ],
])('can have %s', (_name, before, after) => {
  expect(list(before, after)).toEqual([]);
});

it('can add an operation, and remove one after its sunset', () => {
  const document = toDocument();
  expect(listBrokenPromises({ ...document, paths: {} }, document)).toEqual([]);
  const released = toDocument({ deprecated: { since: '2026-01-01', sunset: '2026-06-01' } });
  const current = toDocument({ path: '/others' });
  expect(listBrokenPromises(released, current, Date.parse('2026-05-31'))).toHaveLength(1);
  expect(listBrokenPromises(released, current, Date.parse('2026-06-01'))).toEqual([]);
});
