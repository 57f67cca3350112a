import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { exchanged, heading, isSameDocument, markDocument, useSite } from '../site.ts';

const site = useSite();

const SHELL = '/_data/tour/shell';
const HOLES = '/_data/tour/shell?_holes=';

const waiting = (page: Page) => page.locator('#visit').getByText('Looking at your request');
const hole = (page: Page) => page.locator('#visit').getByText('your browser asks for').innerText();
const pathsOf = (data: readonly { path: string; isPrefetch: boolean }[]) =>
  data.map(({ path, isPrefetch }) => (isPrefetch ? `prefetch ${path}` : path)).filter((path) => path.includes('shell'));

/** Records the texts of the hole, of which the first is visible for less than a second. */
function recordVisit(page: Page) {
  return page.addInitScript(() => {
    const shown: string[] = [];
    Object.assign(window, { shown });
    new MutationObserver(() => {
      const text = document.querySelector('#rendered-at') && document.querySelector('#visit')?.textContent?.trim();
      if (text && text !== shown.at(-1)) shown.push(text);
    }).observe(document, { childList: true, subtree: true });
  });
}

describe('a shell page', () => {
  test('shows two visitors at the same time only their own hole, under the enforced policy', async () => {
    const visits = await Promise.all(['de-CH', 'pt-BR'].map((locale) => site.open('/tour/shell', { locale })));
    for (const [index, { page, complaints, documents }] of visits.entries()) {
      await exchanged(page);
      expect(await hole(page)).toContain(index === 0 ? 'de-CH' : 'pt-BR');
      expect(await page.content()).not.toContain(index === 0 ? 'pt-BR' : 'de-CH');
      expect(complaints).toEqual([]);
      expect(documents).toEqual(['/tour/shell']);
    }
    const times = await Promise.all(visits.map(({ page }) => page.locator('#rendered-at').innerText()));
    expect(times[0]).toBe(times[1]);
  });

  test('shows its shell before its hole', async () => {
    const { page } = await site.open('/tour/shell', { before: recordVisit });
    await hole(page);
    expect(await waiting(page).count()).toBe(0);
    expect(await page.evaluate(() => (window as unknown as { shown: string[] }).shown)).toEqual([
      expect.stringContaining('Looking at your request'),
      expect.stringContaining('your browser asks for'),
    ]);
  });

  test('is complete without JavaScript, and its form works', async () => {
    const { page } = await site.open('/tour/shell', { javaScriptEnabled: false, locale: 'de-CH' });
    await page.waitForURL('**/tour/shell?_whole=1');
    expect(await hole(page)).toContain('de-CH');
    const before = await page.locator('#rendered-at').innerText();
    await page.getByRole('button', { name: 'Render the shell again' }).click();
    await expect.poll(() => page.locator('#rendered-at').innerText()).not.toBe(before);
  });

  test('is rendered again for everyone after revalidate()', async () => {
    const { page, complaints, documents } = await site.open('/tour/shell');
    await exchanged(page);
    const before = await page.locator('#rendered-at').innerText();
    await page.getByRole('button', { name: 'Render the shell again' }).click();
    await expect.poll(() => page.locator('#rendered-at').innerText()).not.toBe(before);
    const other = await site.open('/tour/shell');
    expect(await other.page.locator('#rendered-at').innerText()).toBe(await page.locator('#rendered-at').innerText());
    expect(complaints).toEqual([]);
    expect(documents).toEqual(['/tour/shell']);
  });
});

describe('a navigation to a shell page', () => {
  const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });

  test('shows the prefetched shell at once, and fetches only its hole', async () => {
    const { page, data, complaints } = await site.open('/tour/cards', { locale: 'de-CH' });
    await exchanged(page);
    await markDocument(page);
    const { promise: shown, resolve: release } = Promise.withResolvers<void>();
    await page.route(`**${HOLES}`, async (route) => {
      await shown;
      await route.continue();
    });
    const prefetched = page.waitForResponse((response) => response.url().endsWith(SHELL));
    await link(page, 'Shell').hover();
    await (await prefetched).finished();
    expect(pathsOf(data)).toEqual([`prefetch ${SHELL}`]);
    await link(page, 'Shell').click();
    await heading(page, 'Shell');
    await waiting(page).waitFor();
    release();
    expect(await hole(page)).toContain('de-CH');
    expect(pathsOf(data)).toEqual([`prefetch ${SHELL}`, HOLES]);

    await link(page, 'Cards').click();
    await heading(page, 'Cards');
    await link(page, 'Shell').click();
    await heading(page, 'Shell');
    expect(await hole(page)).toContain('de-CH');
    expect(pathsOf(data)).toEqual([`prefetch ${SHELL}`, HOLES, HOLES]);
    expect(await isSameDocument(page)).toBe(true);
    expect(complaints).toEqual([]);
  });

  test('fetches both at the same time if nothing was prefetched', async () => {
    const { page, data, complaints } = await site.open('/tour/cards');
    await exchanged(page);
    await page.getByRole('link', { name: 'Shell', exact: true }).dispatchEvent('click');
    await heading(page, 'Shell');
    await hole(page);
    expect(pathsOf(data).sort()).toEqual([SHELL, HOLES]);
    expect(complaints).toEqual([]);
  });

  test('gets the shell from the cache of the browser with a 304, and never the hole', async () => {
    const { page } = await site.open('/tour/cards');
    await exchanged(page);
    const statuses = await page.evaluate(
      async ([shell, holes]) => {
        const answers: string[] = [];
        for (const url of [shell, shell, holes, holes]) {
          const response = await fetch(url ?? '');
          await response.text();
          const size = (performance.getEntriesByName(response.url).at(-1) as PerformanceResourceTiming).encodedBodySize;
          answers.push(`${response.status} ${response.headers.get('Cache-Control')} ${size > 0}`);
        }
        return answers;
      },
      [SHELL, HOLES],
    );
    expect(statuses).toEqual([
      '200 private, no-cache true',
      '200 private, no-cache true',
      '200 no-store true',
      '200 no-store true',
    ]);
    const log = () =>
      site.server
        .log()
        .split('\n')
        .filter((line) => line.includes(`"${SHELL}"`));
    await expect.poll(() => log().some((line) => line.includes('"status":304'))).toBe(true);
  });

  test('shows a new hole after Back', async () => {
    const { page, data } = await site.open('/tour/shell');
    await exchanged(page);
    const count = () => page.locator('#visit strong').nth(1).innerText();
    const before = await count();
    await link(page, 'Cards').click();
    await heading(page, 'Cards');
    await page.goBack();
    await heading(page, 'Shell');
    await expect.poll(count).not.toBe(before);
    expect(pathsOf(data)).toContain(HOLES);
  });

  test.each([
    ['the connection is lost', 'abort'],
    ['the server is overloaded', 503],
  ] as const)('keeps the shell if %s', async (_why, failure) => {
    const { page, data } = await site.open('/tour/cards');
    await exchanged(page);
    await page.route(`**${HOLES}`, (route) =>
      failure === 'abort' ? route.abort() : route.fulfill({ status: failure, body: '{"busy":true}' }),
    );
    await link(page, 'Shell').click();
    await page.locator('#visit').getByRole('alert').waitFor();
    expect(await page.locator('#rendered-at').count()).toBe(1);
    expect(pathsOf(data).filter((path) => path === HOLES).length).toBeLessThanOrEqual(4);
  });
});
