import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { exchanged, heading, useSite } from '../site.ts';

const site = useSite();

const CHUNK = /\/assets\/cards-[^/]+\.js$/;
const SHEET = /\/assets\/cards-[^/]+\.css$/;

/** Follows a link to the cards, with something wrong on the way. */
async function goToCards(before: (page: Page) => Promise<unknown>) {
  const visit = await site.open('/', { before });
  await exchanged(visit.page);
  // Without the hover's prefetch: the failure is the navigation's own.
  await visit.page
    .getByRole('link', { name: 'Cards', exact: true })
    .first()
    .evaluate((link: HTMLElement) => link.click());
  return visit;
}

/** Applies to the first request alone: the document that is loaded then gets everything. */
function once(page: Page, url: RegExp, handle: (route: Route) => Promise<void>) {
  let isFirst = true;
  return page.route(url, async (route) => {
    if (!isFirst) return route.continue();
    isFirst = false;
    return handle(route);
  });
}

async function late(route: Route): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 6000));
  await route.continue().catch(() => {}); // its document is gone by then
}

describe('a page whose code or styles do not come', () => {
  test('at the first try is loaded as a document, once', async () => {
    const visits = await Promise.all(
      [CHUNK, SHEET].map((url) => goToCards((page) => once(page, url, (route) => route.abort()))),
    );
    for (const { page, documents } of visits) {
      await page.waitForURL('**/tour/cards');
      await exchanged(page);
      await heading(page, 'Cards');
      await page.waitForTimeout(200);
      expect(documents).toEqual(['/', '/tour/cards']);
    }
  });

  test('at any try is not loaded again and again', async () => {
    const visits = await Promise.all(
      [CHUNK, SHEET].map((url) => goToCards((page) => page.route(url, (route) => route.abort()))),
    );
    for (const { page } of visits) {
      await page.waitForURL('**/tour/cards');
      await heading(page, 'Cards');
    }
    await visits[0]?.page.waitForTimeout(800);
    for (const { page, documents } of visits) {
      expect(documents).toEqual(['/', '/tour/cards']);
      await page.getByRole('link', { name: 'API', exact: true }).click();
      await heading(page, 'API');
    }
  });

  test('within 3.8 s is loaded as a document, once', async () => {
    const started = performance.now();
    const visits = await Promise.all([CHUNK, SHEET].map((url) => goToCards((page) => once(page, url, late))));
    for (const { page, documents } of visits) {
      await page.waitForURL('**/tour/cards');
      await heading(page, 'Cards');
      expect(documents).toEqual(['/', '/tour/cards']);
    }
    expect(performance.now() - started).toBeGreaterThan(3800);
    expect(performance.now() - started).toBeLessThan(8000);
  });
});

describe('a server that runs another build', () => {
  /** Answers page data as the next release would. */
  function exchangeBuild(page: Page) {
    return page.route('**/_data/**', async (route) => {
      const response = await route.fetch();
      const build = response.headers()['x-build-id'] ?? '';
      const body = (await response.text()).replaceAll(build, 'anotherbuild');
      await route.fulfill({ response, body, headers: { ...response.headers(), 'x-build-id': 'anotherbuild' } });
    });
  }

  test('is met with a full load at the navigation that learns of it', async () => {
    const { page, documents } = await goToCards(exchangeBuild);
    await page.waitForURL('**/tour/cards');
    await heading(page, 'Cards');
    await page.waitForTimeout(200);
    expect(documents).toEqual(['/', '/tour/cards']);
  });

  test('is met with a full load at the navigation after a prefetch has told of it', async () => {
    const { page, documents, data } = await site.open('/', { before: exchangeBuild });
    await exchanged(page);
    await page.getByRole('link', { name: 'API', exact: true }).first().hover();
    await expect.poll(() => data.length).toBe(1);
    await page.waitForTimeout(200);
    expect(documents).toEqual(['/']);
    await page.getByRole('link', { name: 'Cards', exact: true }).first().click();
    await heading(page, 'Cards');
    expect(documents).toEqual(['/', '/tour/cards']);
    expect(data.filter(({ path }) => path === '/_data/tour/cards')).toEqual([]);
  });

  test('does not cost what was typed into a form', async () => {
    const { page, documents } = await site.open('/tour/forms');
    await exchanged(page);
    await page.route('**/tour/forms', async (route) => {
      const response = await route.fetch();
      const build = response.headers()['x-build-id'] ?? '';
      await route.fulfill({
        response,
        body: (await response.text()).replaceAll(build, 'anotherbuild'),
        headers: { ...response.headers(), 'x-build-id': 'anotherbuild' },
      });
    });
    await page.getByLabel('Your name').fill('Ada');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Please give a whole e-mail address').waitFor();
    await page.waitForTimeout(200);
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada');
    expect(documents).toEqual(['/tour/forms']);
  });
});
