import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { heading, hold, isSameDocument, link, markDocument, press, useSite } from '../site.ts';

const site = useSite();

const SHELL = '/_data/tour/shell';
const HOLES = '/_data/tour/shell?_holes=';

const waiting = (page: Page) => page.locator('#visit').getByText('Looking at your request');
const hole = (page: Page) => page.locator('#visit').getByText('your browser asks for').innerText();
const renderedAt = (page: Page) => page.locator('#rendered-at').getAttribute('datetime');
const pathsOf = (data: readonly { path: string; isPrefetch: boolean }[]) =>
  data.map(({ path, isPrefetch }) => (isPrefetch ? `prefetch ${path}` : path)).filter((path) => path.includes('shell'));

async function renderAgain(page: Page): Promise<void> {
  const before = await renderedAt(page);
  await press(page, 'Render the shell again');
  await expect.poll(() => renderedAt(page)).not.toBe(before);
}

test('a shell page shows two visitors the same shell and only their own hole, under the enforced policy', async () => {
  const locales = ['de-CH', 'pt-BR'] as const;
  const visits = await Promise.all(locales.map((locale) => site.openLive('/tour/shell', { locale })));
  for (const [index, { page, complaints, documents }] of visits.entries()) {
    expect(await hole(page)).toContain(locales[index]);
    expect(await page.content()).not.toContain(locales[1 - index]);
    expect([complaints, documents]).toEqual([[], ['/tour/shell']]);
  }
  const [one, other] = visits.map(({ page }) => page) as [Page, Page];
  expect(await renderedAt(one)).toBe(await renderedAt(other));
  // revalidate() renders it again for everyone.
  await renderAgain(one);
  await other.reload();
  expect(await renderedAt(one)).toBe(await renderedAt(other));
});

test('a navigation to a shell page shows the prefetched shell immediately, and fetches only its hole, also after Back', async () => {
  const { page, data, complaints } = await site.openLive('/tour/cards', { locale: 'de-CH' });
  await markDocument(page);
  const release = await hold(page, `**${HOLES}`);
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

  const count = () => page.locator('#visit strong').nth(1).innerText();
  const before = await count();
  await link(page, 'Cards').click();
  await heading(page, 'Cards');
  await page.goBack();
  await heading(page, 'Shell');
  await expect.poll(count).not.toBe(before);
  expect(pathsOf(data).filter((path) => path === HOLES)).toHaveLength(2);
  expect([await isSameDocument(page), complaints]).toEqual([true, []]);
});
