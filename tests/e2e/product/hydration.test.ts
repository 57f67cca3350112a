import { describe, expect, test } from 'vitest';
import type { RouteDefinition } from '#engine';
import { routes } from '#product/routes.tsx';
import { exchanged, hydrated, useSite } from '../site.ts';

const site = useSite();

/** The whole route table, without the pages that fail on purpose and the one that redirects. */
const paths = listPaths(routes)
  .map((path) => path.replace(':tab', 'arch'))
  .filter((path) => !path.startsWith('/tour/fail/') && path !== '/tour/late-redirect');

function listPaths(table: readonly RouteDefinition[]): string[] {
  return table.flatMap(({ path, children = [] }) => [...(path ? [path] : []), ...listPaths(children)]);
}

describe('hydration', () => {
  test.each(paths)('%s hydrates the markup of the server without complaints or a second request', async (path) => {
    const { page, complaints, data, documents } = await site.open(path);
    await exchanged(page);
    await page.waitForTimeout(50); // time for effects of loading the router
    expect(complaints).toEqual([]);
    expect(data.filter(({ isPrefetch }) => !isPrefetch)).toEqual([]);
    expect(documents).toEqual([path]);
  });

  test('a page that was not found is hydrated with the layout around it', async () => {
    const { page, complaints } = await site.open('/nowhere');
    await exchanged(page);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Page not found');
    expect(complaints).toEqual([expect.stringContaining('status of 404')]);
    await page.getByRole('link', { name: 'Cards', exact: true }).click();
    await page.getByRole('heading', { name: 'Cards' }).waitFor();
  });

  test("a static page is hydrated from the browser's cache, after a 304 without a body", async () => {
    const { page, complaints } = await site.open('/tour/static');
    const time = await page.locator('#rendered-at').innerText();
    const before = site.server.log().length;
    await page.goto('/tour/cards');
    await page.goto('/tour/static');
    await exchanged(page);
    await expect
      .poll(() => site.server.log().slice(before))
      .toMatch(/"path":"\/tour\/static"[^\n]*"status":304|"status":304[^\n]*"\/tour\/static"/);
    expect(await page.locator('#rendered-at').innerText()).toBe(time);
    await page.getByRole('link', { name: 'Cards', exact: true }).click();
    await page.getByRole('heading', { name: 'Cards' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('a page works after Back, from the back/forward cache or by a document load', async () => {
    const { page, complaints } = await site.open('/tour/forms');
    await hydrated(page);
    await page.goto('/tour/static');
    await page.goBack();
    await exchanged(page);
    await page.getByRole('link', { name: 'Cards', exact: true }).click();
    await page.getByRole('heading', { name: 'Cards' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
