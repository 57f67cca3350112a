import request from 'supertest';
import { expect, it } from 'vitest';
import { createTestApp } from '#engine/testing';
import { startSession } from '#product-server/accounts/sessions.ts';
import { accountApi } from '#product-server/api/account/handlers.ts';
import { addUser, useDatabase } from '../../../../support/product/test-database.ts';

const database = useDatabase();

it('returns the signed-in user', async () => {
  const { db } = database;
  const user = await addUser(db);
  const app = createTestApp({ api: [accountApi(db)] });
  const get = (cookie: string) => request(app).get('/api/account').set('Cookie', cookie);
  expect((await get(`other=1; session=${await startSession(db, user)}`).expect(200)).body).toEqual(user);
  await get('session=guessed').expect(401);
  await request(app).get('/api/account').expect(401);
});

it('refuses a session that has expired', async () => {
  const { db } = database;
  const token = await startSession(db, await addUser(db));
  await db.updateTable('sessions').set({ expiresAt: '2020-01-01T00:00:00.000Z' }).execute();
  const app = createTestApp({ api: [accountApi(db)] });
  await request(app).get('/api/account').set('Cookie', `session=${token}`).expect(401);
});

it('uses a cookie over HTTPS that only this host can set', async () => {
  const { db } = database;
  const user = await addUser(db);
  const app = createTestApp({ api: [accountApi(db)], publicOrigins: ['https://app.example'] });
  const get = (name: string, token: string) =>
    request(app).get('/api/account').set('Host', 'app.example').set('Cookie', `${name}=${token}`);
  await get('__Host-session', await startSession(db, user)).expect(200);
  await get('session', await startSession(db, user)).expect(401);
});
