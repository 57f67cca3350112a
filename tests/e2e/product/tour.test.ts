import { expect, test } from 'vitest';
import { hydrated, press, shows, useSite } from '../site.ts';

const site = useSite();

test('the static page is sent with 200 without an ETag, and 304 with a matching one', async () => {
  const { page } = await site.open('/tour/static');
  await hydrated(page);
  await page.getByRole('button', { name: 'Request it without its ETag' }).click();
  const answers = await page.locator('details').filter({ hasText: 'GET /tour/static' }).locator('pre').innerText();
  expect(answers).toMatch(/^200, \d{4,} bytes\nETag: (\S+)\n\n304, 0 bytes\nETag: \1$/);
});

test('the API page shows responses, and calls the API with the typed client', async () => {
  const { page, documents } = await site.open('/tour/api');
  await hydrated(page);
  for (const [path, answer] of [
    ['/api/tour/todos', '200 application/json'],
    ['/api/tour/todos/999', '404 application/problem+json'],
    ['/api/tour/fail', '500 application/problem+json'],
  ] as const) {
    await press(page, `GET ${path}`);
    await shows(page, answer);
  }
  await press(page, 'Add a to-do');
  await shows(page, /To-do \d+: Check the gauges/);
  expect(documents).toEqual(['/tour/api']);
});

test.each([
  ['/tour/failures', 390, 'page'],
  ['/tour/fail/late', 390, 'true'],
  ['/tour/failures', 700, 'page'],
])('on a narrow screen, the menu of %s has one row and shows the current item', async (path, width, current) => {
  const { page } = await site.open(path, { viewport: { width, height: 800 } });
  await hydrated(page);
  const item = page.getByRole('link', { name: 'Failures', exact: true });
  expect(await item.getAttribute('aria-current')).toBe(current);
  await expect.poll(async () => (await item.boundingBox())?.x).toBeLessThan(width - 80);
  expect((await page.locator('header').boundingBox())?.height).toBeLessThan(110);
});

test('an error page has its digest above its links, and no footer', async () => {
  const { page } = await site.open('/tour/fail/loader');
  const { page: other } = await site.open('/tour/fail/client');
  await hydrated(other);
  await press(other, 'Throw in a component');
  for (const at of [page, other]) {
    const text = at.locator('.error-page');
    await text.getByText('Digest:').waitFor();
    expect(await text.innerText()).toMatch(/Digest: \S+\s.*Our .*Try again or go to the start page$/s);
    expect(await at.locator('footer').isVisible()).toBe(false);
  }
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
