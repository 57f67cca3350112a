import { expect, test } from 'vitest';
import { exchanged, useSite } from '../site.ts';

const site = useSite();

test('the home page is taken over by the browser without a complaint', async () => {
  const { page, complaints } = await site.open('/');
  await exchanged(page);
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Your app runs');
  expect(complaints).toEqual([]);
});

test('an unknown address keeps the layout and says that nothing is there', async () => {
  const { page } = await site.open('/nowhere');
  await exchanged(page);
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Page not found');
  await page.getByRole('banner').getByRole('link').first().click();
  await page.getByRole('heading', { level: 1, name: 'Your app runs' }).waitFor();
});
