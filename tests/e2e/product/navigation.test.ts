import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { exchanged, heading, isSameDocument, markDocument, useSite } from '../site.ts';

const site = useSite();

async function openLive(path: string) {
  const visit = await site.open(path);
  await exchanged(visit.page);
  await markDocument(visit.page);
  return visit;
}

function nav(page: Page, name: string) {
  return page.getByRole('navigation', { name: 'Tour' }).getByRole('link', { name, exact: true });
}

const readScroll = (page: Page) => page.evaluate(() => Math.round(scrollY));

describe('a link', () => {
  test('shows the next page without a document load, with one request for its data', async () => {
    const { page, complaints, documents, data } = await openLive('/');
    for (const [name, title] of [
      ['Layouts', 'Layouts'],
      ['Navigation', 'Navigation'],
      ['Forms', 'Forms'],
      ['Static', 'Static'],
      ['Cards', 'Cards'],
      ['API', 'API'],
      ['Failures', 'Failures'],
    ] as const) {
      data.length = 0;
      await nav(page, name).click();
      await heading(page, title);
      await page.waitForFunction((start) => document.title.startsWith(start), title);
      const path = new URL(page.url()).pathname;
      expect(data.filter((request) => request.path === `/_data${path}`)).toHaveLength(1);
    }
    expect(await isSameDocument(page)).toBe(true);
    expect(documents).toEqual(['/']);
    expect(complaints).toEqual([]);
  });

  test('replaces only the page inside a layout, also with a not-found page', async () => {
    const { page, documents } = await openLive('/tour/layout');
    await page.locator('main h1').evaluate((element) => element.setAttribute('data-stays', ''));
    await page.getByRole('link', { name: 'Arch dam' }).click();
    await page.getByRole('heading', { level: 2, name: 'Arch dam' }).waitFor();
    await page.getByRole('link', { name: 'A dam that does not exist' }).click();
    await page.getByRole('heading', { level: 2, name: 'There is no such dam' }).waitFor();
    await page.getByRole('link', { name: 'Gravity dam' }).click();
    await page.getByRole('heading', { level: 2, name: 'Gravity dam' }).waitFor();
    expect(await page.locator('main h1[data-stays]').count()).toBe(1);
    expect(documents).toEqual(['/tour/layout']);
  });

  test('to a path that is not a page loads a document', async () => {
    const { page, documents } = await openLive('/');
    await page.evaluate(() => {
      const link = document.createElement('a');
      link.href = '/robots.txt';
      link.textContent = 'Robots';
      link.setAttribute('data-link', 'intent');
      document.querySelector('main')?.append(link);
    });
    await page.getByRole('link', { name: 'Robots' }).click();
    await page.waitForURL('**/robots.txt');
    expect(documents).toEqual(['/', '/robots.txt']);
  });

  test('opened in a new tab, or with another button, is left to the browser', async () => {
    const { page, data } = await openLive('/');
    const taken = await nav(page, 'Cards').evaluate((link) => {
      const results: boolean[] = [];
      addEventListener('click', (event) => {
        results.push(event.defaultPrevented);
        event.preventDefault(); // do not open a tab
      });
      for (const how of [
        { ctrlKey: true },
        { metaKey: true },
        { shiftKey: true },
        { altKey: true },
        { button: 1 },
        {},
      ]) {
        link.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ...how }));
      }
      return results;
    });
    expect(taken).toEqual([false, false, false, false, false, true]);
    await heading(page, 'Cards');
    expect(data).toHaveLength(1);
  });
});

