import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { listViolations } from '../accessible.ts';
import { exchanged, hydrated, useSite } from '../site.ts';
import { deskSession } from './session.ts';

const site = useSite(async () => ({}));

const ADDRESS = /[0-9A-Z]{8}-[0-9A-Z]{8}/;

async function signIn(page: Page, path: string): Promise<void> {
  await page.goto(path);
  const token = readFileSync(join(site.server.dataDir, 'desk-token'), 'utf8').trim();
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Desk', exact: true }).waitFor();
}

const readAddress = async (page: Page) =>
  ADDRESS.exec((await page.locator('code', { hasText: ADDRESS }).first().textContent()) ?? '')?.[0] ?? '';

const textarea = (page: Page) => page.getByLabel('What were you doing?').and(page.locator('textarea'));

async function say(page: Page, words: string): Promise<void> {
  await textarea(page).fill(words);
  await page.getByLabel('Your email').fill('ann@example.com');
  await page.getByRole('button', { name: 'Send' }).click();
}

/** Expects the feedback on the incident. */
async function expectSaid(address: string, words: string): Promise<void> {
  const { page } = await site.open(`/desk/${address.slice(0, 8)}`, { session: deskSession });
  const said = page.locator('blockquote', { hasText: words });
  await said.waitFor();
  await page.getByText('ann@example.com').first().waitFor();
}

describe('a visitor can send feedback', () => {
  test.each([
    ['with JavaScript', true],
    ['without JavaScript', false],
  ])('%s, on the error page of a failed loader', async (how, javaScriptEnabled) => {
    const { page, complaints } = await site.open('/tour/fail/loader', { javaScriptEnabled });
    if (javaScriptEnabled) {
      await exchanged(page);
      await page.waitForFunction(() =>
        Object.keys(document.querySelector('.error-feedback') ?? {}).some((key) => key.startsWith('__reactFiber')),
      );
      expect(await listViolations(page)).toEqual([]);
    }
    const address = await readAddress(page);
    complaints.length = 0;
    const words = `I was looking around ${how}.`;
    await say(page, words);
    await page.getByText('Thank you. Your feedback was sent').waitFor();
    expect(new URL(page.url()).pathname).toBe('/tour/fail/loader');
    expect(new URL(page.url()).search).toBe(javaScriptEnabled ? '' : '?_feedback');
    if (!javaScriptEnabled) await page.getByRole('link', { name: 'Try the page again' }).waitFor();
    expect(complaints).toEqual([]);
    await expectSaid(address, words);
  });

  test('on the error page of a browser failure, and the text is kept if sending fails', async () => {
    const { page } = await site.open('/tour/fail/client');
    await exchanged(page);
    await page.getByRole('button', { name: 'Throw in a component' }).click();
    await textarea(page).waitFor();
    const address = await readAddress(page);
    await page.route('**/*_feedback', (route) => route.abort());
    await say(page, 'I pressed the button.');
    await page.getByText('Your message was not sent.').waitFor();
    expect(await textarea(page).inputValue()).toBe('I pressed the button.');
    await page.unroute('**/*_feedback');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Thank you.').waitFor();
    await expectSaid(address, 'I pressed the button.');
  });
});

describe('an operator', () => {
  test('sees a link into the desk on the error page of a server failure and of a browser failure', async () => {
    const { page } = await site.open('/desk', { session: deskSession });
    const reply = await page.goto('/tour/fail/loader');
    expect(reply?.headers()['cache-control']).toBe('no-store');
    const address = await readAddress(page);
    const link = page.getByRole('link', { name: 'Open this failure' });
    expect(await link.getAttribute('href')).toBe(`/desk/${address.replace('-', '/')}`);
    await link.click();
    await page.getByText("throw new Error('The tour threw this in a loader.');").waitFor();

    await page.goto('/tour/fail/client');
    await exchanged(page);
    await page.getByRole('button', { name: 'Throw in a component' }).click();
    await link.waitFor();
    expect(await link.getAttribute('href')).toBe(`/desk/${(await readAddress(page)).replace('-', '/')}`);
  });

  test('sees no link after signing out, like any visitor', async () => {
    const { page } = await site.open('/tour/fail/loader');
    await hydrated(page);
    await textarea(page).waitFor();
    expect(await page.getByRole('link', { name: /desk/ }).count()).toBe(0);
    await signIn(page, '/desk');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await page.goto('/tour/fail/loader');
    await textarea(page).waitFor();
    expect(await page.getByRole('link', { name: /desk/ }).count()).toBe(0);
  });
});
