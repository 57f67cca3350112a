import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { exchanged, heading, hydrated, useSite } from '../site.ts';

const site = useSite();

const SENTENCE = 'Application error: a client-side exception has occurred while loading the host';
const ADDRESS = /^[0-9A-HJKMNP-TV-Z]{8}-[0-9A-HJKMNP-TV-Z]{8}$/;
/** Begins every message that the tour throws. */
const MESSAGE = 'The tour threw this';

async function expectErrorPage(page: Page, side: 'on our side' | 'in your browser') {
  const host = new URL(site.url).host;
  await page.getByRole('heading', { level: 1, name: `Something went wrong ${side}`, exact: true }).waitFor();
  await page.locator('.error-sentence').getByText(`${SENTENCE} ${host}`, { exact: true }).waitFor();
  expect(await page.title()).toBe(`${SENTENCE} ${host}`);
  // The parts around the page are still there.
  expect(await page.getByRole('navigation', { name: 'Tour' }).isVisible()).toBe(true);
  expect(await page.getByRole('link', { name: 'All failures' }).isVisible()).toBe(true);
  expect(await page.content()).not.toContain(MESSAGE);
}

async function goTo(path: string) {
  const visit = await site.open('/tour/failures');
  await exchanged(visit.page);
  await visit.page.getByRole('link', { name: path }).click();
  await visit.page.waitForURL(`**${path}`);
  return visit;
}

/** Expects that the page around an error still works. */
async function expectToGoOn(page: Page) {
  await page.getByRole('link', { name: 'Cards', exact: true }).click();
  await heading(page, 'Cards');
}

describe('an error in the browser', () => {
  test('in an event handler does not change the page', async () => {
    const { page, complaints, failures } = await site.open('/tour/fail/client');
    await hydrated(page);
    expect(await failures()).toEqual([]);
    complaints.length = 0; // failures() throws an error itself
    await page.getByRole('button', { name: 'Throw in an event handler' }).click();
    await expect.poll(() => complaints).toEqual([`page error: ${MESSAGE} in an event handler.`]);
    expect(await failures()).toEqual([
      expect.stringMatching(/^[0-9A-Z]{8} Error: The tour threw this in an event handler/),
    ]);
    await heading(page, 'Errors in the browser');
    await expectToGoOn(page);
  });

  test('in a component replaces the page, and shows its address below without a layout shift', async () => {
    const { page } = await site.open('/tour/fail/client', {
      before: (page) =>
        page.route('**/_report', async (route) => {
          const [header = '{}'] = route.request().postData()?.split('\n') ?? [];
          const { event_id: id } = JSON.parse(header) as { event_id?: string };
          await page.evaluate(() => {
            const line = document.querySelector('.error-digest')?.getBoundingClientRect();
            (window as { place?: unknown }).place = [line?.top, line?.height];
          });
          await route.fulfill({ json: { id, digest: '7K3QM2XA' } });
        }),
    });
    await hydrated(page);
    await page.getByRole('button', { name: 'Throw in a component' }).click();
    await expectErrorPage(page, 'in your browser');
    await page
      .getByRole('status')
      .filter({ hasText: /^Digest: 7K3QM2XA-[0-9A-Z]{8}$/ })
      .waitFor();
    const place = await page.evaluate(() => {
      const line = document.querySelector('.error-digest')?.getBoundingClientRect();
      return [line?.top, line?.height];
    });
    expect(place).toEqual(await page.evaluate(() => (window as { place?: unknown }).place));
    await expectToGoOn(page);
  });

  test.each(['/tour/fail/effect', '/tour/fail/chunk'])(
    '%s replaces the page, in a document and after a navigation',
    async (path) => {
      const { page } = await site.open(path);
      await expectErrorPage(page, 'in your browser');
      await expectToGoOn(page);
      const other = await goTo(path);
      await expectErrorPage(other.page, 'in your browser');
      // A lost chunk can be of a build that is gone, so the document is loaded once more.
      expect(other.documents).toEqual(['/tour/failures', ...(path.endsWith('chunk') ? [path] : [])]);
      await expectToGoOn(other.page);
    },
  );

  test('during hydration is recovered by rendering in the browser', async () => {
    const { page, complaints } = await site.open('/tour/fail/hydration');
    await page.getByText('Rendered by the browser.').waitFor();
    expect(complaints).toEqual([expect.stringContaining('error #418')]);
    await expectToGoOn(page);
  });
});

