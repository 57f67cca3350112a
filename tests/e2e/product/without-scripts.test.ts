import { describe, expect, test } from 'vitest';
import { useSite } from '../site.ts';

const site = useSite();

async function open(path: string) {
  return site.open(path, { javaScriptEnabled: false });
}

describe('a page without JavaScript', () => {
  test.each([
    ['/', 'Rendered for you at'],
    ['/tour/layout/arch', 'Curves against the water'],
    ['/tour/navigation', 'Leave at Delta'],
    ['/tour/forms', 'North gate'],
    ['/tour/static', 'Rendered at'],
    ['/tour/cards', 'Lock 48'],
    ['/tour/api', 'The API answers with JSON'],
  ])('%s is complete in the first response', async (path, text) => {
    const { page, documents } = await open(path);
    expect(await page.locator('main').innerText()).toContain(text);
    expect(documents).toEqual([path]);
  });

  test('with deferred values is requested again, and then contains all of them', async () => {
    const { page, documents } = await open('/tour/streaming');
    await page.waitForURL('**/tour/streaming?_whole=1');
    await page.waitForLoadState();
    expect(await page.locator('#near').innerText()).toContain('212 cm at the bridge');
    expect(await page.locator('#upstream').innerText()).toContain('187 cm upstream');
    expect(await page.locator('#mountains').innerText()).toContain('64 cm in the mountains');
    expect(await page.locator('#broken').innerText()).toContain('This gauge is out of order.');
    expect(await page.locator('dl').innerText()).not.toContain('Asking');
    await page.waitForTimeout(300);
    expect(documents).toEqual(['/tour/streaming', '/tour/streaming?_whole=1']);
  });

  test('shows a late failure in place, with its address', async () => {
    const { page } = await open('/tour/fail/late');
    await page.waitForURL('**/tour/fail/late?_whole=1');
    await page.waitForLoadState();
    expect(await page.locator('main').innerText()).toMatch(
      /This could not be loaded\. Digest: [0-9A-Z]{8}-[0-9A-Z]{8}/,
    );
  });

  test('follows a late redirect', async () => {
    const { page } = await open('/tour/late-redirect');
    await page.waitForURL('**/tour/streaming?_whole=1');
  });

  test('can be reached by links', async () => {
    const { page } = await open('/');
    await page.getByRole('navigation', { name: 'Tour' }).getByRole('link', { name: 'Layouts' }).click();
    await page.getByRole('link', { name: 'Embankment dam' }).click();
    await page.getByRole('heading', { level: 2, name: 'Embankment dam' }).waitFor();
  });
});

describe('a form without JavaScript', () => {
  test('is shown again with errors and the typed values', async () => {
    const { page } = await open('/tour/forms');
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('Your email address').fill('nowhere');
    await page.getByLabel('Your message').fill('short');
    const answer = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Send' }).click();
    expect((await answer).status()).toBe(422);
    await page.waitForLoadState();
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada');
    expect(await page.getByLabel('Your email address').inputValue()).toBe('nowhere');
    expect(await page.getByLabel('Your message').inputValue()).toBe('short');
    expect(await page.getByLabel('Your email address').getAttribute('aria-invalid')).toBe('true');
    await page.getByText('Enter a full email address').waitFor();
    await page.getByText('Write at least ten characters.').waitFor();
  });

  test('shows its success', async () => {
    const { page } = await open('/tour/forms');
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('Your email address').fill('ada@example.org');
    await page.getByLabel('Your message').fill('The water is rising.');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('#contact').getByText('Thank you. Sent at').waitFor();
    expect(await page.getByLabel('Your name').inputValue()).toBe('');
  });

  test('answers 303 if its action redirects, and 409 for a conflict', async () => {
    const { page } = await open('/tour/forms');
    await page.getByLabel('Name of a gate').fill('Mill gate');
    const posted = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Add' }).click();
    expect((await posted).status()).toBe(303);
    await page.waitForURL('**/tour/forms#gates');
    await page.getByText('Mill gate').waitFor();

    await page.getByLabel('Name of a gate').fill('Mill gate');
    const refused = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Add' }).click();
    expect((await refused).status()).toBe(409);
    await page.locator('#gates').getByText('A gate with this name already exists.').waitFor();
    expect(await page.getByLabel('Name of a gate').inputValue()).toBe('Mill gate');

    await page.getByRole('button', { name: 'Remove Mill gate' }).click();
    await page.getByText('Mill gate').waitFor({ state: 'detached' });
  });

  test('accepts a file, and rejects one that is too large', async () => {
    const { page } = await open('/tour/forms');
    await page
      .getByLabel('A file under 1 MB')
      .setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') });
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByText('a.txt: 5 bytes, text/plain').waitFor();

    await page.goto('/tour/forms');
    await page
      .getByLabel('A file under 1 MB')
      .setInputFiles({ name: 'b.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(1_200_000) });
    const refused = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Upload' }).click();
    expect((await refused).status()).toBe(413);
    await page.getByRole('heading', { name: 'The request is larger than 1024 KiB' }).waitFor();
  });

  test('in the layout posts to the current page', async () => {
    const { page } = await open('/tour/cards');
    await page.getByLabel('A form in the layout').fill('ad');
    await page.getByRole('button', { name: 'Leave note' }).click();
    await page.getByText('Write at least three characters').waitFor();
    expect(new URL(page.url()).pathname).toBe('/tour/cards');
    expect(await page.getByLabel('A form in the layout').inputValue()).toBe('ad');
    await page.getByLabel('A form in the layout').fill('Good page.');
    await page.getByRole('button', { name: 'Leave note' }).click();
    await page.getByText('You wrote: Good page.').waitFor();
  });

  test('shows its result on a static page and on one with deferred values', async () => {
    const { page, documents } = await open('/tour/static');
    await page.getByLabel('A form in the layout').fill('ad');
    await page.getByRole('button', { name: 'Leave note' }).click();
    await page.getByText('Write at least three characters').waitFor();

    await page.goto('/tour/streaming?_whole=1');
    documents.length = 0;
    await page.getByLabel('A form in the layout').fill('gr');
    await page.getByRole('button', { name: 'Leave note' }).click();
    await page.getByText('Write at least three characters').waitFor();
    await page.waitForTimeout(300);
    expect(await page.getByLabel('A form in the layout').inputValue()).toBe('gr');
    expect(documents).toHaveLength(1);
    expect(await page.locator('#upstream').innerText()).toContain('187 cm');
  });
});
