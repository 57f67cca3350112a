import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { exchanged, heading, useSite } from '../site.ts';

const site = useSite();

function click(page: Page, name: string) {
  return page
    .getByRole('link', { name, exact: true })
    .first()
    .evaluate((link: HTMLElement) => link.click());
}

describe('Back', () => {
  test('sends only a HEAD request if nothing has changed', async () => {
    const { page, data } = await site.open('/tour/cards');
    await exchanged(page);
    await click(page, 'API');
    await heading(page, 'API');
    data.length = 0;
    await page.goBack();
    await heading(page, 'Cards');
    await expect.poll(() => data.map(({ method, path }) => `${method} ${path}`)).toEqual(['HEAD /_data/tour/cards']);
    await page.waitForTimeout(300);
    expect(data).toHaveLength(1);
  });

  test('sends only a HEAD request for a page that was loaded as page data, too', async () => {
    const { page, data } = await site.open('/');
    await exchanged(page);
    await click(page, 'Cards');
    await heading(page, 'Cards');
    await click(page, 'API');
    await heading(page, 'API');
    data.length = 0;
    await page.goBack();
    await heading(page, 'Cards');
    await expect.poll(() => data.length).toBe(1);
    await page.waitForTimeout(300);
    expect(data.map(({ method, path }) => `${method} ${path}`)).toEqual(['HEAD /_data/tour/cards']);
  });

  test('shows the previous data immediately, and fetches changes in the background', async () => {
    const { page, data, complaints } = await site.open('/');
    await exchanged(page);
    const time = await page.locator('time').innerText();
    await click(page, 'API');
    await heading(page, 'API');
    data.length = 0;
    await page.route('**/_data/', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    await page.goBack();
    await heading(page, 'React, streamed by Express');
    expect(await page.locator('time').innerText()).toBe(time);
    await expect.poll(() => page.locator('time').innerText()).not.toBe(time);
    expect(data.map(({ method, path }) => `${method} ${path}`)).toEqual(['HEAD /_data/', 'GET /_data/']);
    expect(complaints).toEqual([]);
  });
});

describe('a return to the tab', () => {
  async function openWithClock(path: string) {
    const visit = await site.open(path, { before: (page) => page.clock.install() });
    await visit.page.clock.runFor(3000);
    await exchanged(visit.page);
    return visit;
  }
  const focus = (page: Page) => page.evaluate(() => void dispatchEvent(new Event('focus')));

  test('sends a HEAD request when the page is stale, and not before', async () => {
    const { page, data } = await openWithClock('/tour/cards');
    await focus(page);
    await page.waitForTimeout(150);
    expect(data).toEqual([]);
    await page.clock.fastForward('00:31');
    await focus(page);
    await expect.poll(() => data.map(({ method }) => method)).toEqual(['HEAD']);
    await focus(page);
    await page.waitForTimeout(150);
    expect(data).toHaveLength(1);
  });

  test('fetches a stale page that has changed', async () => {
    const { page, data } = await openWithClock('/');
    const time = await page.locator('time').innerText();
    await page.clock.fastForward('00:31');
    await focus(page);
    await expect.poll(() => page.locator('time').innerText()).not.toBe(time);
    expect(data.map(({ method }) => method)).toEqual(['HEAD', 'GET']);
  });

  test('does not check a static page for 300 s', async () => {
    const { page, data } = await openWithClock('/tour/static');
    await page.clock.fastForward('04:50');
    await focus(page);
    await page.waitForTimeout(150);
    expect(data).toEqual([]);
    await page.clock.fastForward('00:15');
    await focus(page);
    await expect.poll(() => data.map(({ method }) => method)).toEqual(['HEAD']);
  });
});
