import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ACTION_ACCEPT } from '../../src/shared/engine/wire/protocol.ts';
import {
  createOwnedApp,
  createVisitor,
  type OwnedApp,
  type RunningApp,
  readProjectFile,
  startApp,
} from '../support/owned-app.ts';
import { listBlocks } from '../support/recipe-blocks.ts';

const SECRET = { SESSION_SECRET: 'x'.repeat(32) };
const ADA = { _action: 'sign-in.enter', name: 'ada', password: 'correct horse' };
const blocks = listBlocks(readProjectFile('docs/recipes/sessions.md'));
let app: OwnedApp;
let recipe: RunningApp;

// The recipe's app. EXPRESS adds a body parser of that major version to its steps, and an app behind its pages.
beforeAll(async () => {
  app = createOwnedApp(blocks);
  app.replace(
    'src/server/product/index.ts',
    'sessionSteps(sessionSecret),',
    "[...bodySteps, ...sessionSteps(sessionSecret)],\n  existingApp: process.env.EXPRESS && './legacy/app.cjs',",
  );
  app.replace(
    'src/server/product/index.ts',
    'import {',
    "// @ts-nocheck\nimport { bodySteps } from './body-steps.ts';\nimport {",
  );
  app.write({
    'src/server/product/body-steps.ts': `
      // @ts-nocheck
      import express4 from 'express4';
      import express5 from 'express';
      const major = { express4, express: express5 }[process.env.EXPRESS];
      export const bodySteps = major ? [major.urlencoded({ extended: true })] : [];`,
    'legacy/app.cjs': `
      const app = require(process.env.EXPRESS)();
      const session = require('express-session');
      const passport = new (require('passport').Passport)();
      passport.deserializeUser((id, done) => done(null, { name: 'user ' + id }));
      app.use(session({ name: 'session', secret: '${SECRET.SESSION_SECRET}', resave: false, saveUninitialized: false }));
      app.use(passport.session());
      app.get('/whoami', (req, res) => res.send((req.user ? req.user.name : 'nobody') + ', ' + req.session.visits));
      app.post('/visits', (req, res) => { req.session.visits = 40; res.send('set'); });
      module.exports = app;`,
  });
  await app.build();
  recipe = await startApp(app.folder, SECRET);
});
afterAll(async () => {
  await recipe?.stop();
  app.remove();
});

it('does not start without a secret, and reports how to create one', async () => {
  await expect(app.start()).rejects.toThrow(
    /The setting SESSION_SECRET must have at least 32 random characters\. .*openssl rand/,
  );
});

describe('a visitor', () => {
  it('gets a session from the page whose loader starts one, and keeps it', async () => {
    const { url } = recipe;
    const visitor = createVisitor(url);
    await visitor.get('/');
    expect(visitor.cookies.size).toBe(0);
    const first = await visitor.get('/sign-in');
    expect(first.headers.getSetCookie()[0]).toMatch(/^session=.*; HttpOnly; SameSite=Lax$/);
    expect(await first.text()).toContain('Visits: <!-- -->1<');
    expect(await (await visitor.get('/sign-in')).text()).toContain('Visits: <!-- -->2<');
    expect(await (await visitor.get('/_data/sign-in')).text()).toContain('"visits":3');
  });

  it('signs in without JavaScript, in a new session, and signs out', async () => {
    const { url } = recipe;
    const visitor = createVisitor(url);
    expect((await visitor.get('/account')).status).toBe(401);
    expect((await visitor.get('/_data/account')).status).toBe(401);

    await visitor.get('/sign-in');
    const before = visitor.cookies.get('session');
    const wrong = await visitor.post('/sign-in', { ...ADA, password: 'wrong' });
    expect(wrong.status).toBe(422);
    const again = await wrong.text();
    expect(again).toContain('The name or password is incorrect.');
    expect(again).toContain('value="ada"');
    expect(again).not.toContain('wrong');

    const right = await visitor.post('/sign-in', ADA);
    expect([right.status, right.headers.get('location')]).toEqual([303, '/account']);
    expect(visitor.cookies.get('session')).not.toBe(before);
    const page = await visitor.get('/account');
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Signed in as <!-- -->ada')]);

    const left = await visitor.post('/account', { _action: 'account.leave' });
    expect([left.status, left.headers.get('location')]).toEqual([303, '/sign-in']);
    expect((await visitor.get('/account')).status).toBe(401);
  });

  it('signs in with a background post, and with a multipart form', async () => {
    const { url } = recipe;
    const background = createVisitor(url);
    const reply = await background.post('/sign-in', ADA, { accept: ACTION_ACCEPT });
    expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('"redirect":"/account"')]);
    expect((await background.get('/account')).status).toBe(200);

    const form = new FormData();
    for (const [name, value] of Object.entries(ADA)) form.append(name, value);
    const multipart = createVisitor(url);
    expect((await multipart.post('/sign-in', form)).status).toBe(303);
    expect((await multipart.get('/account')).status).toBe(200);
  });
});

describe.each([
  ['Express 4', 'express4'],
  ['Express 5', 'express'],
])('beside %s', (_, name) => {
  let url: string;
  let running: RunningApp;
  beforeAll(async () => {
    running = await startApp(app.folder, { ...SECRET, EXPRESS: name, DATA_DIR: join(app.folder, name) });
    url = running.url;
  });
  afterAll(() => running?.stop());

  it('signs in after its body parser, with both kinds of form', async () => {
    const form = new FormData();
    for (const [field, value] of Object.entries(ADA)) form.append(field, value);
    for (const fields of [ADA, form]) {
      const visitor = createVisitor(url);
      expect((await visitor.post('/sign-in', fields)).status).toBe(303);
      expect((await visitor.get('/account')).status).toBe(200);
    }
  });

  it('shares sessions with an existing app, in both directions', async () => {
    const visitor = createVisitor(url);
    expect(await (await visitor.get('/whoami')).text()).toBe('nobody, undefined');
    await visitor.post('/sign-in', ADA);
    await visitor.get('/sign-in');
    expect(await (await visitor.get('/whoami')).text()).toBe('user 1, 1');
    await visitor.post('/visits', {});
    expect(await (await visitor.get('/sign-in')).text()).toContain('Visits: <!-- -->41<');
  });
});
