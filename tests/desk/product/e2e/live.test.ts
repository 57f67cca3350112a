import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { exchanged, isSameDocument, markDocument, useSite, type VisitOptions } from '../../../e2e/site.ts';
import { deskSession } from '../../e2e/session.ts';
import { lookUp } from '../../support/gallery.ts';

const site = useSite(async () => ({}));

/** Causes a failure, and waits until it is stored. Also returns how often it has happened. */
async function fail(path: string): Promise<{ digest: string; count: number | undefined }> {
  const reply = await fetch(site.url + path, { headers: { accept: 'text/html' } });
  const address = reply.headers.get('x-error-digest') ?? '';
  const find = () => lookUp(site.server.dataDir, address);
  await expect.poll(async () => (await find())?.state).toBe('stored');
  return { digest: address.slice(0, 8), count: (await find())?.incident.counts.server };
}

const isState = (page: Page, state: string) => page.locator(`[data-live="${state}"]`).waitFor();

async function open(path: string, options: VisitOptions = {}) {
  const visit = await site.open(path, { cookie: await deskSession(site.server), ...options });
  await exchanged(visit.page);
  return visit;
}

async function readCount(page: Page, digest: string): Promise<number> {
  const text = await page.locator('[data-row]', { hasText: digest }).locator('strong').textContent();
  return Number(text?.replaceAll(',', ''));
}

test('the list shows new incidents and counts, and keeps what was selected and typed', async () => {
  const { page, complaints } = await open('/desk');
  await isState(page, 'live');
  await markDocument(page);
  const { digest } = await fail('/tour/fail/loader');
  await page.locator('[data-row]', { hasText: digest }).waitFor();
  await page.locator('[data-row]', { hasText: digest }).getByRole('checkbox').check();
  await page.getByRole('searchbox').fill('half a w');
  const { count } = await fail('/tour/fail/loader');
  await expect.poll(() => readCount(page, digest)).toBe(count);
  const newcomer = await fail('/tour/fail/render');
  await page.locator('[data-row]', { hasText: newcomer.digest }).waitFor();
  expect(await page.locator('[data-row]', { hasText: digest }).getByRole('checkbox').isChecked()).toBe(true);
  expect(await page.getByRole('searchbox').inputValue()).toBe('half a w');
  expect([await isSameDocument(page), complaints]).toEqual([true, []]);
});

test('a page without a stream says so, loads its data, and tries again', async () => {
  const { digest } = await fail('/tour/fail/loader');
  let isRefused = true;
  const { page } = await open('/desk', {
    async before(opened) {
      await opened.clock.install();
      await opened.route('**/desk/live', (route) => (isRefused ? route.fulfill({ status: 503 }) : route.continue()));
    },
  });
  await isState(page, 'lost');
  const { count } = await fail('/tour/fail/loader');
  const isLoaded = async () => {
    await page.clock.runFor(5000);
    return readCount(page, digest);
  };
  await expect.poll(isLoaded).toBe(count);
  isRefused = false;
  await page.clock.runFor(15_000);
  await isState(page, 'live');
});

test('a hidden tab has no stream, and updates when it is visible again', async () => {
  const { digest } = await fail('/tour/fail/loader');
  const { page } = await open('/desk');
  await isState(page, 'live');
  const turn = (state: string) =>
    page.evaluate((visibility) => {
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => visibility });
      document.dispatchEvent(new Event('visibilitychange'));
    }, state);
  const ended = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/desk/live'));
  await turn('hidden');
  await ended;
  const { count } = await fail('/tour/fail/loader');
  await turn('visible');
  await expect.poll(() => readCount(page, digest)).toBe(count);
});
