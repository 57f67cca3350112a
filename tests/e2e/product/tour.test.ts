import { expect, test } from 'vitest';
import { hydrated, press, useSite } from '../site.ts';

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
    await page.getByText(answer).waitFor();
  }
  await press(page, 'Add a to-do');
  await page.getByText(/To-do \d+: Check the gauges/).waitFor();
  expect(documents).toEqual(['/tour/api']);
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
