import type { Page, Request } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { exchanged, heading, useSite } from '../site.ts';

const site = useSite();

async function openLive(path: string) {
  const visit = await site.open(path);
  await exchanged(visit.page);
  return visit;
}

function link(page: Page, name: string) {
  return page.getByRole('link', { name, exact: true }).first();
}

/** Delays page data until `release()` is called, and counts the requests without a response. */
async function hold(page: Page) {
  const open = new Set<Request>();
  const seen = { open: 0, most: 0, all: 0 };
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  function end(request: Request): void {
    open.delete(request);
    seen.open = open.size;
  }
  page.on('requestfailed', end);
  await page.route('**/_data/**', async (route) => {
    open.add(route.request());
    seen.all++;
    seen.open = open.size;
    seen.most = Math.max(seen.most, open.size);
    await released;
    const response = await route.fetch();
    end(route.request());
    await route.fulfill({ response }).catch(() => {}); // aborted by then
  });
  return { seen, release };
}

/** Adds visible links to the top of the page. */
function addLinks(page: Page, prefetch: string, paths: readonly string[]) {
  return page.evaluate(
    ([kind, hrefs]) => {
      const box = document.createElement('p');
      for (const href of hrefs) {
        const anchor = document.createElement('a');
        anchor.href = href;
        anchor.textContent = `to ${href}`;
        anchor.setAttribute('data-link', kind);
        box.append(anchor, ' ');
      }
      document.body.prepend(box);
    },
    [prefetch, paths] as const,
  );
}

const gauges = (count: number) => Array.from({ length: count }, (_, index) => `/tour/cards?gauge=${index}`);

describe('the queue of prefetches', () => {
  test('never has more than five requests in flight', async () => {
    const { page, data } = await openLive('/');
    const { seen, release } = await hold(page);
    await addLinks(page, 'viewport', gauges(13));
    await expect.poll(() => seen.open).toBe(5);
    release();
    await expect.poll(() => seen.all).toBe(13);
    expect(seen.most).toBe(5);
    expect(data.every(({ isPrefetch }) => isPrefetch)).toBe(true);
  });

  test('stays at five while a pointer crosses many links', async () => {
    const { page } = await openLive('/');
    const { seen } = await hold(page);
    await addLinks(page, 'viewport', gauges(8));
    for (const name of ['Streaming', 'Layouts', 'Navigation', 'Forms', 'Static', 'Cards', 'API', 'Failures']) {
      await link(page, name).hover();
      await page.waitForTimeout(60);
    }
    expect(seen.most).toBeLessThanOrEqual(5);
    expect(seen.all).toBeGreaterThanOrEqual(5);
  });

  test('does not delay a navigation', async () => {
    const { page, data } = await openLive('/');
    const { seen, release } = await hold(page);
    await addLinks(page, 'viewport', gauges(10));
    await expect.poll(() => seen.open).toBe(5);
    await link(page, 'API').evaluate((anchor: HTMLElement) => anchor.click());
    await expect.poll(() => data.some(({ path, isPrefetch }) => path === '/_data/tour/api' && !isPrefetch)).toBe(true);
    release();
    await heading(page, 'API');
    expect(data.length).toBeLessThan(11); // queued ones were dropped
  });

  test('sends one request for a page that several links lead to', async () => {
    const { page, data } = await openLive('/');
    await hold(page);
    await addLinks(page, 'viewport', ['/tour/cards', '/tour/cards', '/tour/cards#gauge']);
    await link(page, 'Cards').hover();
    await expect.poll(() => data.length).toBe(1);
    await link(page, 'API').hover();
    await expect.poll(() => data.map(({ path }) => path)).toEqual(['/_data/tour/cards', '/_data/tour/api']);
  });
});

