import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { exchanged, heading, useSite } from '../site.ts';

const site = useSite();

const CHUNK = /\/assets\/cards-[^/]+\.js$/;
const SHEET = /\/assets\/cards-[^/]+\.css$/;

/** Follows a link to the cards page. `before` can break something first. */
async function goToCards(before: (page: Page) => Promise<unknown>) {
  const visit = await site.open('/', { before });
  await exchanged(visit.page);
  await clickCards(visit.page);
  return visit;
}

/** Clicks without a hover, which would prefetch, so that the navigation itself fails. */
async function clickCards(page: Page): Promise<void> {
  await page
    .getByRole('link', { name: 'Cards', exact: true })
    .first()
    .evaluate((link: HTMLElement) => link.click());
}

/** Handles only the first request. The document that is loaded next gets everything. */
function once(page: Page, url: RegExp, handle: (route: Route) => Promise<void>) {
  let isFirst = true;
  return page.route(url, async (route) => {
    if (!isFirst) return route.continue();
    isFirst = false;
    return handle(route);
  });
}

describe('a page whose code or styles cannot be loaded', () => {
  test('at the first attempt is loaded as a document, once', async () => {
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

  test('at any attempt is not reloaded repeatedly', async () => {
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

  test.each([CHUNK, SHEET])('within 3.8 s is loaded as a document, once: %s', async (url) => {
    const held = Promise.withResolvers<void>();
    const never = Promise.withResolvers<void>();
    const { page, documents } = await site.open('/', {
      async before(page) {
        await page.clock.install();
        await once(page, url, () => {
          held.resolve();
          return never.promise;
        });
      },
    });
    await exchanged(page);
    await page.clock.pauseAt(Date.now() + 60_000);
    await clickCards(page);
    await held.promise;
    await page.clock.runFor(3700);
    expect(documents).toEqual(['/']);
    // The page's clock starts a little after the request.
    async function step(): Promise<readonly string[]> {
      await page.clock.runFor(200).catch(() => {}); // its document can be replaced
      return documents;
    }
    await expect.poll(step).toEqual(['/', '/tour/cards']);
    await heading(page, 'Cards');
    expect(documents).toEqual(['/', '/tour/cards']);
    never.resolve();
  });
});

describe('a server that runs another build', () => {
  /** Answers requests for page data as the next release would. */
  function exchangeBuild(page: Page) {
    return page.route('**/_data/**', async (route) => {
      const response = await route.fetch();
      const build = response.headers()['x-build-id'] ?? '';
      const body = (await response.text()).replaceAll(build, 'anotherbuild');
      await route.fulfill({ response, body, headers: { ...response.headers(), 'x-build-id': 'anotherbuild' } });
    });
  }

  test('causes a document load at the navigation that detects it', async () => {
    const { page, documents } = await goToCards(exchangeBuild);
    await page.waitForURL('**/tour/cards');
    await heading(page, 'Cards');
    await page.waitForTimeout(200);
    expect(documents).toEqual(['/', '/tour/cards']);
  });

  test('causes a document load at the navigation after a prefetch that detects it', async () => {
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

  test('does not lose typed form values', async () => {
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
    await page.getByText('Enter a full email address').waitFor();
    await page.waitForTimeout(200);
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada');
    expect(documents).toEqual(['/tour/forms']);
  });
});
