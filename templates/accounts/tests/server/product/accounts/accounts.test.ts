import { APIError } from 'better-auth/api';
import type { RequestHandler } from 'express';
import request from 'supertest';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createProductApp } from '#engine/testing';
import { Document } from '#product/document.tsx';
import { errorPages } from '#product/error-pages.tsx';
import { routes } from '#product/routes.tsx';
import { findUser, readVisitorId } from '#product-server/accounts/visitor.ts';
import { product } from '#product-server/index.ts';
import type { Services } from '#product-server/services.ts';
import { openApp } from '../../../support/product/open-app.ts';
import { addUser, openTestServices, startSession, type TestServicesOptions } from '../../../support/product/visitor.ts';

const ADA = 'ada@example.com';
const PASSWORD = 'correct horse battery';
const OTHER = 'another horse battery';

/** Opens the app with an empty database. `visit()` is a visitor without JavaScript, who keeps cookies. */
async function openAccounts(options?: TestServicesOptions) {
  const { services, mails } = await openTestServices(options);
  const { app } = await openApp({ services });
  const visit = () => {
    const agent = request.agent(app);
    const post = (path: string, action: string, fields: object) =>
      agent
        .post(path)
        .type('form')
        .send({ _action: action, ...fields });
    return {
      get: (path: string) => agent.get(path),
      signUp: (fields?: object, path = '/sign-up') => post(path, 'sign-up.signUp', { email: ADA, ...fields }),
      signIn: (password: string, email = ' Ada@Example.com') =>
        post('/sign-in', 'sign-in.signIn', { email, password }).set('X-Visitor-Address', '203.0.113.9'),
      forget: (email: string) => post('/sign-in', 'sign-in.sendLink', { email }),
      choose: (password: string, mail = -1) => post(link(mail), 'choose-password.choose', { password }),
      account: (action: string, fields?: object) => post('/account', action, { ...fields }),
    };
  };
  const link = (mail: number) => /^http:\/\/localhost:3000(\/choose.*)$/m.exec(mails.at(mail)?.text ?? '')?.[1] ?? '';
  return { services, mails, visit, visitor: visit() };
}

it('signs up with a link, with which the password is chosen once', async () => {
  const { visitor, visit, mails } = await openAccounts();
  expect((await visitor.signUp({ email: 'ADA@example.com' }).expect(200)).text).toContain(`<strong>${ADA}</strong>`);
  expect((await visitor.choose('too short').expect(422)).text).toContain('Use at least 12 characters.');
  expect((await visitor.choose(PASSWORD).expect(200)).text).toContain('<h1>Your password was saved</h1>');
  expect((await visitor.choose(OTHER).expect(200)).text).toContain('<h1>The link has expired</h1>');
  await visitor.signIn(PASSWORD).expect(303).expect('Location', '/');
  // The pages say the same about known and unknown addresses. Only the mails do not.
  for (const reply of [await visit().signUp(), await visit().forget('eve@example.com')]) {
    expect(reply.text).toContain('<h1>Check your mail</h1>');
  }
  expect(mails.map(({ subject }) => subject)).toEqual(['Confirm your email address', 'Choose a new password']);
});

it.each([
  ['http', /^app\.session_token=.*; Path=\/; HttpOnly; SameSite=Lax$/],
  ['https', /^__Secure-app\.session_token=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/],
])('signs up with a password without a mail server, and sets a cookie for %s', async (protocol, cookie) => {
  const { visitor, visit } = await openAccounts({ hasMail: false, origin: `${protocol}://localhost:3000` });
  await visitor.signUp().expect(422);
  const { headers } = await visitor.signUp({ password: PASSWORD }).expect(303);
  expect(headers['set-cookie']).toEqual([expect.stringMatching(cookie)]);
  await visit().signUp({ password: PASSWORD }).expect(409);
});

