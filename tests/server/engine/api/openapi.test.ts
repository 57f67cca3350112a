import { Validator } from '@seriousme/openapi-schema-validator';
import express from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createOpenApi, openApi } from '../../../../src/server/engine/api/openapi.ts';
import { operation } from '../../../../src/server/engine/api/operation.ts';
import { type Resource, resource } from '../../../../src/server/engine/api/resource.ts';
import { createTestApp } from '../../../support/app.ts';

const Person = z
  .strictObject({ id: z.int(), name: z.string(), born: z.int().optional().describe('A year.') })
  .meta({ id: 'Person', description: 'Somebody.' });
const NewPerson = z.strictObject({ name: z.string().trim().min(1).max(40), tags: z.array(z.string()).default([]) });

function peopleResource(id = 'listPeople'): Resource {
  return resource('/people', {
    GET: operation({
      id,
      summary: 'List people',
      query: z.strictObject({ limit: z.coerce.number().int().max(10).default(5).describe('The most.') }),
      replies: { 200: { about: 'All of them.', body: z.array(Person) } },
    }).handle(() => ({ status: 200, body: [] })),
    POST: operation({
      id: 'addPerson',
      summary: 'Add somebody',
      about: 'By name.',
      headers: z.object({ 'idempotency-key': z.string().optional() }),
      body: NewPerson.meta({ id: 'NewPerson' }),
      replies: { 201: { about: 'The person.', body: Person, headers: { Location: 'Where they are.' } } },
      problems: { 409: 'They are here already.' },
    }).handle(({ body }) => ({ status: 201, body: { id: 1, name: body.name }, headers: { Location: '/people/1' } })),
  });
}

const personResource = resource('/people/:id/:part', {
  GET: operation({
    id: 'getPart',
    summary: 'Get a part',
    params: z.strictObject({ id: z.coerce.number().int().min(1), part: z.string() }),
    replies: { 200: { about: 'It.', lines: Person } },
  }).handle(() => ({ status: 200, lines: (async function* () {})() })),
  // Not an operation. It works, but is not documented.
  DELETE: (_req, res) => void res.status(204).end(),
});

const OPTIONS = { title: 'People', version: '2', base: '/api' };

describe('a document', () => {
  it('is valid OpenAPI 3.1 according to a public validator', async () => {
    const document = createOpenApi({
      ...OPTIONS,
      about: 'All of them.',
      resources: [peopleResource(), personResource],
      security: { token: { type: 'http', scheme: 'bearer' }, key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
      problems: () => ({ 401: 'Who is it?' }),
    });
    expect(
      await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>),
    ).toMatchObject({
      valid: true,
    });
  });

  it('describes parameters with the schemas that validate them', () => {
    const { paths } = createOpenApi({ ...OPTIONS, resources: [peopleResource(), personResource] });
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
    expect(paths['/api/people/{id}/{part}']).not.toHaveProperty('delete');
  });

  it('describes bodies, responses and their errors', () => {
    const { paths, components } = createOpenApi({ ...OPTIONS, resources: [peopleResource(), personResource] });
    const { get, post } = paths['/api/people'] ?? {};
    expect(post?.requestBody).toEqual({
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/NewPerson' } } },
    });
    expect(Object.keys(post?.responses ?? {})).toEqual(['201', '400', '409', '413', '415', '422', 'default']);
    expect(Object.keys(get?.responses ?? {})).toEqual(['200', '304', '400', 'default']);
    expect(get?.responses['200']).toMatchObject({
      headers: { ETag: {} },
      content: { 'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Person' } } } },
    });
    expect(paths['/api/people/{id}/{part}']?.get?.responses['200']?.content).toEqual({
      'application/x-ndjson': { schema: { $ref: '#/components/schemas/Person' } },
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
    [[peopleResource(), peopleResource()], 'Two operations have the id listPeople.'],
    [
      [listOf(Person), listOf(z.strictObject({ id: z.string() }).meta({ id: 'Person' }))],
      'Two schemas have the id Person',
    ],
    [[listOf(toTree())], 'Give it one: `.meta({ id:'],
  ])('is not created if a required id is missing or used twice', (resources, words) => {
    expect(() => createOpenApi({ ...OPTIONS, resources })).toThrow(words);
  });

  it('is served, and includes its own path', async () => {
    const api = express.Router().use(openApi('/openapi.json', { ...OPTIONS, resources: [personResource] }));
    const { status, body } = await request(createTestApp({ api })).get('/api/openapi.json');
    expect(status).toBe(200);
    expect(body.info).toEqual({ title: 'People', version: '2' });
    expect(Object.keys(body.paths)).toEqual(['/api/people/{id}/{part}', '/api/openapi.json']);
    expect(body.paths['/api/openapi.json'].get.security).toEqual([]);
  });
});

let listed = 0;

function listOf(schema: z.ZodType): Resource {
  listed += 1;
  return resource(`/list-${listed}`, {
    GET: operation({
      id: `list${listed}`,
      summary: 'List',
      replies: { 200: { about: 'All.', body: z.array(schema) } },
    }).handle(() => ({ status: 200, body: [] })),
  });
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
