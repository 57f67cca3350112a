import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ACTION_ACCEPT } from '../../src/shared/wire/protocol.ts';
import { createVisitor } from '../support/owned-app.ts';
import { useRecipe } from './recipe.ts';

const SECRET = { SESSION_SECRET: 'x'.repeat(32) };
const ADA = { _action: 'sign-in.enter', name: 'ada', password: 'correct horse' };
const INDEX = 'src/server/product/index.ts';

// EXPRESS adds a body parser of that major version to the steps, and an app behind the pages.
const app = useRecipe('sessions', (it) => {
  const steps =
    "[...bodySteps, Router().use(['/account', '/sign-in'], ...sessionSteps(sessionSecret))],\n  existingApp: process.env.EXPRESS";
  it.replace(INDEX, 'sessionSteps(sessionSecret),', `${steps} && './legacy/app.cjs',`);
  it.replace(
    INDEX,
    'import {',
    "// @ts-nocheck\nimport { Router } from 'express';\nimport { bodySteps } from './body-steps.ts';\nimport {",
  );
  it.replace('src/server/product/sign-in.ts', 'secret,\n    resave', 'secret,\n    store: process.store,\n    resave');
  it.write({
    'src/server/product/body-steps.ts': `
      // @ts-nocheck
      import express4 from 'express4';
      import express5 from 'express';
      import session from 'express-session';
      process.store = new session.MemoryStore();
      const major = { express4, express: express5 }[process.env.EXPRESS];
      export const bodySteps = major ? [major.urlencoded({ extended: true })] : [];`,
    'legacy/app.cjs': `
      const app = require(process.env.EXPRESS)();
      const session = require('express-session');
      const passport = new (require('passport').Passport)();
      passport.deserializeUser((id, done) => done(null, { name: 'user ' + id }));
      app.use(session({ name: 'session', secret: '${SECRET.SESSION_SECRET}', store: process.store, resave: false, saveUninitialized: false, rolling: true }));
      app.use(passport.session());
      app.get('/whoami', (req, res) => res.send(req.user ? req.user.name : 'nobody'));
      module.exports = app;`,
  });
});

const toForm = () => {
  const form = new FormData();
  for (const [name, value] of Object.entries(ADA)) form.append(name, value);
  return form;
};

it('signs a visitor in, in a new session, and out', async () => {
  const { url } = await app.start(SECRET);
  const visitor = createVisitor(url);
  await visitor.get('/');
  expect(visitor.cookies.size).toBe(0);
  expect((await visitor.get('/account')).status).toBe(401);
  expect((await visitor.get('/_data/account')).status).toBe(401);

  const wrong = await visitor.post('/sign-in', { ...ADA, password: 'wrong' });
  const again = await wrong.text();
  expect([wrong.status, again]).toEqual([422, expect.stringContaining('The name or password is incorrect.')]);
  expect(again).toContain('value="ada"');
  expect(again).not.toContain('wrong');
  const right = await visitor.post('/sign-in', ADA);
  expect([right.status, right.headers.get('location')]).toEqual([303, '/account']);
  expect(right.headers.getSetCookie()[0]).toMatch(/^session=.*; HttpOnly; SameSite=Lax$/);
  expect(await (await visitor.get('/account')).text()).toContain('Signed in as ada');
  const left = await visitor.post('/account', { _action: 'account.leave' });
  expect([left.status, left.headers.get('location')]).toEqual([303, '/sign-in']);
  expect((await visitor.get('/account')).status).toBe(401);

  const background = createVisitor(url);
  const reply = await background.post('/sign-in', ADA, { accept: ACTION_ACCEPT });
  expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('"redirect":"/account"')]);
  expect((await background.get('/account')).status).toBe(200);
});

it.each(['express4', 'express'])(
  'signs in after a body parser of %s, and shares sessions with its app',
  async (name) => {
    const { url } = await app.start({ ...SECRET, EXPRESS: name, DATA_DIR: join(app.folder, name) });
    for (const fields of [ADA, toForm()]) {
      const visitor = createVisitor(url);
      expect((await visitor.post('/sign-in', fields)).status).toBe(303);
      expect((await visitor.get('/account')).status).toBe(200);
    }
    const visitor = createVisitor(url);
    const whoami = async () => (await visitor.get('/whoami')).text();
    expect(await whoami()).toBe('nobody');
    await visitor.post('/sign-in', ADA);
    expect(await whoami()).toBe('user 1');
    // The app's own session runs, with its `rolling`.
    expect((await visitor.get('/whoami')).headers.getSetCookie()).toHaveLength(1);
  },
);
