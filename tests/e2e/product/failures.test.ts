import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { heading, hydrated, link, press, useSite } from '../site.ts';

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
