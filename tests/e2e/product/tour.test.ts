import { describe, expect, test } from 'vitest';
import { exchanged, heading, hydrated, useSite } from '../site.ts';

const site = useSite();

const ADDRESS = /^[0-9A-HJKMNP-TV-Z]{8}-[0-9A-HJKMNP-TV-Z]{8}$/;

describe('the streaming page', () => {
  test('shows when each value and the first and last byte arrived', async () => {
    const { page, complaints } = await site.open('/tour/streaming', { waitUntil: 'commit' });
    await page.locator('#mountains').getByText('64 cm').waitFor();
    await page.getByText('First byte after').waitFor();
    const clocks = await page.locator('dl').getByText('after the request').allInnerTexts();
    const times = clocks.map((text) => Number(text.split(' ')[0]));
    expect(times).toHaveLength(3);
    expect(times[0]).toBeLessThan(times[1] ?? 0);
    expect(times[1]).toBeGreaterThanOrEqual(499);
    expect(times[2]).toBeGreaterThanOrEqual(999);
    const [first = 0, last = 0] = (await page.getByText('First byte after').locator('strong').allInnerTexts()).map(
      (text) => Number.parseInt(text, 10),
    );
    expect(first).toBeLessThan(times[2] ?? 0);
    expect(last).toBeGreaterThanOrEqual(999);
    expect(complaints).toEqual([]);
  });

  test('measures page data like a document', async () => {
    const { page } = await site.open('/');
    await exchanged(page);
    await page.getByRole('link', { name: 'Streaming', exact: true }).click();
    await heading(page, 'Streaming');
    await page.getByText('The response has been open for').waitFor();
    await page.getByText('First byte after').waitFor();
  });
});

describe('the navigation page', () => {
  test('shows prefetches as they happen', async () => {
    const { page, complaints } = await site.open('/tour/navigation');
    const wire = page.getByRole('log', { name: 'Requests for page data' });
    await wire.getByText('/_data/tour/layout/arch').waitFor();
    await page.getByRole('link', { name: 'On intent' }).hover();
    await wire.getByText('/_data/tour/layout', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Cards', exact: true }).hover();
    await wire.getByText('/_data/tour/cards').waitFor();
    expect(complaints).toEqual([]);
  });
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

describe('the forms page', () => {
  test('shows whether the response was page data in the background or a document', async () => {
    const { page, documents, complaints } = await site.open('/tour/forms');
    await exchanged(page);
    await page.getByLabel('Your name').fill('Ada');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Status 422, answered in the background').waitFor();
    expect(documents).toHaveLength(1);
    expect(complaints).toEqual([expect.stringContaining('422')]);

    await page.getByRole('button', { name: 'Post without JavaScript' }).click();
    await page.getByText('Status 422, answered with a document').waitFor();
    expect(documents).toHaveLength(2);
    await exchanged(page);
    expect(await page.getByText('answered with a document').count()).toBe(1);
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada');
  });

  test('shows without JavaScript that the response was a document', async () => {
    const { page } = await site.open('/tour/forms', { javaScriptEnabled: false });
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Status 422, answered with a document').waitFor();
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

describe('the failures page', () => {
  test('collects several occurrences with the same digest, which are in the log', async () => {
    const { page } = await site.open('/tour/failures');
    await hydrated(page);
    const rows = page.getByRole('list', { name: 'Addresses' }).getByRole('listitem');
    for (let count = 1; count <= 3; count++) {
      await page.getByRole('button', { name: 'Break something' }).click();
      await expect.poll(() => rows.filter({ hasText: /-/ }).count()).toBe(count);
    }
    const addresses = await rows.allInnerTexts();
    for (const address of addresses) {
      expect(address).toMatch(ADDRESS);
      await expect.poll(() => site.server.log()).toContain(address);
    }
    expect(new Set(addresses.map((address) => address.split('-')[0])).size).toBe(1);
    expect(new Set(addresses).size).toBe(3);
    await rows.first().getByRole('link').click();
    await page.waitForURL(`**/desk/${addresses[0]?.replace('-', '/')}`);
    await page.getByLabel('Token').waitFor();
  });
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