it('returns a visitor who signs up first to the page that was asked for', async () => {
  const { visitor } = await openAccounts({ hasMail: false });
  const page = await visitor.get('/sign-in?to=%2Fnotes').expect(200);
  expect(page.text).toContain('href="/sign-up?to=%2Fnotes"');
  const signUp = visitor.signUp({ password: PASSWORD }, '/sign-up?to=%2Fnotes');
  await signUp.expect(303).expect('Location', '/notes');
});

it('refuses a wrong password, an unknown address and one that is not confirmed', async () => {
  const { visitor, services } = await openAccounts();
  await services.auth.api.signUpEmail({ body: { name: '', email: ADA, password: PASSWORD } });
  for (const reply of [await visitor.signIn(OTHER), await visitor.signIn(PASSWORD, 'eve@example.com')]) {
    expect([reply.status, reply.text]).toEqual([422, expect.stringContaining('or the password is not correct.')]);
  }
  expect((await visitor.signIn(PASSWORD).expect(422)).text).toContain('is not confirmed');
});

it.each([
  ['/notes?page=2', '/notes?page=2'],
  ['https://evil.example/', '/'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/.//evil.example', '/'],
  ['javascript:alert(1)', '/'],
  ['https://[', '/'],
])('after sign-in, to=%s leads to %s', async (to, location) => {
  const { services, visitor } = await openAccounts();
  const cookie = await startSession(services, await addUser(services));
  await visitor
    .get(`/sign-in?to=${encodeURIComponent(to)}`)
    .set({ cookie })
    .expect(303)
    .expect('Location', location);
});

it('changes the password and is deleted only with the current one, and other sessions end', async () => {
  const { visitor, visit, services } = await openAccounts({ hasMail: false });
  await visitor.get('/account?a=1').expect(303).expect('Location', '/sign-in?to=%2Faccount%3Fa%3D1');
  await visitor.signUp({ password: PASSWORD });
  const other = visit();
  await other.signIn(PASSWORD).expect(303);
  // Not what the visitor sends as its address.
  const sessions = await services.db.selectFrom('session').selectAll().execute();
  expect(sessions).toMatchObject([{ ipAddress: '127.0.0.1' }, { ipAddress: '127.0.0.1' }]);
  const change = (password: string) => visitor.account('account.changePassword', { password, newPassword: OTHER });
  expect((await change(OTHER).expect(422)).text).toContain('This is not your password.');
  expect((await change(PASSWORD).expect(200)).text).toContain('Your password was changed.');
  await other.get('/account').expect(303);
  await visitor.account('root.signOut').expect(303);
  await visitor.get('/account').expect(303);
  await visitor.signIn(OTHER).expect(303);
  await visitor.account('account.deleteAccount', { password: PASSWORD }).expect(422);
  await visitor.account('account.deleteAccount', { password: OTHER }).expect(303);
  await visitor.signIn(OTHER).expect(422);
});

it('ends all sessions when the password was forgotten', async () => {
  const { visitor, visit, services } = await openAccounts();
  const cookie = await startSession(services, await addUser(services));
  await visitor.get('/account').set({ cookie }).expect(200);
  await visit().forget(ADA).expect(200);
  await visit().choose(OTHER).expect(200);
  await visitor.get('/account').set({ cookie }).expect(303);
});

it('ends the other links of a user when the password is set with one of them, or is changed', async () => {
  const { visitor, visit, mails } = await openAccounts();
  await visitor.signUp().expect(200);
  await visitor.forget(ADA).expect(200);
  await visitor.signUp({ email: 'eve@example.com' }).expect(200);
  const [first, second, ofEve, third] = [0, 1, 2, 3];
  expect((await visitor.choose(PASSWORD, second)).text).toContain('Your password was saved');
  expect((await visit().choose(OTHER, first)).text).toContain('The link has expired');
  await visitor.forget(ADA).expect(200);
  await visitor.signIn(PASSWORD).expect(303);
  await visitor.account('account.changePassword', { password: PASSWORD, newPassword: OTHER }).expect(200);
  expect((await visit().choose(PASSWORD, third)).text).toContain('The link has expired');
  expect((await visit().choose(PASSWORD, ofEve)).text).toContain('Your password was saved');
  expect(mails).toHaveLength(4);
});

it.each(['http', 'https'])('identifies the signed-in user in failures by a cookie, for %s', async (protocol) => {
  const { services } = await openTestServices({ origin: `${protocol}://localhost:3000` });
  const { app } = await openApp({ services });
  const user = await addUser(services);
  const session = await startSession(services, user);
  const visitorId = (cookie: string) => readVisitorId({ headers: { cookie } });
  const { headers } = await request(app).get('/').set({ cookie: session }).expect(200);
  const secure = protocol === 'https' ? '; Secure' : '';
  expect(headers['set-cookie']).toEqual([`app.visitor=${user.id}; Path=/; HttpOnly${secure}; SameSite=Lax`]);
  const known = `${session}; app.visitor=${user.id}`;
  expect((await request(app).get('/').set({ cookie: known })).headers['set-cookie']).toBeUndefined();
  expect([visitorId(known), visitorId(session)]).toEqual([user.id, undefined]);
  const left = await request(app)
    .get('/')
    .set({ cookie: `app.visitor=${user.id}` });
  expect(left.headers['set-cookie']).toEqual([expect.stringMatching(/^app\.visitor=; .*Expires=Thu, 01 Jan 1970/)]);
});

/** Opens the app with a step that answers with the user. */
async function openStep({ services, flush = false }: { services: Services; flush?: boolean }) {
  const step: RequestHandler = (asked, response, next) => {
    if (flush) response.flushHeaders();
    findUser(services.auth, asked, response).then((user) => response.end(`user: ${user}`), next);
  };
  const open = createProductApp({
    product: { ...product, steps: () => [step] },
    routes,
    document: Document,
    errorPages,
  });
  return open({ services });
}

it('finds no user, and sends no cookie, if a session has ended and the headers were sent', async () => {
  const { services } = await openTestServices();
  const { app } = await openStep({ services, flush: true });
  const user = await addUser(services);
  const cookie = await startSession(services, user);
  await (await services.auth.$context).internalAdapter.deleteUserSessions(user.id);
  const { text } = await request(app).get('/').set({ cookie }).buffer(true);
  expect(text).toBe('user: undefined');
});

it('makes a failure of any error of better-auth, and shows the line that called it', async () => {
  const { services } = await openTestServices();
  const fail = () => Promise.reject(new APIError('NOT_FOUND', { message: 'No such user' }));
  const failing = (api: object) =>
    ({ ...services, auth: { ...services.auth, api: { ...services.auth.api, ...api } } }) as unknown as Services;
  const step = await openStep({ services: failing({ getSession: fail }) });
  await request(step.app).get('/').set({ cookie: 'a=b' }).expect(500);
  expect(await step.failures()).toEqual([expect.stringContaining('The session could not be read')]);
  const { app, failures } = await openApp({ services: failing({ signOut: fail }) });
  const print = vi.spyOn(console, 'error');
  onTestFinished(() => print.mockRestore());
  await request(app).post('/').type('form').send({ _action: 'root.signOut' }).expect(500);
  expect(await failures()).toEqual([expect.stringContaining('No such user')]);
  expect(print.mock.lastCall?.[0].stack).toContain('pages/root.ts');
});

it('says in the form that there were too many attempts, and keeps the email address', async () => {
  const { visitor } = await openAccounts();
  for (let index = 1; index <= 10; index += 1) await visitor.signIn(OTHER).expect(422);
  const { text } = await visitor.signIn(OTHER).expect(409);
  expect(text).toContain('There were too many attempts.');
  expect(text).toContain('value=" Ada@Example.com"');
});

it('shows nothing of better-auth to visitors', async () => {
  const { visitor } = await openAccounts();
  for (const path of ['/auth/get-session', '/auth/sign-in/nobody', '/auth/ok']) await visitor.get(path).expect(404);
});
