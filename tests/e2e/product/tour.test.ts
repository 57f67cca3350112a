import { describe, expect, test } from 'vitest';
import { exchanged, hydrated, useSite } from '../site.ts';

const site = useSite();

const ADDRESS = /^[0-9A-HJKMNP-TV-Z]{8}-[0-9A-HJKMNP-TV-Z]{8}$/;

test('the streaming page shows when each value arrived', async () => {
  const { page, complaints } = await site.open('/tour/streaming', { waitUntil: 'commit' });
  await page.locator('#mountains').getByText('64 cm').waitFor();
  const clocks = await page.locator('dl').getByText('after the request').allInnerTexts();
  const times = clocks.map((text) => Number(text.split(' ')[0]));
  expect(times).toHaveLength(3);
  expect(times[0]).toBeLessThan(times[1] ?? 0);
  expect(times[1]).toBeGreaterThanOrEqual(499);
  expect(times[2]).toBeGreaterThanOrEqual(999);
  expect(complaints).toEqual([]);
});

describe('the layouts page', () => {
  test('keeps text typed into the layout while the page inside it changes', async () => {
    const { page } = await site.open('/tour/layout');
    await exchanged(page);
    await page.getByLabel('A field in the layout').fill('Water is patient.');
    await page.getByRole('link', { name: 'Arch dam' }).click();
    await page.getByRole('heading', { level: 2, name: 'Arch dam' }).waitFor();
    expect(await page.getByLabel('A field in the layout').inputValue()).toBe('Water is patient.');
  });
});

describe('the static page', () => {
  test('is sent with 200 without an ETag, and 304 with a matching one', async () => {
    const { page, complaints } = await site.open('/tour/static');
    await hydrated(page);
    await page.getByRole('button', { name: 'Request it without its ETag' }).click();
    const answers = await page.locator('figure').filter({ hasText: 'GET /tour/static' }).locator('pre').innerText();
    expect(answers).toMatch(/^200, \d{4,} bytes\nETag: (\S+)\n\n304, 0 bytes\nETag: \1$/);
    expect(complaints).toEqual([]);
  });
});

describe('the API page', () => {
  test.each([
    ['/api/tour/todos', '200 application/json'],
    ['/api/tour/todos/999', '404 application/problem+json'],
    ['/api/tour/fail', '500 application/problem+json'],
  ])('shows the response of %s', async (path, answer) => {
    const { page, documents } = await site.open('/tour/api');
    await hydrated(page);
    await page.getByRole('button', { name: `GET ${path}`, exact: true }).click();
    await page.getByText(answer).waitFor();
    expect(documents).toEqual(['/tour/api']);
  });

  test('calls the API with the typed client', async () => {
    const { page } = await site.open('/tour/api');
    await hydrated(page);
    await page.getByRole('button', { name: 'Add a to-do' }).click();
    await page.getByText(/To-do \d+: Check the gauges/).waitFor();
  });
});

test('the failures page leads to an address, which is in the log', async () => {
  const { page } = await site.open('/tour/failures');
  await hydrated(page);
  await page.getByRole('button', { name: 'Break something' }).click();
  const address = await page.locator('.error-page code').innerText();
  expect(address).toMatch(ADDRESS);
  await expect.poll(() => site.server.log()).toContain(address);
});

test('a favicon exists for browsers that request it by default', async () => {
  const { page } = await site.open('/');
  const size = await page.evaluate(async () => {
    const reply = await fetch('/favicon.ico');
    const { width, height } = await createImageBitmap(await reply.blob());
    return [reply.headers.get('content-type'), width, height];
  });
  expect(size).toEqual(['image/x-icon', 32, 32]);
});