describe('Back and Forward', () => {
  test('show previous pages without a document load', async () => {
    const { page, documents, complaints } = await openLive('/');
    await nav(page, 'Cards').click();
    await heading(page, 'Cards');
    await nav(page, 'API').click();
    await heading(page, 'API');
    await page.goBack();
    await heading(page, 'Cards');
    await page.goBack();
    await heading(page, 'React, streamed by Express');
    await page.goForward();
    await heading(page, 'Cards');
    expect(await isSameDocument(page)).toBe(true);
    expect(documents).toEqual(['/']);
    expect(complaints).toEqual([]);
  });

  test('across a document load load documents that work', async () => {
    const { page } = await openLive('/tour/cards');
    await page.goto('/tour/api');
    await exchanged(page);
    await nav(page, 'Forms').click();
    await heading(page, 'Forms');
    await page.goBack();
    await heading(page, 'API');
    await page.goBack();
    await heading(page, 'Cards');
    await page.goForward();
    await heading(page, 'API');
  });
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
    await page.waitForFunction(
      (target) => Math.abs(document.getElementById(target)?.getBoundingClientRect().top ?? 999) < 5,
      id,
    );
    await page.getByText(`it is #${id} to React Router`).waitFor();
    expect(data.filter((request) => request.path.includes('navigation'))).toEqual([]);
    expect(documents).toEqual(['/tour/navigation']);
    await page.goBack();
    await page.waitForFunction((y) => Math.abs(scrollY - y) < 3, left);
  });

  test('to another page scrolls to its target there, and focuses it', async () => {
    const { page, documents } = await openLive('/');
    await page.evaluate(() => {
      const link = document.createElement('a');
      link.href = '/tour/navigation#meadows';
      link.textContent = 'The meadows';
      link.setAttribute('data-link', 'none');
      document.querySelector('main')?.append(link);
    });
    await page.getByRole('link', { name: 'The meadows' }).click();
    await heading(page, 'Navigation');
    await page.waitForFunction(
      () => Math.abs(document.getElementById('meadows')?.getBoundingClientRect().top ?? 999) < 5,
    );
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('meadows');
    expect(documents).toEqual(['/']);
  });
});

describe('scrolling', () => {
  test('starts at the top of a new page, and Back returns to where it was', async () => {
    const { page } = await openLive('/tour/navigation');
    await page.getByRole('link', { name: 'Leave at Meadows' }).scrollIntoViewIfNeeded();
    await page.waitForFunction(() => scrollY > 300);
    const left = await readScroll(page);
    await page.getByRole('link', { name: 'Leave at Meadows' }).click();
    await heading(page, 'Cards');
    await page.waitForFunction(() => scrollY === 0);
    await page.goBack();
    await heading(page, 'Navigation');
    await page.waitForFunction((y) => Math.abs(scrollY - y) < 3, left);
  });

  test('is where it was after a reload', async () => {
    const { page } = await openLive('/tour/navigation');
    await page.evaluate(() => scrollTo(0, 600));
    await page.waitForFunction(() => scrollY === 600);
    await page.reload();
    await exchanged(page);
    await page.waitForFunction(() => Math.abs(scrollY - 600) < 3);
  });

  test('is where it was when Back returns to an entry from before a reload', async () => {
    const { page } = await openLive('/tour/navigation');
    await page.evaluate(() => scrollTo(0, 700));
    await nav(page, 'Cards').evaluate((link: HTMLElement) => link.click());
    await heading(page, 'Cards');
    await page.reload();
    await exchanged(page);
    await page.goBack();
    await heading(page, 'Navigation');
    await page.waitForFunction(() => Math.abs(scrollY - 700) < 3);
  });
});

describe('for visitors who cannot see the page change', () => {
  test("focus moves to the new page's main part, and the title is announced", async () => {
    const { page } = await openLive('/');
    expect(await page.locator('body > [role=status]').textContent()).toBe('');
    await nav(page, 'Cards').click();
    await heading(page, 'Cards');
    await page.waitForFunction(() => document.activeElement === document.querySelector('main'));
    await page.waitForFunction(
      () => document.querySelector('body > [role=status]')?.textContent === 'Cards · Spillway',
    );
    await nav(page, 'API').click();
    await page.waitForFunction(() => document.querySelector('body > [role=status]')?.textContent === 'API · Spillway');
    await page.goBack();
    await page.waitForFunction(
      () => document.querySelector('body > [role=status]')?.textContent === 'Cards · Spillway',
    );
  });

  test('focus stays where it is while only the search changes', async () => {
    const { page } = await openLive('/tour/navigation');
    await page.getByRole('link', { name: 'Another search' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('it is ?from=spring').waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Another search');
  });
});