describe('a hover', () => {
  test.each([
    ['is pending', true],
    ['has arrived', false],
  ])("that is followed by a click serves as the navigation's request, if its response %s", async (_, isHeld) => {
    const { page, data, documents } = await openLive('/');
    const { seen, release } = await hold(page);
    await link(page, 'Cards').hover();
    await expect.poll(() => seen.open).toBe(1);
    if (!isHeld) {
      const answered = page.waitForEvent('requestfinished');
      release();
      await answered;
    }
    await link(page, 'Cards').click();
    release();
    await heading(page, 'Cards');
    expect(data).toEqual([{ method: 'GET', path: '/_data/tour/cards', isPrefetch: true }]);
    expect(documents).toEqual(['/']);
  });

  test('that only crosses a link sends no request, and leaving a link aborts its request', async () => {
    const { page, data } = await site.open('/', { before: (page) => page.clock.install() });
    await exchanged(page);
    await page.clock.pauseAt(Date.now() + 60_000);
    data.length = 0;
    await hold(page);
    const box = await link(page, 'Cards').boundingBox();
    if (!box) throw new Error('The link is not shown.');
    await page.mouse.move(box.x + 3, box.y + 3);
    await page.clock.runFor(40);
    await page.mouse.move(500, 690);
    await page.clock.runFor(150);
    expect(data).toEqual([]);

    const failed = page.waitForEvent('requestfailed');
    await page.mouse.move(box.x + 3, box.y + 3);
    await page.clock.runFor(60);
    await expect.poll(() => data.length).toBe(1);
    await page.mouse.move(500, 690);
    expect((await failed).url()).toContain('/_data/tour/cards');
  });

  test("does not send a second request after a click, while the page's code is loading", async () => {
    const { page, data } = await openLive('/');
    await page.route(/\/assets\/cards-[^/]+\.js$/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    const box = await link(page, 'Cards').boundingBox();
    if (!box) throw new Error('The link is not shown.');
    await page.mouse.click(box.x + 3, box.y + 3);
    await heading(page, 'Cards');
    expect(data.map(({ path }) => path)).toEqual(['/_data/tour/cards']);
  });

  test('also prefetches the code of the next page', async () => {
    const { page } = await openLive('/');
    const chunk = page.waitForRequest(/\/assets\/cards-[^/]+\.js$/);
    const sheet = page.waitForRequest(/\/assets\/cards-[^/]+\.css$/);
    await link(page, 'Cards').hover();
    await Promise.all([chunk, sheet]);
  });
});

describe('a prefetch that fails', () => {
  test.each(['/tour/fail/loader', '/tour/fail/late'])(
    'is sent once, and the click on %s shows a failure with an address',
    async (path) => {
      const { page, data } = await openLive('/');
      await addLinks(page, 'intent', [path]);
      const ended = new Promise<void>((resolve) => {
        const end = (request: Request) => request.url().endsWith(`/_data${path}`) && resolve();
        page.on('requestfinished', end).on('requestfailed', end); // the first failed line ends it
      });
      await link(page, `to ${path}`).hover();
      await ended;
      await page.waitForTimeout(500); // longer than the first wait before a repetition
      expect(data.map(({ isPrefetch }) => isPrefetch)).toEqual([true]);
      await link(page, `to ${path}`).click();
      await page.getByText(/[0-9A-Z]{8}-[0-9A-Z]{8}/).waitFor();
      expect(data.slice(1).map(({ isPrefetch }) => isPrefetch)).toContain(false);
    },
  );
});

describe('the prefetch setting of a link', () => {
  test('is followed: at render, on intent, in the viewport, never', async () => {
    const { page, data } = await openLive('/tour/navigation');
    await expect.poll(() => data.map(({ path }) => path)).toEqual(['/_data/tour/layout/arch']);
    await link(page, 'Never').hover();
    await page.waitForTimeout(200);
    expect(data).toHaveLength(1);
    await link(page, 'On intent').focus();
    await expect.poll(() => data.map(({ path }) => path)).toEqual(['/_data/tour/layout/arch', '/_data/tour/layout']);
    await link(page, 'Prefetched when you see it').scrollIntoViewIfNeeded();
    await expect.poll(() => data.map(({ path }) => path)).toContain('/_data/tour/static');
    expect(data.every(({ isPrefetch }) => isPrefetch)).toBe(true);
  });

  test('is ignored if the visitor saves data', async () => {
    const { page, data } = await site.open('/tour/navigation', {
      before: (page) =>
        page.addInitScript(() =>
          Object.defineProperty(Navigator.prototype, 'connection', { get: () => ({ saveData: true }) }),
        ),
    });
    await exchanged(page);
    await link(page, 'On intent').hover();
    await page.waitForTimeout(300);
    expect(data).toEqual([]);
  });
});

describe('prefetched data', () => {
  test('serves one navigation to a dynamic page, and every one to a static page', async () => {
    const { page, data } = await openLive('/tour/api');
    for (const [name, title] of [
      ['Cards', 'Cards'],
      ['Static', 'Static'],
    ] as const) {
      for (let round = 0; round < 2; round++) {
        await link(page, name).evaluate((anchor: HTMLElement) => anchor.click());
        await heading(page, title);
        await link(page, 'API').evaluate((anchor: HTMLElement) => anchor.click());
        await heading(page, 'API');
      }
    }
    expect(data.filter(({ path }) => path === '/_data/tour/cards')).toHaveLength(2);
    expect(data.filter(({ path }) => path === '/_data/tour/static')).toHaveLength(1);
  });
});
