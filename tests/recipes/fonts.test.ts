import { expect, it } from 'vitest';
import { shareBrowser, watch } from '../support/browser.ts';
import { useRecipe } from './recipe.ts';

const app = useRecipe(
  'fonts',
  (it) => {
    const page = 'export default () => <><title>Home</title><p>Text <code>code</code></p></>;';
    it.write({ 'src/shared/product/pages/home/home.tsx': page });
  },
  { withPackages: true },
);

it('loads only the fonts that a page shows, once, from hashed URLs and without a violation', async () => {
  const { url } = await app.start();
  const page = await (await shareBrowser()).newPage();
  const { complaints } = await watch(page);
  const loaded: string[] = [];
  page.on('response', async (response) => {
    if (response.request().resourceType() !== 'font') return;
    const { 'content-type': type, 'cache-control': cache } = await response.allHeaders();
    loaded.push(`${new URL(response.url()).pathname.replace(/-\w{8}\./, '-*.')} ${type} ${cache}`);
  });
  await page.goto(url);
  await page.waitForFunction(() => history.scrollRestoration === 'manual');
  const shown = await page.evaluate(async () => {
    await document.fonts.ready;
    return [...document.fonts]
      .filter(({ status }) => status === 'loaded')
      .map(({ family }) => family.replaceAll('"', ''));
  });
  expect(new Set(shown)).toEqual(new Set(['Inter Variable', 'Fira Mono']));
  const ending = 'font/woff2 public, max-age=31536000, immutable';
  expect(loaded.sort()).toEqual([
    `/assets/fira-mono-latin-400-normal-*.woff2 ${ending}`,
    `/assets/inter-latin-wght-normal-*.woff2 ${ending}`,
  ]);
  const preloads = await page
    .locator('head link[rel=preload][as=font]')
    .evaluateAll((links) => links.map((it) => it.getAttribute('href')));
  expect(preloads).toEqual([expect.stringMatching(/^\/assets\/inter-latin-wght-normal-\w{8}\.woff2$/)]);
  expect(complaints).toEqual([]);
  await page.context().close();
});
