import { expect, test } from 'vitest';
import { signInAt } from '../../support/product/visitor.ts';
import { exchanged, heading, useSite } from '../site.ts';

const site = useSite();

test('signs up and in with JavaScript', async () => {
  const { page, complaints } = await site.open('/sign-up');
  await exchanged(page);
  const main = page.getByRole('main');
  await main.getByLabel('Email').fill('ada@example.com');
  await main.getByRole('button', { name: 'Send the link' }).click();
  await heading(page, 'Check your mail');
  const link = /\/choose-password\?token=[\w-]+/; // without a mail server, mails are in the log
  await expect.poll(() => link.test(site.server.log())).toBe(true);
  await page.goto(link.exec(site.server.log())?.[0] ?? '');
  await main.getByLabel('Password').fill('canary of a password');
  await main.getByRole('button', { name: 'Save' }).click();
  await main.getByRole('link', { name: 'Sign in' }).click();
  await main.getByLabel('Email').fill('ada@example.com');
  await main.getByLabel('Password').fill('canary of a password');
  await main.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  expect([complaints, site.server.log().includes('canary')]).toEqual([[], false]);
});

test('adds a note of a signed-in user once, and says so if it was not sent', async () => {
  const { page } = await site.open('/notes', { cookie: await signInAt(site.server), isAlone: true });
  await exchanged(page);
  await page.getByLabel('New note').fill('Check the gate');
  await page.getByRole('button', { name: 'Add' }).dblclick();
  await page.getByRole('listitem').filter({ hasText: 'Check the gate' }).waitFor();
  expect(await page.getByRole('listitem').count()).toBe(1);
  await page.context().setOffline(true);
  await page.getByLabel('New note').fill('Close the gate');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByText('The form was not sent.').waitFor();
});
