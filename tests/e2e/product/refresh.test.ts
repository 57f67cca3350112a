import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { exchanged, heading, hold, useSite } from '../site.ts';

const site = useSite();

const HOME = 'React, streamed by Express';

const click = (page: Page, name: string) =>
  page
    .getByRole('link', { name, exact: true })
    .first()
    .evaluate((link: HTMLElement) => link.click());

describe('Back', () => {
  test.each(['/', '/tour/cards'])('sends only a HEAD request if nothing has changed, beginning at %s', async (from) => {
    const { page, data } = await site.openLive(from);
    for (const name of from === '/' ? ['Cards', 'API'] : ['API']) {
      await click(page, name);
      await heading(page, name);
    }
    data.length = 0;
    await page.goBack();
    await heading(page, 'Cards');
    await expect.poll(() => data.length).toBe(1);
    await page.waitForTimeout(300);
    expect(data.map(({ method, path }) => `${method} ${path}`)).toEqual(['HEAD /_data/tour/cards']);
  });

  test('shows the previous data immediately, and fetches changes in the background', async () => {
    const { page, data, complaints } = await site.openLive('/');
    const time = await page.locator('time').innerText();
    await click(page, 'API');
    await heading(page, 'API');
    // The page shows seconds, so it is different after this one.
    await expect.poll(() => new Date().toISOString()).not.toContain(time.slice(0, 8));
    data.length = 0;
    const release = await hold(page, '**/_data/');
    await page.goBack();
    await heading(page, HOME);
    expect(await page.locator('time').innerText()).toBe(time);
    release();
    await expect.poll(() => page.locator('time').innerText()).not.toBe(time);
    expect(data.map(({ method, path }) => `${method} ${path}`)).toEqual(['HEAD /_data/', 'GET /_data/']);
    expect(complaints).toEqual([]);
  });
});

test.each([
  ['/tour/cards', '00:20', '00:15'],
  ['/tour/static', '04:30', '00:45'],
])('a return to the tab at %s checks the page when it is stale, and not before', async (path, fresh, more) => {
  const { page, data } = await site.open(path, { before: (page) => page.clock.install() });
  await page.clock.runFor(100);
  await exchanged(page);
  const focus = () => page.evaluate(() => void dispatchEvent(new Event('focus')));
  await page.clock.fastForward(fresh);
  await focus();
  await page.waitForTimeout(150);
  expect(data).toEqual([]);
  await page.clock.fastForward(more);
  await focus();
  await expect.poll(() => data.map(({ method }) => method)).toEqual(['HEAD']);
  await focus();
  await page.waitForTimeout(150);
  expect(data).toHaveLength(1);
});
