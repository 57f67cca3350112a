import { afterAll, beforeAll, expect, it } from 'vitest';
import { shareBrowser, watch } from '../support/browser.ts';
import { createOwnedApp, type OwnedApp, readProjectFile } from '../support/owned-app.ts';
import { listBlocks } from '../support/recipe-blocks.ts';

let app: OwnedApp;

beforeAll(async () => {
  app = createOwnedApp(listBlocks(readProjectFile('docs/recipes/html.md')));
  app.write({
    'src/shared/product/pages/home/home.tsx': `
      import { Link } from '#engine';
      export default function Home() { return <><h1>Home</h1><Link to="/article">Article</Link> <Link to="/plain">Plain</Link></>; }`,
    'src/shared/product/pages/plain/plain.tsx': `
      export default function Plain() { return <><h1>Plain</h1><p dangerouslySetInnerHTML={{ __html: '<i>text</i>' }} /></>; }`,
  });
  app.replace(
    'src/shared/product/routes.tsx',
    "{ id: 'article'",
    "{ id: 'plain', path: '/plain', page: () => import('./pages/plain/plain.tsx') },\n{ id: 'article'",
  );
  app.replace('src/server/product/pages/index.ts', '  article,', '  article,\n  plain: null,');
  await app.build();
});
afterAll(() => app.remove());

it('shows the text without its scripts, in the document and after a navigation', async () => {
  const { url } = await app.start();
  const browser = await shareBrowser();
  const page = await browser.newPage({ userAgent: 'Mozilla/5.0 Chrome/150.0.0.0' });
  const { complaints, documents } = await watch(page);
  const shown = async () => {
    await page.getByRole('heading', { name: 'Article' }).waitFor();
    return page.locator('article > div').innerHTML();
  };
  const html = '<p>Water is <strong>rising</strong>. <img src="x"> <a>Read more</a></p>\n';
  await page.goto(`${url}/article`);
  expect(await shown()).toBe(html);
  await page.goto(`${url}/`);
  await page.waitForFunction(() => history.scrollRestoration === 'manual');
  await page.getByRole('link', { name: 'Article' }).click();
  expect(await shown()).toBe(html);
  expect(documents).toEqual(['/article', '/']);
  const violations = () => complaints.filter((text) => text.includes('policy'));
  expect(violations()).toEqual([]);

  // A plain string violates the policy, which the browser reports.
  await page.goBack();
  await page.getByRole('link', { name: 'Plain' }).click();
  await page.getByRole('heading', { name: 'Plain' }).waitFor();
  await expect.poll(violations).toContainEqual(expect.stringContaining('require-trusted-types-for report'));
  await page.context().close();
});
