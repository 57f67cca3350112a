import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { expectAccessible } from '../../../e2e/accessible.ts';
import { exchanged, heading, hold, hydrated, press, useSite, type VisitOptions } from '../../../e2e/site.ts';
import { type MailReceiver, startMailServer, startWebhook, type WebhookReceiver } from '../../../support/receivers.ts';
import { until } from '../../../support/until.ts';
import { deskSession, signIn } from '../../e2e/session.ts';

let webhook: WebhookReceiver;
let mails: MailReceiver;

const site = useSite(async () => {
  [webhook, mails] = await Promise.all([startWebhook(), startMailServer()]);
  return {
    WEBHOOK_URL: webhook.url,
    WEBHOOK_SECRET: 'a-secret-of-the-webhook',
    SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
    MAIL_FROM: 'desk@example.com',
    MAIL_TO: 'ada@example.com',
  };
});

afterAll(async () => {
  await Promise.all([webhook?.close(), mails?.close()]);
});

const SIGN_IN = 'Sign in to the desk';
const FAILED = 'Error: The tour threw this in a loader.';
const DIGEST = /^[\dA-Z]{8}-[\dA-Z]{8}$/;
const open = async (path: string, options: VisitOptions = {}) =>
  site.open(path, { viewport: { width: 1280, height: 900 }, cookie: await deskSession(site.server), ...options });

/** @returns the address of the failure that a request to this path causes */
async function failAt(path: string): Promise<string> {
  const reply = await fetch(site.url + path, { headers: { accept: 'text/html' } });
  return reply.headers.get('x-error-digest') ?? '';
}

test('the first start prints a link that works once, and leads to the line of a failure in two clicks', async () => {
  expect(statSync(join(site.server.dataDir, 'desk-token')).mode & 0o777).toBe(0o600);
  const LINK = /within 15 minutes\): (http\S+)\n/;
  await until(() => LINK.test(site.server.log()), 'the link'); // the store is opened after the server listens
  const path = (LINK.exec(site.server.log())?.[1] ?? '').slice(site.url.length);
  const { page } = await site.open(path, { isAlone: true });
  expect(page.url()).toBe(`${site.url}/`);
  await press(page, 'Break something');
  await heading(page, 'Something went wrong on our side');
  await page.locator('.error-page').getByRole('link', { name: DIGEST }).click();
  await heading(page, FAILED);
  await page.getByText("throw new Error('The tour threw this in a loader.');").waitFor();
  const { page: other } = await site.open(path, { isAlone: true });
  await press(other, 'Sign in');
  await other.getByText('This link was already used').waitFor();
  expect(site.server.log().match(/ticket=/g)).toHaveLength(1);
});

test('signing in leads to the requested page, and signing out leaves no desk data in the tab', async () => {
  const { page, complaints, documents } = await site.open('/desk?state=all', { isAlone: true });
  await heading(page, SIGN_IN);
  await exchanged(page);
  await signIn(page, site.server, 'not-the-token-of-this-desk');
  await page.getByRole('alert').getByText('That token is not valid.').waitFor();
  expect(await page.getByLabel('Token').getAttribute('aria-invalid')).toBe('true');
  await signIn(page, site.server);
  await heading(page, 'Incidents');
  expect(page.url()).toBe(`${site.url}/desk?state=all`);
  expect(documents).toHaveLength(1);
  // Chromium logs each 401 response to the console.
  expect(complaints.filter((line) => !line.includes('status of 401'))).toEqual([]);
  expect(await page.context().cookies()).toMatchObject([{ httpOnly: true, sameSite: 'Lax', path: '/' }]);

  await press(page, 'Sign out');
  await heading(page, SIGN_IN);
  expect(await page.context().cookies()).toEqual([]);
  await page.goBack();
  await heading(page, SIGN_IN);
});

test('a test notification shows its result', async () => {
  const { page, complaints } = await open('/desk/notifications');
  mails.answer = '550 no such user';
  await hydrated(page);
  await press(page, 'Send a test');
  const said = page.getByRole('status');
  await said.getByText(/^Sent: Webhook 127\.0\.0\.1:\d+\. It answered 200\.$/).waitFor();
  await said.getByText('The mail server refused it (550). Check MAIL_FROM and MAIL_TO.').waitFor();
  expect(webhook.posted.map(({ body }) => JSON.parse(body).event)).toContain('test');
  expect(complaints).toEqual([]);
  for (const secret of ['a-secret-of-the-webhook', webhook.url]) expect(site.server.log()).not.toContain(secret);
});

