import { findObject, findReturned, planEdit } from './insert.mjs';
import { parseResource, toCamel, toConstName, toPascal, toSingular, toTypeName } from './names.mjs';

const operationsFile = 'src/shared/product/api/index.ts';
const handlersFile = 'src/server/product/api/index.ts';

/** Names that the written files use themselves. */
const USED = ['api', 'implement', 'operation', 'store', 'z'];

/**
 * Plans a new resource: operations, their handlers, a store in memory, a test, and the lines that connect them.
 *
 * @param {string} root
 * @param {string} wanted its name
 * @returns {import('./new.mjs').Plan}
 */
export function planResource(root, wanted) {
  const names = toNames(parseResource(wanted));
  const { resource, pascal, operations, handlers } = names;
  const folder = `src/server/product/api/${resource}`;
  const shared = `src/shared/product/api/${resource}.ts`;
  const created = `${handlers}(create${pascal}Store())`;
  return {
    files: {
      [shared]: writeOperations(names),
      [`${folder}/handlers.ts`]: writeHandlers(names),
      [`${folder}/store.ts`]: writeStore(names),
      [`tests/server/product/api/${resource}/handlers.test.ts`]: writeTest(names),
    },
    edits: [
      planEdit(root, {
        path: operationsFile,
        imports: [`import { ${operations} } from './${resource}.ts';`],
        item: `...${operations}`,
        place: 'the object `api`',
        find: (program) => findObject(program, 'api'),
      }),
      planEdit(root, {
        path: handlersFile,
        imports: [
          `import { ${handlers} } from './${resource}/handlers.ts';`,
          `import { create${pascal}Store } from './${resource}/store.ts';`,
        ],
        item: created,
        place: 'the list that `createApi` returns',
        find: (program) => findReturned(program, 'createApi'),
      }),
    ],
    next: `\`npm run dev\` serves it at /api/${resource}, and describes it at /api/docs. Everybody can call it, until it has an \`auth\` (docs/recipes/openapi.md). Add more fields in ${shared} and store.ts.`,
  };
}

function toNames(resource) {
  const one = toSingular(resource);
  const name = toCamel(resource);
  return {
    resource,
    operations: toConstName(resource, USED, 'Operations'),
    handlers: `${name}Api`,
    plural: toPascal(resource),
    pascal: toPascal(one),
    type: toTypeName(one, 'Item'),
    words: one.replaceAll('-', ' '),
    aWord: `${/^[aeio]/.test(one) ? 'an' : 'a'} ${one.replaceAll('-', ' ')}`,
    manyWords: resource.replaceAll('-', ' '),
    limit: `MAX_${resource.replaceAll('-', '_').toUpperCase()}`,
  };
}

function writeOperations({ resource, operations, plural, pascal, type, words, aWord, manyWords }) {
  return `import * as z from 'zod';
import { operation } from '#engine';

/** What callers send. Unknown fields are refused. */
export type New${pascal} = z.infer<typeof New${pascal}>;
export const New${pascal} = z
  .strictObject({
    name: z.string().trim().min(1, 'Enter a name.').max(200, 'Use at most 200 characters.'),
  })
  .meta({ id: 'New${pascal}' });

/** What callers get. Only these fields are sent. */
export type ${type} = z.infer<typeof ${type}>;
export const ${type} = z
  .object({
    id: z.int(),
    name: z.string(),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: '${type}' });

export const ${operations} = {
  list${plural}: operation({
    method: 'GET',
    path: '/${resource}',
    summary: 'List ${manyWords}',
    replies: { 200: { about: 'The ${manyWords}, oldest first.', body: ${type}.array() } },
  }),
  create${pascal}: operation({
    method: 'POST',
    path: '/${resource}',
    summary: 'Create ${aWord}',
    body: New${pascal},
    replies: { 201: { about: 'The new ${words}.', body: ${type}, headers: { Location: 'Its URL.' } } },
  }),
  get${pascal}: operation({
    method: 'GET',
    path: '/${resource}/:id',
    summary: 'Get ${aWord}',
    params: ${type}.pick({ id: true }),
    replies: { 200: { about: 'The ${words}.', body: ${type} } },
    problems: { 404: 'There is no ${words} with this id.' },
  }),
};
`;
}

