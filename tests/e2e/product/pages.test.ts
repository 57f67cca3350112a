import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { RouteDefinition } from '#engine';
import { routes } from '#product/routes.tsx';
import { expectAccessible } from '../accessible.ts';
import { exchanged, heading, hydrated, link, useSite } from '../site.ts';

const site = useSite();

/** Pages that look like another one. */
const SAME = /^\/tour\/(?:late-redirect|fail\/(?:render|effect|chunk|hydration|forbidden|not-found))$/;
const paths = listPaths(routes).filter((path) => !SAME.test(path));

function listPaths(table: readonly RouteDefinition[]): string[] {
  return table.flatMap(({ path, children = [] }) => [
    ...(path ? [path.replace(':tab', 'arch')] : []),
    ...listPaths(children),
  ]);
}

test.each([...paths, '/nowhere'])(
  '%s hydrates the markup of the server without complaints or a second request, is accessible, and fits any screen',
  async (path) => {
    const { page, complaints, data, documents } = await site.open(path);
    if (path.startsWith('/tour/fail/')) await hydrated(page);
    else {
      await exchanged(page);
      expect(complaints.filter((line) => path !== '/nowhere' || !line.includes('status of 404'))).toEqual([]);
      expect(data.filter(({ isPrefetch }) => !isPrefetch)).toEqual([]);
      expect(documents).toEqual([path]);
    }
    await expectAccessible(page);
  },
);

test("a static page is hydrated from the browser's cache, after a 304 without a body, and after Back", async () => {
  const { page, complaints } = await site.open('/tour/static');
  const time = await page.locator('#rendered-at').getAttribute('datetime');
  const before = site.server.log().length;
  await page.goto('/tour/cards');
  await page.goto('/tour/static');
  await exchanged(page);
  await expect
    .poll(() => site.server.log().slice(before))
    .toMatch(/"path":"\/tour\/static"[^\n]*"status":304|"status":304[^\n]*"\/tour\/static"/);
  expect(await page.locator('#rendered-at').getAttribute('datetime')).toBe(time);
  await page.goBack();
  await exchanged(page);
  await link(page, 'API').click();
  await heading(page, 'API');
  expect(complaints).toEqual([]);
});

const gauges = (page: Page) => page.locator('dl').innerText();

test('without JavaScript, a page with deferred values is requested again, and then contains all of them', async () => {
  const { page, documents } = await site.open('/tour/streaming', { javaScriptEnabled: false });
  await page.waitForURL('**/tour/streaming?_whole=1');
  await page.waitForLoadState();
  for (const text of ['212 cm at the bridge', '187 cm upstream', '64 cm in the', 'This gauge is out of order.']) {
    expect(await gauges(page)).toContain(text);
  }
  expect(await gauges(page)).not.toContain('Asking');
  expect(documents).toEqual(['/tour/streaming', '/tour/streaming?_whole=1']);
});

test('deferred values do not delay a visitor who leaves', async () => {
  const { page, complaints, documents } = await site.openLive('/tour/streaming', { waitUntil: 'commit' });
  await link(page, 'Cards').click();
  await heading(page, 'Cards');
  await page.goBack();
  await page.locator('#mountains').getByText('64 cm').waitFor();
  expect([documents, complaints]).toEqual([['/tour/streaming'], []]);
});
