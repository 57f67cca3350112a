import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  exchanged,
  heading,
  hold,
  hydrated,
  isSameDocument,
  link,
  markDocument,
  press,
  shows,
  useSite,
} from '../site.ts';

const site = useSite();

const ROUTER = /\/assets\/navigator-[^/]+\.js$/;
const CHUNK = /\/assets\/cards-[^/]+\.js$/;
const SHEET = /\/assets\/cards-[^/]+\.css$/;

describe('before the router is loaded', () => {
  async function openHeld(path: string) {
    let release = () => {};
    const visit = await site.open(path, {
      isAlone: false,
      before: async (page) => {
        release = await hold(page, ROUTER);
      },
    });
    await hydrated(visit.page);
    await markDocument(visit.page);
    return { ...visit, release };
  }

  test('a click waits for it, does not load a document, and a hover before it prefetches nothing', async () => {
    const { page, release, documents, complaints, data } = await openHeld('/');
    await link(page, 'API').hover();
    await link(page, 'Cards').click();
    await page.waitForTimeout(150);
    expect([new URL(page.url()).pathname, data]).toEqual(['/', []]);
    release();
    await heading(page, 'Cards');
    expect([await isSameDocument(page), documents, complaints]).toEqual([true, ['/'], []]);
  });

  test('a fetcher and a submit wait for it, and what was typed stays', async () => {
    const { page, release, documents, data } = await openHeld('/tour/forms');
    const likes = page.locator('#likes output');
    const before = Number.parseInt(await likes.innerText(), 10);
    await page.getByLabel('Your name').fill('Ada');
    await press(page, 'Like');
    await press(page, 'Send');
    await page.waitForTimeout(150);
    expect(data).toEqual([]);
    release();
    await shows(page, 'Enter a full email address');
    await expect.poll(() => likes.innerText()).toMatch(new RegExp(`^${before + 1} `));
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada');
    expect(data.map(({ method }) => method)).toEqual(['POST', 'POST']);
    expect(documents).toEqual(['/tour/forms']);
  });

  test('Back after a reload shows the previous page', async () => {
    const { page, documents } = await site.openLive('/tour/cards');
    await link(page, 'API').click();
    await heading(page, 'API');
    const release = await hold(page, ROUTER);
    await page.reload();
    await hydrated(page);
    await page.goBack({ waitUntil: 'commit' });
    await page.waitForTimeout(150);
    await heading(page, 'API');
    release();
    await heading(page, 'Cards');
    await page.goForward();
    await heading(page, 'API');
    expect(documents).toEqual(['/tour/cards', '/tour/api']);
  });
});

test('links and forms work as plain HTML if the router cannot be loaded, also with a button that names the action', async () => {
  const { page, documents } = await site.open('/tour/forms', {
    isAlone: false,
    before: (page) => page.route(ROUTER, (route) => route.abort()),
  });
  await hydrated(page);
  await page.getByLabel('Your name').fill('Ada');
  await press(page, 'Send');
  await shows(page, 'Enter a full email address');
  expect(await page.getByLabel('Your name').inputValue()).toBe('Ada');
  await hydrated(page);
  await page.evaluate(() => {
    const hidden = document.querySelector<HTMLInputElement>('main form input[name="_action"]');
    const button = hidden?.form?.querySelector<HTMLButtonElement>('button[type="submit"]');
    if (!hidden || !button) throw new Error('There is no form with an action.');
    Object.assign(button, { id: 'named', name: hidden.name, value: hidden.value });
    hidden.remove();
  });
  // The missing chunk is reported by a separate POST.
  const posted = page.waitForRequest((request) => request.method() === 'POST' && !request.url().endsWith('/_report'));
  await page.locator('#named').click();
  expect((await posted).postData()).toContain('_action=forms.');
  expect((await (await posted).response())?.status()).toBe(422);
  await link(page, 'Cards').click();
  await heading(page, 'Cards');
  expect(documents).toEqual(['/tour/forms', '/tour/forms', '/tour/forms', '/tour/cards']);
});

/** Clicks without a hover, which would prefetch, so that the navigation itself fails. */
const clickCards = (page: Page) => link(page, 'Cards').evaluate((anchor: HTMLElement) => anchor.click());

test.each([
  ['code', CHUNK],
  ['styles', SHEET],
])('a page whose %s cannot be loaded within 3.8 s is loaded as a document, once', async (_what, url) => {
  const held = Promise.withResolvers<void>();
  const { page, documents } = await site.openLive('/', {
    async before(page) {
      await page.clock.install();
      await page.route(url, () => held.resolve(), { times: 1 }); // and never answers
    },
  });
  await page.clock.pauseAt(Date.now() + 60_000);
  await clickCards(page);
  await held.promise;
  await page.clock.runFor(3700);
  expect(documents).toEqual(['/']);
  // The page's clock starts a little after the request.
  async function step(): Promise<readonly string[]> {
    await page.clock.runFor(200).catch(() => {}); // its document can be replaced
    return documents;
  }
  await expect.poll(step).toEqual(['/', '/tour/cards']);
  await heading(page, 'Cards');
  expect(documents).toEqual(['/', '/tour/cards']);
});

test('another build of the server is loaded by the next navigation, also if a prefetch detected it', async () => {
  const { page, documents } = await site.openLive('/', {
    isAlone: false,
    before: (page) =>
      page.route('**/_data/**', async (route) => {
        const response = await route.fetch();
        const headers = { ...response.headers(), 'x-build-id': 'anotherbuild' };
        const body = (await response.text()).replaceAll(response.headers()['x-build-id'] ?? '', 'anotherbuild');
        await route.fulfill({ response, body, headers });
      }),
  });
  const prefetched = page.waitForResponse('**/_data/tour/api');
  await link(page, 'API').hover();
  await (await prefetched).finished();
  await clickCards(page);
  await heading(page, 'Cards');
  await exchanged(page);
  expect(documents).toEqual(['/', '/tour/cards']);
});
