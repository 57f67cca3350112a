import { toTitle } from './fields.mjs';

const toLiteral = (value) => (typeof value === 'string' ? `'${value}'` : String(value));

function writeObject(fields, toValue) {
  const values = fields.map((field) => [field.name, toValue(field)]).filter(([, value]) => value !== undefined);
  return `{ ${values.map(([name, value]) => `${name}: ${toLiteral(value)}`).join(', ')} }`;
}

/** Forms send texts, and nothing for a box that is not checked. */
function toFormValue(value) {
  if (typeof value === 'boolean') return value ? 'on' : undefined;
  return String(value);
}

export function writePagesTest({ one, many, camel, Pascal, aOne, fields }) {
  const { one: Type } = Pascal;
  const { name: title } = toTitle(fields);
  const required = fields.filter(({ type }) => type !== 'boolean').map(({ name }) => `'${name}'`);
  return `import { expect, it } from 'vitest';
import { add${Type}, find${Type}, list${Pascal.many}, MOST } from '#product-server/${many}.ts';
import { edit${Type} } from '#product-server/pages/edit-${one}.ts';
import { new${Type} } from '#product-server/pages/new-${one}.ts';
import { ${camel.one} } from '#product-server/pages/${one}.ts';
import { actionArgs } from '../../../support/product/page-args.ts';
import { addUser, useDatabase } from '../../../support/product/test-database.ts';
import { visitPage } from '../../../support/product/visit-page.ts';
import { createVisitor } from '../../../support/product/visitor.ts';

const database = useDatabase();

const FIELDS = ${writeObject(fields, ({ sample }) => sample)};
/** The same as a form sends them, and others. */
const FORM = ${writeObject(fields, ({ sample }) => toFormValue(sample))};
const CHANGED = ${writeObject(fields, ({ other }) => other)};
const CHANGED_FORM = ${writeObject(fields, ({ other }) => toFormValue(other))};

async function addStored() {
  const { db } = database;
  const user = await addUser(db);
  const stored = await add${Type}(db, user, FIELDS);
  return { db, user, stored, context: createVisitor(db, user).context, params: { id: stored.id } };
}

it('adds, lists and shows ${aOne}', async () => {
  const { db } = database;
  const user = await addUser(db);
  const { context } = createVisitor(db, user);
  expect((await visitPage('/${many}/new', { context })).status).toBe(200);
  const adding = new${Type}.actions.add(actionArgs(FORM, { context }));
  await expect(adding).rejects.toMatchObject({ kind: 'redirect', location: expect.stringMatching(/^\\/${many}\\/./) });
  const [added] = await list${Pascal.many}(db, user);
  expect(added).toMatchObject(FIELDS);
  expect((await visitPage('/${many}', { context })).html).toContain(FIELDS.${title});
  expect((await visitPage(\`/${many}/\${added?.id}\`, { context })).html).toContain(\`<h1>\${FIELDS.${title}}</h1>\`);
});

it('shows a message for each missing field', async () => {
  const { context } = await addStored();
  const result = await new${Type}.actions.add(actionArgs({}, { context }));
  expect(result).toMatchObject({ status: 422 });
  expect(Object.keys(result?.errors ?? {})).toEqual([${required.join(', ')}]);
});

it('changes ${aOne}', async () => {
  const { db, user, stored, context, params } = await addStored();
  expect((await visitPage(\`/${many}/\${stored.id}/edit\`, { context })).html).toContain(FIELDS.${title});
  const saving = edit${Type}.actions.save(actionArgs(CHANGED_FORM, { context, params }));
  await expect(saving).rejects.toMatchObject({ kind: 'redirect', location: \`/${many}/\${stored.id}\` });
  expect(await find${Type}(db, user, stored.id)).toEqual({ ...stored, ...CHANGED });
});

it('deletes ${aOne}', async () => {
  const { db, user, context, params } = await addStored();
  const removing = ${camel.one}.actions.remove(actionArgs({}, { context, params }));
  await expect(removing).rejects.toMatchObject({ kind: 'redirect', location: '/${many}' });
  expect(await list${Pascal.many}(db, user)).toEqual([]);
});

it('says that a long list is not complete', async () => {
  const { db, user, context } = await addStored();
  const isCut = async () => (await visitPage('/${many}', { context })).html.includes('Only the newest');
  expect(await isCut()).toBe(false);
  await Promise.all(Array.from({ length: MOST - 1 }, () => add${Type}(db, user, FIELDS)));
  expect(await isCut()).toBe(true);
});

it('shows ${aOne} only to its user', async () => {
  const { db, stored, params } = await addStored();
  const { context } = createVisitor(db, await addUser(db, 'emmy@example.com'));
  expect((await visitPage(\`/${many}/\${stored.id}\`, { context })).status).toBe(404);
  expect((await visitPage('/${many}', { context })).html).not.toContain(FIELDS.${title});
  for (const posting of [
    ${camel.one}.actions.remove(actionArgs({}, { context, params })),
    edit${Type}.actions.save(actionArgs(CHANGED_FORM, { context, params })),
  ]) {
    await expect(posting).rejects.toMatchObject({ status: 404 });
  }
});

it.each(['/${many}', '/${many}/new', '/${many}/7', '/${many}/7/edit'])('asks visitors of %s to sign in', async (path) => {
  const { context } = createVisitor(database.db);
  expect((await visitPage(path, { context })).redirect).toBe(\`/sign-in?to=\${encodeURIComponent(path)}\`);
});
`;
}

