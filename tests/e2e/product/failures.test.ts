import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { heading, hydrated, isSameDocument, link, markDocument, press, shows, useSite } from '../site.ts';

const site = useSite();

const SENTENCE = 'Application error: a client-side exception has occurred while loading the host';
/** Begins every message that the tour throws. */
const MESSAGE = 'The tour threw this';

async function expectErrorPage(page: Page) {
  const title = 'Something went wrong in your browser';
  const { host } = new URL(site.url);
  await heading(page, title);
  await page.locator('.error-sentence').getByText(`${SENTENCE} ${host}`, { exact: true }).waitFor();
  expect(await page.title()).toBe(title);
  // The parts around the page are still there.
  expect(await page.getByRole('link', { name: 'All failures' }).isVisible()).toBe(true);
  expect(await page.content()).not.toContain(MESSAGE);
}

/** Follows a link from the page of all failures. */
async function goTo(path: string) {
  const visit = await site.openLive('/tour/failures');
  await markDocument(visit.page);
  await link(visit.page, path).click();
  return visit;
}

/** Expects that the page around an error still works. */
async function expectToGoOn(page: Page) {
  await link(page, 'Cards').click();
  await heading(page, 'Cards');
}

describe('an error in the browser', () => {
  test('in a component replaces the page, and shows its address below without a layout shift', async () => {
    const readPlace = (page: Page) =>
      page.evaluate(() => {
        const line = document.querySelector('.error-digest')?.getBoundingClientRect();
        return [line?.top, line?.height];
      });
    let before: unknown;
    const { page } = await site.open('/tour/fail/client', {
      isAlone: false,
      before: (page) =>
        page.route('**/_report', async (route) => {
          before = await readPlace(page);
          await route.continue();
        }),
    });
    await hydrated(page);
    await press(page, 'Throw in a component');
    await expectErrorPage(page);
    await page
      .getByRole('status')
      .filter({ hasText: /^Digest: [0-9A-Z]{8}-[0-9A-Z]{8}$/ })
      .waitFor();
    expect(await readPlace(page)).toEqual(before);
    await expectToGoOn(page);
  });

  test.each(['/tour/fail/effect', '/tour/fail/chunk'])('%s replaces the page', async (path) => {
    const { page } = await site.open(path);
    await expectErrorPage(page);
  });
});

describe('a control-flow response', () => {
  test('that redirects late redirects a document, and a navigation without a document load', async () => {
    const { page, complaints } = await site.open('/tour/late-redirect');
    await page.waitForURL('**/tour/streaming');
    await heading(page, 'Streaming');
    expect(complaints).toEqual([]);
    const other = await goTo('/tour/late-redirect');
    await other.page.waitForURL('**/tour/streaming');
    await heading(other.page, 'Streaming');
    expect(await isSameDocument(other.page)).toBe(true);
    await other.page.goBack();
    await heading(other.page, 'Failures');
  });

  test('notFound() that is late is shown in place, and asks crawlers not to index the page', async () => {
    const robots = (page: Page) => page.locator('meta[name=robots][content=noindex]').count();
    const { page } = await site.openLive('/tour/late-not-found');
    expect(await page.getByRole('alert').innerText()).toBe('This could not be found.');
    expect(await robots(page)).toBeGreaterThan(0);
    const other = await goTo('/tour/late-not-found');
    await shows(other.page, 'This could not be found.');
    expect(await robots(other.page)).toBe(1);
    await expectToGoOn(other.page);
    expect(await robots(other.page)).toBe(0);
  });
});
