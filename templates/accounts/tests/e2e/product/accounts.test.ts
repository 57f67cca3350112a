import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { exchanged, heading, useSite } from '../site.ts';

const site = useSite();

const PASSWORD = `canary ${randomUUID()}`;
const NEW_PASSWORD = `canary ${randomUUID()}`;

/** Reads the link in the mail, which the server prints to its log. */
async function readLink(email: string): Promise<string> {
  const link = new RegExp(`"to":\\["${email}"\\].*?(/choose-password/[\\w-]+)(?!.*"to":\\["${email}"\\])`, 's');
  await expect.poll(() => link.test(site.server.log())).toBe(true);
  return link.exec(site.server.log())?.[1] ?? '';
}

async function submit(page: Page, fields: Record<string, string>, button: string): Promise<void> {
  const form = page
    .getByRole('main')
    .locator('form')
    .filter({ has: page.getByRole('button', { name: button }) });
  for (const [label, value] of Object.entries(fields)) await form.getByLabel(label, { exact: true }).fill(value);
  await form.getByRole('button', { name: button }).click();
}

test.each([true, false])('an account, from sign-up to its deletion, with JavaScript: %s', async (javaScriptEnabled) => {
  const email = `${randomUUID()}@example.com`;
  const { page, complaints } = await site.open('/', { javaScriptEnabled });
  const header = page.getByRole('banner');
  if (javaScriptEnabled) await exchanged(page);

  await header.getByRole('link', { name: 'Sign up' }).click();
  await submit(page, { Email: email }, 'Send the link');
  await heading(page, 'Check your mail');
  const link = await readLink(email);
  await page.goto(link);
  await submit(page, { Password: PASSWORD }, 'Save and sign in');
  await header.getByText(`Signed in as ${email}`).waitFor();

  await header.getByRole('button', { name: 'Sign out' }).click();
  await heading(page, 'Sign in');
  await page.goto('/account');
  await heading(page, 'Sign in');
  await submit(page, { Email: email, Password: 'incorrect' }, 'Sign in');
  await page.getByText('The email address or the password is not correct.').waitFor();
  await submit(page, { Password: PASSWORD }, 'Sign in');
  await heading(page, 'Your account');

  const other = await page
    .context()
    .browser()
    ?.newContext({ storageState: await page.context().storageState() });
  await submit(page, { 'Current password': PASSWORD, 'New password': NEW_PASSWORD }, 'Change password');
  await page.getByText('Your password was changed.').waitFor();
  const reply = await other?.request.get(`${site.url}/account`, { maxRedirects: 0 });
  expect(reply?.status(), 'The old session still works.').toBe(303);
  await other?.close();

  await submit(page, { Password: NEW_PASSWORD }, 'Delete my account');
  await header.getByRole('link', { name: 'Sign in' }).waitFor();
  await page.goto(link);
  await heading(page, 'The link has expired');

  expect(complaints.filter((line) => !line.includes('status of 422'))).toEqual([]);
  expect(site.server.log()).not.toContain('canary');
});

test('the place for the message of a form takes no space while it is empty', async () => {
  const { page } = await site.open('/sign-in');
  const form = page.getByRole('main').locator('form');
  const [outer, inner] = await Promise.all([form.boundingBox(), form.getByText('Email').boundingBox()]);
  expect(inner?.y).toBe(outer?.y);
});

test('the session cookie cannot be read by scripts or sent by other sites', async () => {
  const email = `${randomUUID()}@example.com`;
  const { page } = await site.open('/sign-up');
  await submit(page, { Email: email }, 'Send the link');
  await heading(page, 'Check your mail');
  await page.goto(await readLink(email));
  await submit(page, { Password: PASSWORD }, 'Save and sign in');
  await page.getByText(`Signed in as ${email}`).waitFor();
  expect(await page.context().cookies()).toMatchObject([{ name: 'session', httpOnly: true, sameSite: 'Lax' }]);
  const forged = await page.context().request.post(`${site.url}/account`, {
    headers: { origin: 'https://evil.example' },
    form: { _action: 'root.signOut' },
  });
  expect(forged.status()).toBe(403);
});