export function writeApiTest({ many, camel, Pascal, aOne, fields }) {
  return `import request from 'supertest';
import { expect, it } from 'vitest';
import { createTestApp } from '#engine/testing';
import { startSession } from '#product-server/accounts/sessions.ts';
import { ${camel.many}Api } from '#product-server/api/${many}/handlers.ts';
import { addUser, useDatabase } from '../../../../support/product/test-database.ts';

const database = useDatabase();

const SENT = ${writeObject(fields, ({ sample }) => sample)};
const CHANGED = ${writeObject(fields, ({ other }) => other)};

/** Returns requests of a user who is signed in. */
async function signIn(email?: string) {
  const { db } = database;
  const cookie = \`session=\${await startSession(db, await addUser(db, email))}\`;
  return request.agent(createTestApp({ api: [${camel.many}Api(db)] })).set('Cookie', cookie);
}

it('creates, lists, reads, replaces and deletes', async () => {
  const user = await signIn();
  const created = await user.post('/api/${many}').send(SENT);
  expect(created.status, \`${Pascal.one}Fields refuses SENT: \${created.text}\`).toBe(201);
  expect(created.body).toMatchObject(SENT);
  const url = created.headers.location ?? '';
  expect((await user.get(url).expect(200)).body).toEqual(created.body);
  expect((await user.get('/api/${many}').expect(200)).body).toEqual([created.body]);
  expect((await user.put(url).send(CHANGED).expect(200)).body).toEqual({ ...created.body, ...CHANGED });
  await user.delete(url).expect(204);
  await user.get(url).expect(404);
  await user.put(url).send(CHANGED).expect(404);
  await user.delete(url).expect(404);
});

it.each(Object.keys(SENT))('answers 422 and names the field if %s is missing', async (field) => {
  const user = await signIn();
  const answer = await user.post('/api/${many}').send({ ...SENT, [field]: undefined });
  expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, [field]]);
});

it('answers 422 for an unknown field', async () => {
  const user = await signIn();
  await user.post('/api/${many}').send({ ...SENT, unheardOf: true }).expect(422);
});

it('shows ${aOne} only to its user, and nothing without a session', async () => {
  const [ada, emmy] = [await signIn(), await signIn('emmy@example.com')];
  const { headers } = await ada.post('/api/${many}').send(SENT).expect(201);
  const url = headers.location ?? '';
  await emmy.get(url).expect(404);
  await emmy.put(url).send(CHANGED).expect(404);
  await emmy.delete(url).expect(404);
  expect((await emmy.get('/api/${many}').expect(200)).body).toEqual([]);
  await request(createTestApp({ api: [${camel.many}Api(database.db)] })).get(url).expect(401);
});
`;
}
