import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { openPage, useRecipe, userAgent } from './recipe.ts';

const app = useRecipe('animations', (it) => {
  const about = "{ id: 'about', path: '/about', page: () => import('./pages/about.tsx') }, { id: 'home'";
  it.replace('src/shared/product/routes.tsx', "{ id: 'home'", about);
  it.replace('src/server/product/pages/index.ts', 'home: null', 'home: null, about: null');
  const page = 'export default function About() { return <><title>About</title><h1>About</h1></>; }';
  it.write({ 'src/shared/product/pages/about.tsx': page });
});

it('animates navigations and keeps hidden parts, without a violation or a mismatch', async () => {
  const { url, log } = await app.start();
  const html = await (await fetch(url, { headers: { 'user-agent': userAgent } })).text();
  expect(html).toContain('<textarea');
  expect(html).not.toContain('The preview');

  const before = (page: Page) =>
    page.addInitScript(() => {
      const start = document.startViewTransition;
      const animated: string[] = [];
      Object.assign(window, { animated });
      document.startViewTransition = function (options) {
        const transition = start.call(this, options);
        const listNames = () => {
          const names = document.getAnimations().map(({ effect }) => (effect as KeyframeEffect).pseudoElement);
          animated.push(names.some((name) => name?.startsWith('::view-transition-new')) ? 'animated' : 'still');
        };
        transition.ready.then(listNames, () => animated.push('skipped'));
        return transition;
      };
    });
  const { page, complaints, documents } = await openPage(url, { before });

  await page.getByLabel('Text').fill('A dam');
  await page.getByRole('button', { name: 'preview' }).click();
  await page.getByText('The preview').waitFor();
  expect(await page.locator('textarea').isVisible()).toBe(false);
  await page.getByRole('button', { name: 'write' }).click();
  expect(await page.getByLabel('Text').inputValue()).toBe('A dam');

  // React also begins transitions in which nothing moves.
  const seen = () => page.evaluate(() => (window as unknown as { animated: string[] }).animated);
  expect(await seen()).not.toContain('animated');
  await page.getByRole('link', { name: 'About' }).click();
  await page.getByRole('heading', { name: 'About' }).waitFor();
  await expect.poll(seen).toContain('animated');
  expect(documents).toEqual(['/']);
  expect(complaints).toEqual([]);
  expect(log()).not.toContain('A browser reported a failure');
});
