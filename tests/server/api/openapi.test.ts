import { createHash } from 'node:crypto';
import { Validator } from '@seriousme/openapi-schema-validator';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { bearer, session } from '../../../src/server/api/auth.ts';
import { type ApiPart, type Implemented, implement } from '../../../src/server/api/implement.ts';
import { createOpenApi } from '../../../src/server/api/openapi.ts';
import { type OperationFacts, operation } from '../../../src/shared/api/operation.ts';
import { createTestApp } from '../../support/app.ts';
import { REQUIRED_HEADERS } from '../../support/required-headers.ts';

const Person = z
  .strictObject({ id: z.int(), name: z.string(), born: z.int().optional().describe('A year.') })
  .meta({ id: 'Person', description: 'Somebody.' });
const NewPerson = z.strictObject({ name: z.string().trim().min(1).max(40), tags: z.array(z.string()).default([]) });

/** Operations with handlers that are never called. */
const describeAll = (operations: Record<string, OperationFacts>, versioned: readonly string[] = []) =>
  implement(
    operations,
    Object.fromEntries(
      Object.keys(operations).map((name) => {
        const handle = () => expect.unreachable();
        return [name, versioned.includes(name) ? { version: () => '1', handle } : handle];
      }),
    ) as never,
  ).implemented;

const get = (path: `/${string}`, more: Partial<OperationFacts> = {}): OperationFacts => ({
  ...{ method: 'GET', path, summary: `Get ${path}`, replies: { 204: { about: 'It.' } } },
  ...more,
});

const people = describeAll({
  listPeople: get('/people', {
    query: z.strictObject({ limit: z.int().max(10).default(5).describe('The most.') }),
    replies: { 200: { about: 'All of them.', body: z.array(Person) } },
  }),
  addPerson: {
    ...get('/people', { method: 'POST', about: 'By name.', problems: { 409: 'They are here already.' } }),
    headers: z.object({ 'idempotency-key': z.string().optional() }),
    body: NewPerson.meta({ id: 'NewPerson' }),
    replies: { 201: { about: 'The person.', body: Person, headers: { Location: 'Where they are.' } } },
  },
});
const part = describeAll({
  getPart: get('/people/:id/:part', {
    deprecated: { since: '2026-11-01' },
    params: z.strictObject({ id: z.int().min(1), part: z.string() }),
    replies: { 200: { about: 'It.', lines: Person } },
  }),
});
const all = [...people, ...part];
const api: ApiPart = { implemented: all };

const FACTS = { title: 'People', version: '2' };
const toDocument = (operations: readonly Implemented[]) => createOpenApi(FACTS, '/api', operations);

describe('a document', () => {
  it('is valid OpenAPI 3.1 according to a public validator', async () => {
    const auth = bearer(() => undefined);
    const closed = all.map((one) => ({ ...one, auth }));
    const document = createOpenApi({ ...FACTS, about: 'All.' }, '/api', closed);
    const checked = await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>);
    expect(checked).toMatchObject({ valid: true });
  });

  it.each<[string, OperationFacts, statuses: string, versioned?: string[]]>([
    ['a query', get('/x', { query: z.object({}) }), '204 400'],
    ['a body', get('/x', { method: 'POST', body: z.object({}), problems: { 409: 'It.' } }), '204 400 409 413 415 422'],
    ['retries', get('/x', { method: 'POST', idempotent: true }), '204 400 409 422'],
    ['JSON', get('/x', { replies: { 200: { about: 'It.', body: Person } } }), '200 304'],
    ['lines', get('/x', { replies: { 200: { about: 'It.', lines: Person } } }), '200'],
    ['lines with a version', get('/x', { replies: { 200: { about: 'It.', lines: Person } } }), '200 304', ['it']],
    ['parameters', get('/x/:id', { params: z.object({ id: z.string() }) }), '204 404'],
    ['pages', get('/x', { paged: { limit: 1, max: 2 } }), '204 400'],
    ['a limit', get('/x', { limit: '1/s' }), '204 429'],
    ['a version to match', get('/x', { method: 'PUT', ifMatch: true }), '204 412'],
  ])('lists the statuses of an operation with %s', (_name, it, statuses, versioned) => {
    const [path = {}] = Object.values(toDocument(describeAll({ it }, versioned)).paths);
    const [facts] = Object.values(path);
    expect(Object.keys(facts?.responses ?? {})).toEqual([...statuses.split(' '), 'default']);
    if (statuses.startsWith('200 304')) expect(facts?.responses[200]?.headers).toHaveProperty('ETag');
  });

  const list = (name: string, schema: z.ZodType) =>
    describeAll({ [name]: get(`/${name}`, { replies: { 200: { about: 'All.', body: z.array(schema) } } }) });

  it.each([
    [
      [...list('a', Person), ...list('b', z.strictObject({ id: z.string() }).meta({ id: 'Person' }))],
      'Two schemas have the id Person',
    ],
    [list('a', toTree()), 'Give it one: `.meta({ id:'],
  ])('is not created if the id of a schema is missing or used twice', (operations, words) => {
    expect(() => toDocument(operations)).toThrow(words);
  });
});

/** Returns a recursive schema without an id. */
function toTree(): z.ZodType {
  const Tree = z.strictObject({
    get children() {
      return z.array(Tree);
    },
  });
  return Tree;
}

/** The refusal of another server, which is not meant for the caller. */
function failAbroad(): never {
  throw Object.assign(new Error('refused'), { status: 403 });
}

describe('the reference', () => {
  it('has a policy that names its style, and shows what the document says', async () => {
    const { text, headers, type } = await request(createTestApp({ api: [api] }))
      .get('/api/docs')
      .expect(200);
    expect(type).toBe('text/html');
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(text) ?? [];
    const source = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;
    expect(headers['content-security-policy']).toContain(`style-src ${source};`);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none';/);
    for (const name of REQUIRED_HEADERS) expect(headers, name).toHaveProperty(name);
    const words = text.replace(/<[^>]+>/g, '');
    for (const shown of ['GET /api/people/{id}/{part}', 'id path: {&quot;type&quot;:&quot;integer&quot;,', 'A year.'])
      expect(words).toContain(shown);
  });

  it('escapes what schemas say', async () => {
    const body = z.strictObject({ a: z.literal('</script><u>') });
    const note = operation(
      get('/note', { summary: '<script>alert(1)</script>', replies: { 200: { about: 'It.', body } } }),
    );
    const app = createTestApp({ api: [{ implemented: describeAll({ note }) }] });
    const { text } = await request(app).get('/api/docs');
    expect(text).not.toMatch(/<script|<u>/);
  });

  it.each([
    [{ ...FACTS, reference: false as const }, 200, 404],
    [false as const, 404, 404],
    [{ ...FACTS, auth: session(() => undefined) }, 401, 401],
    [{ ...FACTS, auth: session(() => ({ id: 1 })) }, 200, 200],
    [{ ...FACTS, auth: session(failAbroad) }, 500, 500],
  ])('can be switched off or protected', async (apiDocument, document, reference) => {
    const app = createTestApp({ api: [api], apiDocument });
    await request(app).get('/api/openapi.json').expect(document);
    await request(app).get('/api/docs').expect(reference);
  });
});
