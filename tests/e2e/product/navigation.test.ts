import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { exchanged, heading, isSameDocument, link, markDocument, shows, useSite } from '../site.ts';

const site = useSite();

async function openLive(path: string) {
  const visit = await site.openLive(path);
  await markDocument(visit.page);
  return visit;
}

const nav = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Tour' }).getByRole('link', { name, exact: true });
const readScroll = (page: Page) => page.evaluate(() => Math.round(scrollY));
const isScrolledTo = (page: Page, y: number) =>
  page.waitForFunction((wanted) => Math.abs(scrollY - wanted) < 3, y, { polling: 50 });
const isAtTop = (page: Page, id: string) =>
  page.waitForFunction(
    (target) => Math.abs(document.getElementById(target)?.getBoundingClientRect().top ?? 999) < 5,
    id,
    { polling: 50 },
  );
const isAnnounced = (page: Page, title: string) =>
  page.waitForFunction((said) => document.querySelector('body > [role=status]')?.textContent === said, title, {
    polling: 50,
  });

/** Adds a link that is not prefetched, and clicks it. */
async function follow(page: Page, href: string): Promise<void> {
  await page.evaluate((to) => {
    const link = document.createElement('a');
    Object.assign(link, { href: to, textContent: 'Added' });
    link.setAttribute('data-link', 'none');
    document.querySelector('main')?.append(link);
  }, href);
  await link(page, 'Added').click();
}

test('a link shows the next page without a document load, with one request for its data, and moves focus and title', async () => {
  const { page, complaints, documents, data } = await openLive('/');
  expect(await page.locator('body > [role=status]').textContent()).toBe('');
  for (const name of ['Layouts', 'Navigation', 'Forms', 'Static', 'Cards', 'API', 'Failures']) {
    data.length = 0;
    await nav(page, name).click();
    await heading(page, name);
    await isAnnounced(page, `${name} · Spillway`);
    await page.waitForFunction(() => document.activeElement === document.querySelector('main'), undefined, {
      polling: 50,
    });
    const path = new URL(page.url()).pathname;
    expect(data.filter((request) => request.path === `/_data${path}`)).toHaveLength(1);
  }
  await page.goBack();
  await isAnnounced(page, 'API · Spillway');
  await page.goBack();
  await heading(page, 'Cards');
  await page.goForward();
  await heading(page, 'API');
  expect([await isSameDocument(page), documents, complaints]).toEqual([true, ['/'], []]);
});

test('a link replaces only the page inside a layout, also with a not-found page', async () => {
  const { page, documents } = await openLive('/tour/layout');
  await page.locator('main h1').evaluate((element) => element.setAttribute('data-stays', ''));
  await page.getByLabel('A field in the layout').fill('Water is patient.');
  for (const [name, title] of [
    ['Arch dam', 'Arch dam'],
    ['A dam that does not exist', 'There is no such dam'],
    ['Gravity dam', 'Gravity dam'],
  ] as const) {
    await page.getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 2, name: title }).waitFor();
  }
  expect(await page.locator('main h1[data-stays]').count()).toBe(1);
  expect(await page.getByLabel('A field in the layout').inputValue()).toBe('Water is patient.');
  expect(documents).toEqual(['/tour/layout']);
});

test('a link to a path that is not a page loads a document', async () => {
  const { page, documents } = await openLive('/');
  await follow(page, '/robots.txt');
  await page.waitForURL('**/robots.txt');
  expect(documents).toEqual(['/', '/robots.txt']);
});

test('a link opened in a new tab, or with another button, is left to the browser', async () => {
  const { page, data } = await openLive('/');
  const taken = await nav(page, 'Cards').evaluate((link) => {
    const results: boolean[] = [];
    addEventListener('click', (event) => {
      results.push(event.defaultPrevented);
      event.preventDefault(); // do not open a tab
    });
    for (const how of [{ ctrlKey: true }, { metaKey: true }, { shiftKey: true }, { altKey: true }, { button: 1 }, {}]) {
      link.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ...how }));
    }
    return results;
  });
  expect(taken).toEqual([false, false, false, false, false, true]);
  await heading(page, 'Cards');
  expect(data).toHaveLength(1);
});

describe('a hash link', () => {
  test.each([
    ['A hash, by Link', 'weir'],
    ['a hash, by a plain link', 'ferry'],
  ])('(%s) on the same page scrolls to its target without a request', async (name, id) => {
    const { page, data, documents } = await openLive('/tour/navigation');
    await page.waitForTimeout(100);
    data.length = 0;
    await page.getByRole('link', { name }).scrollIntoViewIfNeeded();
    const left = await readScroll(page);
    await page.getByRole('link', { name }).click();
    await page.waitForURL(`**#${id}`);
    await isAtTop(page, id);
    await shows(page, `it is #${id} to React Router`);
    expect(data.filter((request) => request.path.includes('navigation'))).toEqual([]);
    expect(documents).toEqual(['/tour/navigation']);
    await page.goBack();
    await isScrolledTo(page, left);
  });

  test('that is plain scrolls as the browser does: to its target each time, and to the top without a name', async () => {
    const { page, documents } = await openLive('/tour/navigation');
    const ferry = page.getByRole('link', { name: 'a hash, by a plain link' });
    for (const from of [0, 40]) {
      await page.evaluate((y) => scrollTo(0, y), from);
      await ferry.evaluate((link: HTMLElement) => link.click());
      await shows(page, 'it is #ferry to React Router');
      await isAtTop(page, 'ferry');
    }
    const left = await readScroll(page);
    for (const [hash, y] of [
      ['#tab=2', left],
      ['#', 0],
    ] as const) {
      await page.evaluate((to) => Object.assign(document.createElement('a'), { href: to }).click(), hash);
      await page.waitForTimeout(100);
      await expect.poll(() => readScroll(page)).toBe(y);
    }
    await page.goBack();
    await page.goBack();
    await isAtTop(page, 'ferry');
    expect(documents).toEqual(['/tour/navigation']);
  });

  test('to another page scrolls to its target there, and focuses it', async () => {
    const { page, documents } = await openLive('/');
    await follow(page, '/tour/navigation#meadows');
    await heading(page, 'Navigation');
    await isAtTop(page, 'meadows');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('meadows');
    expect(documents).toEqual(['/']);
  });
});

describe('scrolling', () => {
  test('starts at the top of a new page, and Back returns to where it was', async () => {
    const { page } = await openLive('/tour/navigation');
    await page.getByRole('link', { name: 'Leave at Meadows' }).scrollIntoViewIfNeeded();
    await page.waitForFunction(() => scrollY > 300, undefined, { polling: 50 });
    const left = await readScroll(page);
    await link(page, 'Leave at Meadows').click();
    await heading(page, 'Cards');
    await isScrolledTo(page, 0);
    await page.goBack();
    await heading(page, 'Navigation');
    await isScrolledTo(page, left);
  });

  test('is where it was after a reload, and when Back returns to an entry from before one', async () => {
    const { page } = await openLive('/tour/navigation');
    await page.evaluate(() => scrollTo(0, 600));
    await isScrolledTo(page, 600);
    await page.reload();
    await exchanged(page);
    await isScrolledTo(page, 600);
    await nav(page, 'Cards').evaluate((link: HTMLElement) => link.click());
    await heading(page, 'Cards');
    await page.reload();
    await exchanged(page);
    await page.goBack();
    await heading(page, 'Navigation');
    await isScrolledTo(page, 600);
  });
});
