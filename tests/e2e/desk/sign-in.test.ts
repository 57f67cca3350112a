import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import { expectAccessible } from '../accessible.ts';
import { exchanged, heading, hydrated, isSameDocument, markDocument, useSite } from '../site.ts';

const site = useSite(async () => ({}));

const SIGN_IN = 'Sign in to the desk';
const LINK = /expires in 15 minutes\): (http\S+)\n/;
const readToken = () => readFileSync(join(site.server.dataDir, 'desk-token'), 'utf8').trim();

async function enter(page: Page, token = readToken()): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

describe('the first start', () => {
  test('creates a token file that only its owner can read, and prints a sign-in link that works once', async () => {
    expect(statSync(join(site.server.dataDir, 'desk-token')).mode & 0o777).toBe(0o600);
    // The store is opened after the server starts to listen.
    await until(() => LINK.test(site.server.log()), 'the link');
    const link = LINK.exec(site.server.log())?.[1] ?? '';
    const { page } = await site.open(link.slice(site.url.length));
    await heading(page, SIGN_IN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await heading(page, 'Incidents');
    expect(new URL(page.url()).search).toBe('');

    const { page: other } = await site.open(link.slice(site.url.length));
    await other.getByRole('button', { name: 'Sign in' }).click();
    await other.getByText('This link was already used').waitFor();
    await enter(other);
    await heading(other, 'Incidents');
    expect(site.server.log().match(/ticket=/g)).toHaveLength(1);
  });
});

describe.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('signing in %s', (_name, javaScriptEnabled) => {
  test('replaces the requested page, and leads to it', async () => {
    const { page, complaints, documents } = await site.open('/desk?state=all', { javaScriptEnabled });
    await heading(page, SIGN_IN);
    if (javaScriptEnabled) {
      await exchanged(page);
      await markDocument(page);
    }
    await enter(page, 'not-the-token-of-this-desk');
    await page.getByRole('alert').getByText('That token is not valid.').waitFor();
    expect(new URL(page.url()).pathname).toBe('/desk');
    expect(await page.getByLabel('Token').getAttribute('aria-invalid')).toBe('true');

    await enter(page);
    await heading(page, 'Incidents');
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/desk?state=all');
    if (javaScriptEnabled) {
      expect(await isSameDocument(page)).toBe(true);
      expect(documents).toHaveLength(1);
    }
    // Chromium logs each 401 response to the console.
    expect(complaints.filter((line) => !line.includes('status of 401'))).toEqual([]);
  });

  test('ends after signing out, which leaves no desk data in the tab', async () => {
    const { page } = await site.open('/desk', { javaScriptEnabled });
    await enter(page);
    await heading(page, 'Incidents');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading(page, SIGN_IN);
    expect(await page.context().cookies()).toEqual([]);
    await page.goBack();
    await heading(page, SIGN_IN);
    await page.goto('/desk');
    await heading(page, SIGN_IN);
  });
});

test('a session that ended elsewhere can be renewed in place, and the page continues', async () => {
  const { page } = await site.open('/desk');
  await enter(page);
  await heading(page, 'Incidents');
  await exchanged(page);
  // A refused live update would replace the search field with the sign-in, before the test can use it.
  await page.locator('[data-live="live"]').waitFor();
  await markDocument(page);
  await page.context().clearCookies();
  await page.getByRole('searchbox').fill('boom');
  await page.keyboard.press('Enter');
  await heading(page, SIGN_IN);
  await enter(page);
  await heading(page, 'Incidents');
  expect(new URL(page.url()).search).toBe('?search=boom');
  expect(await isSameDocument(page)).toBe(true);
});

test('scripts on the page cannot read the cookie', async () => {
  const { page } = await site.open('/desk');
  await enter(page);
  await heading(page, 'Incidents');
  expect(await page.evaluate(() => document.cookie)).toBe('');
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' });
});

describe('axe finds no violation', () => {
  test('on the sign-in page, before and after a wrong token', async () => {
    const { page } = await site.open('/desk', { reducedMotion: 'reduce' });
    await hydrated(page);
    await expectAccessible(page);
    await enter(page, 'not-the-token-of-this-desk');
    await page.getByRole('alert').waitFor();
    await expectAccessible(page);
  });

  test.each(['/desk', '/desk/no/such/page'])('on %s', async (path) => {
    const { page } = await site.open(path, { reducedMotion: 'reduce' });
    await enter(page);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await expectAccessible(page);
  });
});

test('the skip link skips the header', async () => {
  const { page } = await site.open('/desk');
  await enter(page);
  await heading(page, 'Incidents');
  await page.reload();
  await hydrated(page);
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
});
