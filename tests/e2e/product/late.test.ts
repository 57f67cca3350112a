import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { exchanged, heading, isSameDocument, markDocument, useSite } from '../site.ts';

const site = useSite();

/** In the order in which they settle. */
const GAUGES = ['near', 'upstream', 'broken', 'mountains'];

/**
 * Records the order in which the gauges of the streaming page are filled. On a busy machine several can be filled at the
 * same time, which counts as in order.
 */
function recordOrder(page: Page) {
  return page.addInitScript((gauges) => {
    const order: string[] = [];
    Object.assign(window, { order });
    const look = () => {
      for (const id of gauges) {
        const text = document.getElementById(id)?.innerText.trim() ?? '';
        if (text !== '' && !text.startsWith('Asking') && !order.includes(id)) order.push(id);
      }
    };
    new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true });
  }, GAUGES);
}

const readOrder = (page: Page) => page.evaluate(() => (window as unknown as { order: string[] }).order);

async function expectAllGauges(page: Page) {
  await page.locator('#mountains').getByText('64 cm').waitFor();
  expect(await page.locator('#near').innerText()).toContain('212 cm at the bridge');
  expect(await page.locator('#upstream').innerText()).toContain('187 cm upstream');
  expect(await page.locator('#broken').innerText()).toMatch(
    /^This gauge is out of order\. \(Rejected after \d+ ms\.\)$/,
  );
}

describe('deferred values', () => {
  test('appear in the order in which they settle', async () => {
    const { page, complaints, data, documents } = await site.open('/tour/streaming', {
      before: recordOrder,
      waitUntil: 'commit',
    });
    await expectAllGauges(page);
    expect(await readOrder(page)).toEqual(GAUGES);
    await exchanged(page);
    expect(data).toEqual([]);
    expect(documents).toEqual(['/tour/streaming']);
    expect(complaints).toEqual([]);
  });

  test('also stream into a page that was opened by a link', async () => {
    const { page, complaints, data, documents } = await site.open('/', { before: recordOrder });
    await exchanged(page);
    await page.getByRole('link', { name: 'Streaming', exact: true }).first().click();
    await heading(page, 'Streaming');
    await expectAllGauges(page);
    expect(await readOrder(page)).toEqual(GAUGES);
    expect(data.map(({ path }) => path)).toEqual(['/_data/tour/streaming']);
    expect(documents).toEqual(['/']);
    expect(complaints).toEqual([]);
  });

  test('do not delay a visitor who leaves', async () => {
    const { page, complaints, documents } = await site.open('/tour/streaming', { waitUntil: 'commit' });
    await exchanged(page);
    await page.getByRole('link', { name: 'Cards', exact: true }).first().click();
    await heading(page, 'Cards');
    await page.goBack();
    await expectAllGauges(page);
    expect(documents).toEqual(['/tour/streaming']);
    expect(complaints).toEqual([]);
  });

  test('that are rejected affect only their own part of the page, and show an address', async () => {
    const { page, complaints } = await site.open('/tour/fail/late');
    await exchanged(page);
    expect(await page.getByRole('alert').innerText()).toMatch(
      /^This could not be loaded\. Digest: [0-9A-Z]{8}-[0-9A-Z]{8}$/,
    );
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('A promise that is rejected');
    expect(complaints).toEqual([]);
  });
});

describe('a late redirect', () => {
  test('redirects a document', async () => {
    const { page, complaints } = await site.open('/tour/late-redirect');
    await page.waitForURL('**/tour/streaming');
    await heading(page, 'Streaming');
    expect(complaints).toEqual([]);
  });

  test('redirects after a navigation, without a document load', async () => {
    const { page, documents } = await site.open('/tour/failures');
    await exchanged(page);
    await markDocument(page);
    await page.getByRole('link', { name: '/tour/late-redirect' }).click();
    await heading(page, 'Redirect, late');
    await page.waitForURL('**/tour/streaming');
    await heading(page, 'Streaming');
    expect(await isSameDocument(page)).toBe(true);
    expect(documents).toEqual(['/tour/failures']);
    await page.goBack();
    await heading(page, 'Failures');
  });
});

describe('a late notFound()', () => {
  test('is shown in place, and asks crawlers not to index the page', async () => {
    const { page } = await site.open('/tour/late-not-found');
    await exchanged(page);
    expect(await page.getByRole('alert').innerText()).toBe('This could not be found.');
    expect(await page.locator('meta[name=robots][content=noindex]').count()).toBeGreaterThan(0);
  });

  test('works after a navigation too, and does not affect the next page', async () => {
    const { page } = await site.open('/tour/failures');
    await exchanged(page);
    await page.getByRole('link', { name: '/tour/late-not-found' }).click();
    await page.getByText('This could not be found.').waitFor();
    expect(await page.locator('meta[name=robots][content=noindex]').count()).toBe(1);
    await page.getByRole('link', { name: 'Cards', exact: true }).click();
    await heading(page, 'Cards');
    expect(await page.locator('meta[name=robots]').count()).toBe(0);
  });
});
