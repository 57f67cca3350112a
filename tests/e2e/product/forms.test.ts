import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { exchanged, isSameDocument, markDocument, useSite } from '../site.ts';

const site = useSite();

async function openForms(path = '/tour/forms') {
  const visit = await site.open(path);
  await exchanged(visit.page);
  await markDocument(visit.page);
  return visit;
}

const big = { name: 'big.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(1_200_000) };

function answer(page: Page) {
  return page.waitForResponse((response) => response.request().method() === 'POST');
}

describe('a form with JavaScript', () => {
  test('is posted in the background, and shows errors next to the typed values', async () => {
    const { page, documents, data } = await openForms();
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('Your email address').fill('nowhere');
    const answered = answer(page);
    await page.getByRole('button', { name: 'Send' }).click();
    expect((await answered).status()).toBe(422);
    await page.getByText('Enter a full email address').waitFor();
    await page.getByText('Write at least ten characters.').waitFor();
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada');
    expect(await page.getByLabel('Your email address').inputValue()).toBe('nowhere');
    expect(data.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /tour/forms']);
    expect(documents).toEqual(['/tour/forms']);
    expect(await isSameDocument(page)).toBe(true);
  });

  test('shows that it is pending, then its result, and empties its fields', async () => {
    const { page, complaints, data } = await openForms();
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('Your email address').fill('ada@example.org');
    await page.getByLabel('Your message').fill('The water is rising.');
    await page.getByRole('button', { name: 'Send' }).click();
    const pending = page.getByRole('button', { name: 'Sending…' });
    await pending.waitFor();
    expect(await pending.isDisabled()).toBe(true);
    await page.locator('#contact').getByText('Thank you. Sent at').waitFor();
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('input[name=name]')?.value === '');
    expect(data.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /tour/forms']);
    expect(complaints).toEqual([]);
  });

  test('follows the redirect of its action, and shows fresh data', async () => {
    const { page, documents, data, complaints } = await openForms();
    await page.getByLabel('Name of a gate').fill('West gate');
    const answered = answer(page);
    await page.getByRole('button', { name: 'Add' }).click();
    const response = await answered;
    expect(response.status()).toBe(200);
    expect(response.headers()['cache-control']).toBe('no-store');
    expect(response.headers().vary).toContain('Accept');
    await page.getByText('West gate').waitFor();
    await page.waitForURL('**/tour/forms#gates');
    expect(data.filter(({ method }) => method === 'GET').length).toBeLessThanOrEqual(1);
    expect(documents).toEqual(['/tour/forms']);

    await page.getByRole('button', { name: 'Remove West gate' }).click();
    await page.getByText('West gate').waitFor({ state: 'detached' });
    expect(await isSameDocument(page)).toBe(true);
    expect(complaints).toEqual([]);
  });

  test('keeps its values on a conflict', async () => {
    const { page } = await openForms();
    await page.getByLabel('Name of a gate').fill('North gate');
    const answered = answer(page);
    await page.getByRole('button', { name: 'Add' }).click();
    expect((await answered).status()).toBe(409);
    await page.locator('#gates').getByText('A gate with this name already exists.').waitFor();
    expect(await page.getByLabel('Name of a gate').inputValue()).toBe('North gate');
  });

  test('gets fresh page data with the result, without another request', async () => {
    const one = await openForms();
    const other = await openForms();
    await other.page.getByLabel('Name of a gate').fill('East gate');
    await other.page.getByRole('button', { name: 'Add' }).click();
    await other.page.getByText('East gate').waitFor();

    await one.page
      .getByLabel('A file under 1 MB')
      .setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') });
    await one.page.getByRole('button', { name: 'Upload' }).click();
    await one.page.getByText('a.txt: 5 bytes, text/plain').waitFor();
    await one.page.getByText('East gate').waitFor();
    expect(one.data.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /tour/forms']);
    await one.page.getByRole('button', { name: 'Remove East gate' }).click();
    await one.page.getByText('East gate').waitFor({ state: 'detached' });
  });

  test('keeps the page and its values if the body is too large', async () => {
    const { page, documents } = await openForms();
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('A file under 1 MB').setInputFiles(big);
    const answered = answer(page);
    await page.getByRole('button', { name: 'Upload' }).click();
    expect((await answered).status()).toBe(413);
    await page.locator('#upload').getByText('The request is larger than 1024 KiB').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Forms' }).waitFor();
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada');
    expect(await page.getByLabel('A file under 1 MB').evaluate((input: HTMLInputElement) => input.files?.length)).toBe(
      1,
    );
    expect(documents).toEqual(['/tour/forms']);
  });

  test('keeps its values if the server cannot be reached', async () => {
    const { page, documents } = await openForms();
    await page.getByLabel('Name of a gate').fill('Far gate');
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Add' }).click();
    await page.locator('#gates').getByText('The form was not sent.').waitFor();
    expect(await page.getByLabel('Name of a gate').inputValue()).toBe('Far gate');
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('button', { name: 'Remove Far gate' }).click();
    await page.getByText('Far gate').waitFor({ state: 'detached' });
    expect(documents).toEqual(['/tour/forms']);
  });

  test('in the layout posts to the current page', async () => {
    const { page, data, documents } = await openForms('/tour/cards');
    await page.getByLabel('A form in the layout').fill('ad');
    await page.getByRole('button', { name: 'Leave note' }).click();
    await page.getByText('Write at least three characters').waitFor();
    expect(await page.getByLabel('A form in the layout').inputValue()).toBe('ad');
    await page.getByLabel('A form in the layout').fill('Good page.');
    await page.getByRole('button', { name: 'Leave note' }).click();
    await page.getByText('You wrote: Good page.').waitFor();
    expect(data.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /tour/cards', 'POST /tour/cards']);
    expect(documents).toEqual(['/tour/cards']);
  });

  test('discards earlier prefetches', async () => {
    const { page, data } = await openForms('/tour/cards');
    await page.getByRole('link', { name: 'Forms', exact: true }).hover();
    await expect
      .poll(() => data.filter(({ isPrefetch }) => isPrefetch).map(({ path }) => path))
      .toContain('/_data/tour/forms');
    await page.getByLabel('A form in the layout').fill('Good page.');
    await page.getByRole('button', { name: 'Leave note' }).click();
    await page.getByText('You wrote: Good page.').waitFor();
    data.length = 0;
    await page.getByRole('link', { name: 'Forms', exact: true }).evaluate((link: HTMLElement) => link.click());
    await page.getByRole('heading', { level: 1, name: 'Forms' }).waitFor();
    expect(data.filter(({ path }) => path === '/_data/tour/forms')).toHaveLength(1);
  });
});

describe('a fetcher', () => {
  test('increases the count immediately, and does not change the rest of the page', async () => {
    const { page, complaints, data, documents } = await openForms();
    const likes = page.locator('#likes output');
    const before = Number((await likes.innerText()).split(' ')[0]);
    await page.getByLabel('Your name').fill('Ada');
    await page.route('**/tour/forms', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    const answered = answer(page);
    await page.getByRole('button', { name: 'Like' }).click();
    await expect.poll(() => likes.innerText(), { timeout: 250, interval: 20 }).toMatch(new RegExp(`^${before + 1} `));
    expect((await answered).status()).toBe(200);
    await page.waitForTimeout(100);
    expect(await likes.innerText()).toMatch(new RegExp(`^${before + 1} `));
    await page.getByRole('button', { name: 'Like' }).click();
    await expect.poll(() => likes.innerText()).toMatch(new RegExp(`^${before + 2} `));
    await page.waitForTimeout(500);
    expect(await likes.innerText()).toMatch(new RegExp(`^${before + 2} `));
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada');
    expect(data.filter(({ method }) => method === 'GET')).toEqual([]);
    expect(documents).toEqual(['/tour/forms']);
    expect(complaints).toEqual([]);
  });
});