function writeHandlers({ resource, operations, handlers, plural, pascal }) {
  return `import { type ApiPart, implement, notFoundHere } from '#engine/server';
import { ${operations} } from '#product/api/${resource}.ts';
import type { ${pascal}Store } from './store.ts';

export function ${handlers}(store: ${pascal}Store): ApiPart {
  return implement(${operations}, {
    list${plural}: () => ({ status: 200, body: store.list() }),
    create${pascal}({ body }) {
      const added = store.add(body);
      return { status: 201, body: added, headers: { Location: \`/api/${resource}/\${added.id}\` } };
    },
    get${pascal}({ params }) {
      const found = store.find(params.id);
      if (!found) throw notFoundHere();
      return { status: 200, body: found };
    },
  });
}
`;
}

function writeStore({ resource, pascal, type, limit }) {
  return `import type { ${[type, `New${pascal}`].sort().join(', ')} } from '#product/api/${resource}.ts';

/** Limits the memory that clients can fill. The oldest item is removed first. */
const ${limit} = 1000;

export interface ${pascal}Store {
  list(): ${type}[];
  find(id: ${type}['id']): ${type} | undefined;
  add(added: New${pascal}): ${type};
}

/** Stores items in memory. They are lost on restart, and each replica has its own. */
export function create${pascal}Store(): ${pascal}Store {
  const kept: ${type}[] = [];
  let lastId = 0;

  return {
    list: () => kept,
    find: (id) => kept.find((item) => item.id === id),
    add({ name }) {
      lastId += 1;
      const added = { id: lastId, name, createdAt: new Date().toISOString() };
      kept.push(added);
      if (kept.length > ${limit}) kept.shift();
      return added;
    },
  };
}
`;
}

function writeTest({ resource, handlers, pascal, words }) {
  return `import request from 'supertest';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTestApp } from '#engine/testing';
import { ${handlers} } from '#product-server/api/${resource}/handlers.ts';
import { create${pascal}Store } from '#product-server/api/${resource}/store.ts';

const PROBLEM = /^application\\/problem\\+json/;

/** A valid body. If you add a field to New${pascal}, add it here too. */
const SENT = { name: 'The first' };

let app: ReturnType<typeof createTestApp>;
beforeEach(() => {
  app = createTestApp({ api: [${handlers}(create${pascal}Store())] });
});

describe('/api/${resource}', () => {
  it('creates, lists and reads', async () => {
    const created = await request(app).post('/api/${resource}').send(SENT);
    expect(created.status, \`New${pascal} refuses SENT: \${created.text}\`).toBe(201);
    expect(created.body, 'The response does not contain what was sent').toMatchObject(SENT);
    const one = await request(app).get(created.headers.location ?? '').expect(200);
    expect(one.body).toEqual(created.body);
    expect((await request(app).get('/api/${resource}').expect(200)).body).toEqual([created.body]);
  });

  it.each(Object.keys(SENT))('answers 422 and names the field if %s is missing', async (field) => {
    const body = { ...SENT, [field]: undefined };
    const answer = await request(app).post('/api/${resource}').send(body);
    expect(answer.status, \`New${pascal} does not require "\${field}": remove it from SENT\`).toBe(422);
    expect(answer.headers['content-type']).toMatch(PROBLEM);
    expect(Object.keys(answer.body.errors)).toEqual([field]);
  });

  it('answers 422 for an unknown field', async () => {
    await request(app)
      .post('/api/${resource}')
      .send({ ...SENT, unheardOf: true })
      .expect(422)
      .expect('Content-Type', PROBLEM);
  });

  it('answers 405 and lists the allowed methods for any other method', async () => {
    const answer = await request(app).patch('/api/${resource}').expect(405).expect('Content-Type', PROBLEM);
    expect(answer.headers.allow).toMatch(/^GET, HEAD, POST\\b/);
  });

  it('answers 404 for an unknown ${words}', async () => {
    await request(app).get('/api/${resource}/nobody').expect(404).expect('Content-Type', PROBLEM);
  });
});
`;
}
