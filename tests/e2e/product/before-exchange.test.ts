import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { exchanged, heading, hydrated, isSameDocument, markDocument, useSite } from '../site.ts';

const site = useSite();

const ROUTER = /\/assets\/navigator-[^/]+\.js$/;

/** Delays the router's chunk until `release()` is called. */
async function holdRouter(page: Page): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(ROUTER, async (route) => {
    await promise;
    await route.continue().catch(() => {});
  });
  return resolve;
}

async function openHeld(path: string) {
  let release = () => {};
  const visit = await site.open(path, {
    before: async (page) => {
      release = await holdRouter(page);
    },
  });
  await hydrated(visit.page);
  await markDocument(visit.page);
  return { ...visit, release };
}

const isHeld = (page: Page) => page.evaluate(() => history.scrollRestoration === 'auto');

describe('before the router is loaded', () => {
  test('a click waits for it, and does not load a document', async () => {
    const { page, release, documents, complaints } = await openHeld('/');
    await page.getByRole('link', { name: 'Cards', exact: true }).first().click();
    await page.waitForTimeout(150);
    expect(await isHeld(page)).toBe(true);
    expect(new URL(page.url()).pathname).toBe('/');
    release();
    await heading(page, 'Cards');
    expect(await isSameDocument(page)).toBe(true);
    expect(documents).toEqual(['/']);
    expect(complaints).toEqual([]);
  });

  test('a submit waits for it, and keeps what was typed', async () => {
    const { page, release, documents, data } = await openHeld('/tour/forms');
    await page.getByLabel('Your name').fill('Ada');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.waitForTimeout(150);
    expect(data).toEqual([]);
    release();
    await page.getByText('Enter a full email address').waitFor();
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada');
    expect(data.map(({ method }) => method)).toEqual(['POST']);
    expect(documents).toEqual(['/tour/forms']);
  });

  test('a fetcher waits for it', async () => {
    const { page, release, documents, complaints, data } = await openHeld('/tour/forms');
    const likes = page.locator('#likes output');
    const before = Number((await likes.innerText()).split(' ')[0]);
    await page.getByRole('button', { name: 'Like' }).click();
    await page.waitForTimeout(150);
    expect(data).toEqual([]);
    release();
    await expect.poll(() => likes.innerText()).toMatch(new RegExp(`^${before + 1} `));
    await exchanged(page);
    await page.getByRole('button', { name: 'Like' }).click();
    await expect.poll(() => likes.innerText()).toMatch(new RegExp(`^${before + 2} `));
    expect(documents).toEqual(['/tour/forms']);
    expect(complaints).toEqual([]);
  });

  test('Back after a reload shows the previous page', async () => {
    const { page, documents } = await site.open('/tour/cards');
    await exchanged(page);
    await page.getByRole('link', { name: 'API', exact: true }).first().click();
    await heading(page, 'API');
    const release = await holdRouter(page);
    await page.reload();
    await hydrated(page);
    await page.goBack({ waitUntil: 'commit' });
    expect(new URL(page.url()).pathname).toBe('/tour/cards');
    await page.waitForTimeout(150);
    await heading(page, 'API');
    release();
    await heading(page, 'Cards');
    await page.goForward();
    await heading(page, 'API');
    expect(documents).toEqual(['/tour/cards', '/tour/api']);
  });

  test('Back from a hash stays on the page', async () => {
    const { page, release, documents, complaints } = await openHeld('/tour/navigation');
    await page.getByRole('link', { name: 'a hash, by a plain link' }).click();
    await page.waitForURL('**#ferry');
    await page.goBack();
    release();
    await exchanged(page);
    await page.getByText('it is empty to React Router').waitFor();
    await page.goForward();
    await page.getByText('it is #ferry to React Router').waitFor();
    expect(documents).toEqual(['/tour/navigation']);
    expect(complaints).toEqual([]);
  });

  test('a hover prefetches as soon as the router is loaded', async () => {
    const { page, release, data } = await openHeld('/');
    await page.getByRole('link', { name: 'Cards', exact: true }).first().hover();
    await page.waitForTimeout(150);
    expect(data).toEqual([]);
    release();
    await expect.poll(() => data).toEqual([{ method: 'GET', path: '/_data/tour/cards', isPrefetch: true }]);
  });
});

describe('if the router cannot be loaded', () => {
  test('links and forms work as plain HTML', async () => {
    const { page, documents } = await site.open('/tour/forms', {
      before: (page) => page.route(ROUTER, (route) => route.abort()),
    });
    await hydrated(page);
    await page.getByLabel('Your name').fill('Ada');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Enter a full email address').waitFor();
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada');
    await page.getByRole('link', { name: 'Cards', exact: true }).first().click();
    await heading(page, 'Cards');
    expect(documents).toEqual(['/tour/forms', '/tour/forms', '/tour/cards']);
  });
});