describe('an error on the server', () => {
  test.each(['/tour/fail/loader', '/tour/fail/render'])(
    '%s answers 500 with an address and no details of the error',
    async (path) => {
      const { page } = await site.open('/tour/api');
      const response = await page.goto(path);
      expect(response?.status()).toBe(500);
      const address = response?.headers()['x-error-digest'] ?? '';
      expect(address).toMatch(ADDRESS);
      expect(await response?.text()).not.toContain(MESSAGE);
      await hydrated(page);
      await expectErrorPage(page, 'on our side');
      expect(await page.locator('main code').innerText()).toBe(address);
      expect(await page.locator('meta[name=robots][content=noindex]').count()).toBe(1);
      await expectToGoOn(page);
    },
  );

  test('in a loader shows its address after a navigation too', async () => {
    const { page, documents, data } = await goTo('/tour/fail/loader');
    await expectErrorPage(page, 'on our side');
    const address = await page.locator('main code').innerText();
    expect(address).toMatch(ADDRESS);
    // The browser requests the data three times, but the failure counts once.
    expect(data.filter(({ path }) => path === '/_data/tour/fail/loader')).toHaveLength(3);
    const failed = site.server
      .log()
      .split('\n')
      .filter((line) => line.includes('"msg":"A request failed."'));
    const lines = failed.map((line) => JSON.parse(line) as { digest: string; occurrence: string; requestId: string });
    const known = lines.find(({ digest, occurrence }) => `${digest}-${occurrence}` === address);
    const after = lines.slice(lines.indexOf(known as (typeof lines)[number]) + 1);
    expect(known).toBeDefined();
    expect(after).toEqual([]);
    expect(documents).toEqual(['/tour/failures']);
    await expectToGoOn(page);
  });

  test('in a component is a browser failure after a navigation', async () => {
    const { page, documents } = await goTo('/tour/fail/render');
    await expectErrorPage(page, 'in your browser');
    expect(documents).toEqual(['/tour/failures']);
  });

  test('in a deferred value shows its address in place, after a navigation too', async () => {
    const { page, data } = await goTo('/tour/fail/late');
    await heading(page, 'A promise that is rejected');
    await page.getByText(/This could not be loaded\. Digest: [0-9A-Z]{8}-[0-9A-Z]{8}/).waitFor();
    expect(await page.content()).not.toContain(MESSAGE);
    expect(data).toHaveLength(1);
  });
});

describe('a control-flow response', () => {
  const outcomes = [
    ['/tour/fail/unauthorized', 401, 'Sign in first'],
    ['/tour/fail/forbidden', 403, 'Not allowed'],
    ['/tour/fail/not-found', 404, 'Page not found'],
  ] as const;

  test.each(outcomes)('%s answers %i with its title', async (path, status, title) => {
    const { page } = await site.open('/tour/api');
    const response = await page.goto(path);
    expect(response?.status()).toBe(status);
    expect(response?.headers()['x-error-digest']).toBeUndefined();
    await hydrated(page);
    await heading(page, title);
    expect(await page.title()).toBe(title);
    await expectToGoOn(page);
  });

  test.each(outcomes)('%s shows its title after a navigation', async (path, _status, title) => {
    const { page, documents } = await goTo(path);
    await heading(page, title);
    expect(documents).toEqual(['/tour/failures']);
    await expectToGoOn(page);
  });
});
