import request from 'supertest';
import { expect, it } from 'vitest';
import { addNote } from '#product-server/notes.ts';
import { openApp } from '../../support/product/open-app.ts';
import { addUser, openTestServices, startSession } from '../../support/product/visitor.ts';

it('adds and shows notes of the signed-in user only, on the page and by the API', async () => {
  const { services } = await openTestServices();
  const { app } = await openApp({ services });
  const cookie = await startSession(services, await addUser(services));
  await addNote(services.db, await addUser(services, 'emmy@example.com'), 'A secret of Emmy');
  const add = (text: string) =>
    request(app).post('/notes').set({ cookie }).type('form').send({ _action: 'notes.add', text });
  await add(' ').expect(422);
  await add(' Check the gate. ').expect(303);
  const page = await request(app).get('/notes').set({ cookie }).expect(200);
  expect([page.text.includes('Check the gate.'), page.text.includes('A secret')]).toEqual([true, false]);
  const { body } = await request(app).get('/api/notes').set({ cookie }).expect(200);
  expect(body).toEqual([{ id: expect.any(String), text: 'Check the gate.', createdAt: expect.any(String) }]);
});

it('requires a user', async () => {
  const { app } = await openApp({ services: (await openTestServices()).services });
  await request(app).get('/notes').expect(303).expect('Location', '/sign-in?to=%2Fnotes');
  for (const cookie of ['', 'app.session_token=guessed.guessed']) {
    await request(app).get('/api/notes').set({ cookie }).expect(401);
  }
});
