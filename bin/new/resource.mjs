import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addImports, addUse } from './insert.mjs';
import { parseResource, Refusal, toCamel, toPascal, toSingular, toTypeName } from './names.mjs';

const apiFile = 'src/server/product/api/index.ts';
const sendInvalidFile = 'src/server/product/api/send-invalid.ts';

/**
 * Plans a new resource: router, schema, public fields, a store in memory, a test, and the line that mounts it.
 *
 * @param {string} root
 * @param {{ resource: string }} wanted
 * @returns {import('./new.mjs').Plan}
 */
export function planResource(root, wanted) {
  const names = toNames(parseResource(wanted.resource));
  const folder = `src/server/product/api/${names.resource}`;
  if (existsSync(join(root, folder))) throw new Refusal(`The resource ${names.resource} already exists, in ${folder}.`);
  if (!existsSync(join(root, sendInvalidFile)))
    throw new Refusal(`Resources send 422 responses with ${sendInvalidFile}, which does not exist. Restore it first.`);
  const index = readFileSync(join(root, apiFile), 'utf8');
  const router = `${names.router}(create${names.pascal}Store())`;
  const imports = [
    `import { ${names.router} } from './${names.resource}/router.ts';`,
    `import { create${names.pascal}Store } from './${names.resource}/store.ts';`,
  ];
  const mounted = addUse(index, router);
  return {
    files: [
      { path: `${folder}/router.ts`, about: 'list, create, read one', text: writeRouter(names) },
      { path: `${folder}/schema.ts`, about: 'the fields that clients can send', text: writeSchema(names) },
      { path: `${folder}/present.ts`, about: 'the fields that clients see', text: writePresent(names) },
      {
        path: `${folder}/store.ts`,
        about: 'the store, in memory until you change it',
        text: writeStore(names),
      },
      { path: `tests/server/product/api/${names.resource}/router.test.ts`, about: 'its test', text: writeTest(names) },
    ],
    edits: [
      {
        path: apiFile,
        text: mounted && addImports(mounted, imports),
        byHand: `${imports.join(' ')} and .use(${router}) on the router of the API`,
      },
    ],
    next: `\`npm run dev\` serves it at /api/${names.resource}. Add more fields in schema.ts and store.ts.`,
  };
}

function toNames(resource) {
  const one = toSingular(resource);
  return {
    resource,
    router: `${toCamel(resource)}Router`,
    pascal: toPascal(one),
    type: toTypeName(one, 'Item'),
    words: one.replaceAll('-', ' '),
    limit: `MAX_${resource.replaceAll('-', '_').toUpperCase()}`,
  };
}

function writeRouter({ resource, router, pascal }) {
  return `import { Router } from 'express';
import { jsonBody, notFoundHere, resource } from '#engine/server';
import { sendInvalid } from '../send-invalid.ts';
import { present${pascal} } from './present.ts';
import { New${pascal} } from './schema.ts';
import type { ${pascal}Store } from './store.ts';

export function ${router}(store: ${pascal}Store): Router {
  const list = resource('/${resource}', {
    GET: (_request, response) => {
      response.json(store.list().map(present${pascal}));
    },
    POST: [
      ...jsonBody(),
      (request, response) => {
        const body = New${pascal}.safeParse(request.body);
        if (!body.success) return sendInvalid(response, body.error);
        const added = store.add(body.data);
        response.status(201).location(\`\${request.baseUrl}/${resource}/\${added.id}\`).json(present${pascal}(added));
      },
    ],
  });

  const one = resource('/${resource}/:id', {
    GET: ({ params }, response) => {
      const found = store.find(String(params.id));
      if (!found) throw notFoundHere();
      response.json(present${pascal}(found));
    },
  });

  return Router().use(list, one);
}
`;
}

function writeSchema({ pascal }) {
  return `import * as z from 'zod';

export const New${pascal} = z.strictObject({
  name: z.string().trim().min(1, 'Enter a name.').max(200, 'Use at most 200 characters.'),
});
`;
}

function writePresent({ pascal, type }) {
  return `import type { ${type} } from './store.ts';

export function present${pascal}({ id, name, createdAt }: ${type}) {
  return { id, name, createdAt: createdAt.toISOString() };
}
`;
}

function writeStore({ pascal, type, limit }) {
  return `import type * as z from 'zod';
import type { New${pascal} } from './schema.ts';

/** Limits the memory that clients can fill. The oldest item is removed first. */
const ${limit} = 1000;

export interface ${type} {
  id: number;
  name: string;
  createdAt: Date;
}

export interface ${pascal}Store {
  list(): ${type}[];
  find(id: string): ${type} | undefined;
  add(added: z.infer<typeof New${pascal}>): ${type};
}

/** Stores items in memory. They are lost on restart, and each replica has its own. */
export function create${pascal}Store(): ${pascal}Store {
  const kept = new Map<string, ${type}>();
  let lastId = 0;

  return {
    list: () => [...kept.values()],
    find: (id) => kept.get(id),
    add({ name }) {
      const [oldest] = kept.keys();
      if (kept.size === ${limit} && oldest !== undefined) kept.delete(oldest);
      lastId += 1;
      const added = { id: lastId, name, createdAt: new Date() };
      kept.set(String(lastId), added);
      return added;
    },
  };
}
`;
}

function writeTest({ resource, router, pascal, words }) {
  return `import request from 'supertest';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTestApp } from '#engine/testing';
import { ${router} } from '#product-server/api/${resource}/router.ts';
import { create${pascal}Store } from '#product-server/api/${resource}/store.ts';

const PROBLEM = /^application\\/problem\\+json/;

/** A valid body. If you add a field in schema.ts, add it here too. */
const SENT = { name: 'The first' };

let app: ReturnType<typeof createTestApp>;
beforeEach(() => {
  app = createTestApp({ api: ${router}(create${pascal}Store()) });
});

describe('/api/${resource}', () => {
  it('creates, lists and reads', async () => {
    const created = await request(app).post('/api/${resource}').send(SENT);
    expect(created.status, \`schema.ts refuses SENT: \${created.text}\`).toBe(201);
    expect(created.body, 'present.ts does not return what was sent').toMatchObject(SENT);
    const one = await request(app).get(created.headers.location ?? '').expect(200);
    expect(one.body).toEqual(created.body);
    expect((await request(app).get('/api/${resource}').expect(200)).body).toEqual([created.body]);
  });

  it.each(Object.keys(SENT))('answers 422 and names the field if %s is missing', async (field) => {
    const body = { ...SENT, [field]: undefined };
    const answer = await request(app).post('/api/${resource}').send(body);
    expect(answer.status, \`schema.ts does not require "\${field}": remove it from SENT\`).toBe(422);
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
