import type { Page, Request } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { heading, link, useSite } from '../site.ts';

const site = useSite();

/** Delays page data until `release()` is called. `open` has the requests without a response. */
async function hold(page: Page) {
  const open = new Set<Request>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/_data/**', async (route) => {
    open.add(route.request());
    await released;
    const response = await route.fetch();
    open.delete(route.request());
    await route.fulfill({ response }).catch(() => {}); // aborted by then
  });
  return { open, release };
}

describe('a hover', () => {
  test.each([
    ['is pending', true],
    ['has arrived', false],
  ])("that is followed by a click serves as the navigation's request, if its response %s", async (_, isHeld) => {
    const { page, data, documents } = await site.openLive('/');
    const { open, release } = await hold(page);
    // As soon as the data has arrived, the code of the page is prefetched too.
    const files = ['js', 'css'].map((type) => page.waitForRequest(new RegExp(`/assets/cards-[^/]+\\.${type}$`)));
    await link(page, 'Cards').hover();
    await expect.poll(() => open.size).toBe(1);
    if (!isHeld) {
      const answered = page.waitForEvent('requestfinished');
      release();
      await answered;
      await Promise.all(files);
    }
    await link(page, 'Cards').click();
    release();
    await heading(page, 'Cards');
    expect(data).toEqual([{ method: 'GET', path: '/_data/tour/cards', isPrefetch: true }]);
    expect(documents).toEqual(['/']);
  });

  test('that only crosses a link sends no request, and leaving a link aborts its request', async () => {
    const { page, data } = await site.openLive('/', { before: (page) => page.clock.install() });
    await page.clock.pauseAt(Date.now() + 60_000);
    data.length = 0;
    await hold(page);
    await link(page, 'Cards').hover();
    await page.clock.runFor(40);
    await page.mouse.move(500, 690);
    await page.clock.runFor(150);
    expect(data).toEqual([]);

    const failed = page.waitForEvent('requestfailed');
    await link(page, 'Cards').hover();
    await page.clock.runFor(60);
    await expect.poll(() => data.length).toBe(1);
    await page.mouse.move(500, 690);
    expect((await failed).url()).toContain('/_data/tour/cards');
  });
});

test('a link is prefetched at render, on intent, in the viewport or never', async () => {
  const { page, data } = await site.openLive('/tour/navigation');
  const expectPaths = (...paths: string[]) =>
    expect.poll(() => data.map(({ path }) => path)).toEqual(paths.map((path) => `/_data/tour/${path}`));
  await expectPaths('layout/arch');
  await link(page, 'Never').hover();
  await page.waitForTimeout(200);
  await link(page, 'On intent').focus();
  await expectPaths('layout/arch', 'layout');
  await link(page, 'Prefetched when you see it').scrollIntoViewIfNeeded();
  await expectPaths('layout/arch', 'layout', 'static');
  // A pager keeps its links and changes their URLs.
  await link(page, 'Prefetched when you see it').evaluate((anchor: HTMLAnchorElement) => {
    anchor.href = '/tour/cards';
  });
  await expectPaths('layout/arch', 'layout', 'static', 'cards');
  expect(data.every(({ isPrefetch }) => isPrefetch)).toBe(true);
});

test('nothing is prefetched if the visitor saves data', async () => {
  const { page, data } = await site.openLive('/tour/navigation', {
    before: (page) =>
      page.addInitScript(() =>
        Object.defineProperty(Navigator.prototype, 'connection', { get: () => ({ saveData: true }) }),
      ),
  });
  await link(page, 'On intent').hover();
  await page.waitForTimeout(300);
  expect(data).toEqual([]);
});
