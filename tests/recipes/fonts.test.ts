import { expect, it } from 'vitest';
import { listLoaded, openPage, useRecipe } from './recipe.ts';

const app = useRecipe(
  'fonts',
  (it) => {
    it.write({
      'src/shared/product/pages/home/home.tsx': `
        import './home.css';
        export default () => <><title>Home</title><p>Text <code>code</code></p></>;`,
      'src/shared/product/pages/home/home.css': `
        body { font-family: "Inter Variable", sans-serif; }
        code { font-family: "Fira Mono", monospace; }`,
    });
  },
  { withPackages: true },
);

it('loads only the fonts that a page shows, once, from hashed URLs and without a violation', async () => {
  const { url } = await app.start();
  const loaded: string[] = [];
  const { page, complaints } = await openPage(url, { before: listLoaded('font', loaded) });
  const shown = await page.evaluate(async () => {
    await document.fonts.ready;
    return [...document.fonts]
      .filter(({ status }) => status === 'loaded')
      .map(({ family }) => family.replaceAll('"', ''));
  });
  expect(new Set(shown)).toEqual(new Set(['Inter Variable', 'Fira Mono']));
  const ending = 'font/woff2 public, max-age=31536000, immutable';
  await expect
    .poll(() => loaded.toSorted())
    .toEqual([
      `/assets/fira-mono-latin-400-normal-*.woff2 ${ending}`,
      `/assets/inter-latin-wght-normal-*.woff2 ${ending}`,
    ]);
  const preloads = await page
    .locator('head link[rel=preload][as=font]')
    .evaluateAll((links) => links.map((it) => it.getAttribute('href')));
  expect(preloads).toEqual([expect.stringMatching(/^\/assets\/inter-latin-wght-normal-\w{8}\.woff2$/)]);
  expect(complaints).toEqual([]);
});
