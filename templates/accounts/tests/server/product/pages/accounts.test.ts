import { describe, expect, it } from 'vitest';
import { limitAttempts } from '#product-server/accounts/attempts.ts';
import { createLink, readLink } from '#product-server/accounts/links.ts';
import { hasUser, setPassword } from '#product-server/accounts/users.ts';
import { account } from '#product-server/pages/account.ts';
import { choosePassword } from '#product-server/pages/choose-password.ts';
import { askForLink } from '#product-server/pages/send-link.ts';
import { signIn } from '#product-server/pages/sign-in.ts';
import { actionArgs } from '../../../support/product/page-args.ts';
import { addUser, useDatabase } from '../../../support/product/test-database.ts';
import { visitPage } from '../../../support/product/visit-page.ts';
import { createVisitor } from '../../../support/product/visitor.ts';

const database = useDatabase();
const ADA = 'ada@example.com';
const PASSWORD = 'correct horse battery';

describe('sign-in', () => {
  const enter = (email: string, password: string, url = '/sign-in') => {
    const visitor = createVisitor(database.db);
    return { visitor, result: signIn.actions.signIn(actionArgs({ email, password }, { url, ...visitor })) };
  };

  it('starts a session, and returns to the page that asked for it', async () => {
    const user = await setPassword(database.db, ADA, PASSWORD);
    const { visitor, result } = enter(' Ada@Example.com', PASSWORD, '/sign-in?to=%2Faccount%3Ftab%3D1');
    await expect(result).rejects.toMatchObject({ kind: 'redirect', location: '/account?tab=1' });
    expect(visitor.signedIn()).toEqual(user);
  });

  it('is skipped by users who are signed in', async () => {
    const { context } = createVisitor(database.db, await addUser(database.db));
    expect((await visitPage('/sign-in?to=/account', { context })).redirect).toBe('/account');
  });

  it.each(['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)', 'https://['])(
    'never redirects to %s',
    async (to) => {
      const { context } = createVisitor(database.db, await addUser(database.db));
      expect((await visitPage(`/sign-in?to=${encodeURIComponent(to)}`, { context })).redirect).toBe('/');
    },
  );

  it('says the same about a wrong password and an unknown address', async () => {
    await setPassword(database.db, ADA, PASSWORD);
    const [wrong, unknown] = [enter(ADA, 'incorrect'), enter('nobody@example.com', 'incorrect')];
    expect(await wrong.result).toMatchObject({ status: 422, errors: { '': expect.any(String) } });
    expect(await unknown.result).toEqual(await wrong.result);
    expect(wrong.visitor.signedIn()).toBeUndefined();
  });

  it('refuses more than 10 attempts for an account, even with the right password', async () => {
    await setPassword(database.db, ADA, PASSWORD);
    for (let attempt = 1; attempt <= 10; attempt += 1) await limitAttempts(database.db, `sign in to ${ADA}`, 10);
    await expect(enter(ADA, PASSWORD).result).rejects.toMatchObject({ status: 429 });
    expect(await enter('nobody@example.com', 'incorrect').result).toMatchObject({ status: 422 });
  });

  it('refuses more than 50 attempts from a network address', async () => {
    await setPassword(database.db, ADA, PASSWORD);
    for (let attempt = 1; attempt <= 50; attempt += 1) await limitAttempts(database.db, 'sign in from 192.0.2.1', 50);
    await expect(enter(ADA, PASSWORD).result).rejects.toMatchObject({ status: 429 });
  });

  it('forgets failed attempts after a right one', async () => {
    await setPassword(database.db, ADA, PASSWORD);
    for (let attempt = 1; attempt <= 9; attempt += 1) await limitAttempts(database.db, `sign in to ${ADA}`, 10);
    for (let time = 1; time <= 2; time += 1) {
      await expect(enter(ADA, PASSWORD).result).rejects.toMatchObject({ kind: 'redirect' });
    }
  });
});

describe('a link in a mail', () => {
  it.each([true, false])('is sent by a job, whether there is an account or not: %s', async (isKnown) => {
    if (isKnown) await addUser(database.db);
    const { context, jobs } = createVisitor(database.db);
    expect(await askForLink.actions.sendLink(actionArgs({ email: 'ADA@example.com' }, { context }))).toEqual({
      email: ADA,
    });
    expect(jobs).toEqual([['sendAccountLink', { email: ADA }]]);
  });

  it('is sent at most 5 times to an address', async () => {
    const { context, jobs } = createVisitor(database.db);
    const send = () => askForLink.actions.sendLink(actionArgs({ email: ADA }, { context }));
    for (let attempt = 1; attempt <= 5; attempt += 1) await send();
    await expect(send()).rejects.toMatchObject({ status: 429 });
    expect(jobs).toHaveLength(5);
  });

  it('creates the account with the chosen password, once', async () => {
    const { db } = database;
    const visitor = createVisitor(db);
    const params = { token: await createLink(db, ADA) };
    const choose = (password: string) =>
      choosePassword.actions.choose(actionArgs({ password }, { params, ...visitor }));
    expect(await choose('too short')).toMatchObject({
      status: 422,
      errors: { password: 'Use at least 12 characters.' },
    });
    expect(await readLink(db, params.token)).toBe(ADA);
    await expect(choose(PASSWORD)).rejects.toMatchObject({ kind: 'redirect', location: '/' });
    expect(visitor.signedIn()).toMatchObject({ email: ADA });
    expect(await choose('the password of a thief')).toBeUndefined();
    const { html } = await visitPage(`/choose-password/${params.token}`, { context: visitor.context });
    expect(html).toContain('<h1>The link has expired</h1>');
  });
});

describe('the account', () => {
  it('is private', async () => {
    const { context } = createVisitor(database.db);
    expect((await visitPage('/account?tab=1', { context })).redirect).toBe('/sign-in?to=%2Faccount%3Ftab%3D1');
  });

  it('shows who is signed in, in the layout too', async () => {
    const { context } = createVisitor(database.db, await addUser(database.db));
    const { html } = await visitPage('/account', { context });
    expect(html).toContain('<p>You are signed in as ada@example.com.</p>');
    expect(html).toMatch(/Signed in as <a [^>]*>ada@example\.com<\/a>/);
  });

  it('changes the password and is deleted only with the current password', async () => {
    const { db } = database;
    const visitor = createVisitor(db, await setPassword(db, ADA, PASSWORD));
    const post = (action: 'changePassword' | 'deleteAccount', fields: Record<string, string>) =>
      account.actions[action](actionArgs(fields, visitor));
    const newPassword = 'another horse battery';
    const wrong = { status: 422, errors: { password: 'This is not your password.' } };
    expect(await post('changePassword', { password: 'incorrect', newPassword })).toMatchObject(wrong);
    expect(await post('changePassword', { password: PASSWORD, newPassword })).toBe(true);
    expect(await post('deleteAccount', { password: PASSWORD })).toMatchObject(wrong);
    expect(await hasUser(db, ADA)).toBe(true);
    await expect(post('deleteAccount', { password: newPassword })).rejects.toMatchObject({ location: '/' });
    expect([await hasUser(db, ADA), visitor.signedIn()]).toEqual([false, undefined]);
  });
});
