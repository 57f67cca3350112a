import { expect, test } from 'vitest';
import { exchanged, useSite } from '../site.ts';

const site = useSite();

test('hydrates the home page without errors', async () => {
  const { page, complaints } = await site.open('/');
  await exchanged(page);
  expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
  expect(complaints).toEqual([]);
});

test('shows the not-found page in the layout for an unknown URL', async () => {
  const { page } = await site.open('/nowhere');
  await exchanged(page);
  const heading = page.getByRole('heading', { level: 1, name: 'Page not found' });
  await heading.waitFor();
  await page.getByRole('banner').getByRole('link').first().click();
  await heading.waitFor({ state: 'detached' });
});
