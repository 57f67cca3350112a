import { expect, it } from 'vitest';
import { openPage, useRecipe } from './recipe.ts';

const app = useRecipe('html');

it('shows the text without its scripts, in the document and after a navigation', async () => {
  const { url } = await app.start();
  const { page, complaints, documents } = await openPage(`${url}/article`);
  const violations = () => complaints.filter((text) => text.includes('policy'));
  const html = '<p>Water is <strong>rising</strong>. <img src="x"> <a>Read more</a></p>\n';
  const body = page.locator('article > div');
  expect(await body.innerHTML()).toBe(html);
  await page.goto(`${url}/`);
  await page.waitForFunction(() => history.scrollRestoration === 'manual', undefined, { polling: 50 });
  await page.getByRole('link', { name: 'Article' }).click();
  expect(await body.innerHTML()).toBe(html);
  expect(documents).toEqual(['/article', '/']);
  expect(violations()).toEqual([]);

  // A plain string violates the policy, which the browser reports.
  await page.goBack();
  await page.getByRole('link', { name: 'Plain' }).click();
  await page.getByRole('heading', { name: 'Plain' }).waitFor();
  await expect.poll(violations).toContainEqual(expect.stringContaining('require-trusted-types-for report'));
});