test('an address in the search box leads to the incident, whose stack and test can be copied', async () => {
  const address = await failAt('/tour/fail/loader');
  const { page, complaints } = await open('/desk', { permissions: ['clipboard-read', 'clipboard-write'] });
  const search = page.getByRole('searchbox', { name: 'Search incidents' });
  await search.fill(address);
  await search.press('Enter');
  await heading(page, FAILED);
  expect(page.url()).toBe(`${site.url}/desk/${address.replace('-', '/')}`);
  const read = () => page.evaluate(() => navigator.clipboard.readText());
  await press(page, 'Copy stack');
  await expect.poll(read).toContain(`${FAILED}\n    at failLoader.loader (src/server/product/pages/`);
  await press(page, 'Copy test');
  await expect.poll(read).toContain(`it('GET /tour/fail/loader does not fail with ${address.slice(0, 8)}'`);
  await page.getByRole('button', { name: 'Copy stack' }).waitFor(); // not "Copied" for ever
  expect(complaints).toEqual([]);
});

test('the list can be used by keyboard', async () => {
  for (const path of ['/tour/fail/loader', '/api/tour/fail', '/tour/fail/render']) await failAt(path);
  const { page, complaints } = await open('/desk');
  await exchanged(page);
  const titles = page.locator('[data-open]');
  await titles.nth(2).waitFor(); // the last failure can be stored after the page was loaded
  const [first = '', second = '', third = ''] = await titles.allTextContents();
  async function press(keys: string, focused: string): Promise<void> {
    for (const key of keys) await page.keyboard.press(key);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(focused);
  }
  await press('jj', second);
  await press('k', first);
  // Speech input can press them by mistake, so they can be switched off.
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', { name: 'Keys' });
  await keys.getByLabel('Use these keys').uncheck();
  await page.keyboard.press('Escape');
  await page.reload();
  await exchanged(page);
  await page.keyboard.type('j?');
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('BODY');
  await page.getByRole('button', { name: 'Keys' }).click();
  await keys.getByLabel('Use these keys').check();
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('j');
  expect(await page.getByRole('searchbox').inputValue()).toBe('j');

  // A key applies to the focused row, and the next one continues where a row was removed.
  await page.goto('/desk');
  await exchanged(page);
  for (const key of 'jje') await page.keyboard.press(key);
  await page.getByText('1 incident resolved.').waitFor();
  await press('j', third);
  // Keys that are pressed before the last one is answered apply to all their rows.
  const release = await hold(page, '**/desk');
  for (const key of 'eke') await page.keyboard.press(key);
  release();
  await page.getByText('2 incidents resolved.').waitFor();
  expect(complaints).toEqual([]);
});

describe('axe finds no violation, and nothing overflows, wide and light or narrow and dark', () => {
  test('on the pages of the desk', async () => {
    const address = await failAt('/tour/fail/loader');
    const { page } = await open('/desk?state=resolved');
    for (const path of ['/desk', `/desk/${address.replace('-', '/')}`, '/desk/notifications', '/desk/no/such/page']) {
      await page.goto(path);
      await hydrated(page);
      await expectAccessible(page);
    }
  });

  test('on the reference of its API, whose markup the parser does not change', async () => {
    const { page, complaints } = await open('/api/desk/docs');
    await expectAccessible(page);
    const html = await (await fetch(page.url())).text();
    expect(await page.locator('p').count()).toBe(html.match(/<p[ >]/g)?.length);
    expect(complaints).toEqual([]);
  });

  test('on the sign-in page, before and after a wrong token', async () => {
    const { page } = await site.open('/desk', { isAlone: true });
    await hydrated(page);
    await expectAccessible(page);
    await signIn(page, site.server, 'not-the-token-of-this-desk');
    await page.getByRole('alert').waitFor();
    await expectAccessible(page);
  });
});
