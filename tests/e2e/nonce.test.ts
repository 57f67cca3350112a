import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, type Watched, watch } from '../support/browser.ts';
import { startDevApp } from '../support/dev-app.ts';
import { createOwnedApp } from '../support/owned-app.ts';
import { hydrated } from './site.ts';

/** A layout with an inline script, as the recipe has it. */
const root = (hooks: string) => `
  import { Outlet } from 'react-router';
  import { useNonce } from '${hooks}';
  const script = { __html: 'window.ranInline = true' };
  export default function Root() {
    return (
      <main>
        <script nonce={useNonce()} suppressHydrationWarning dangerouslySetInnerHTML={script} />
        <Outlet />
      </main>
    );
  }`;

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

async function open(url: string): Promise<Watched & { page: Page; ran: boolean }> {
  const page = await browser.newPage({ userAgent: 'Mozilla/5.0 Chrome/150.0.0.0' });
  const watched = await watch(page);
  await page.goto(url);
  await hydrated(page);
  await page.waitForTimeout(200);
  const ran = await page.evaluate(() => (window as { ranInline?: boolean }).ranInline === true);
  return { ...watched, page, ran };
}

test('an inline script with useNonce() runs where the page is rendered for one request, and nowhere else', async () => {
  const app = createOwnedApp();
  app.write({
    'src/shared/product/pages/root/root.tsx': root('../../../engine/hooks.ts'),
    'src/shared/product/routes.tsx': `
      import { defineRoutes } from '../engine/routes.ts';
      export const routes = defineRoutes([
        {
          id: 'root',
          page: () => import('./pages/root/root.tsx'),
          children: [
            { id: 'home', path: '/', page: () => import('./pages/home/home.tsx') },
            { id: 'kept', path: '/kept', mode: 'static', page: () => import('./pages/home/home.tsx') },
          ],
        },
      ]);`,
    'src/server/product/pages/index.ts': 'export const pages = { root: null, home: null, kept: null };',
  });
  await app.build();
  const { url } = await app.start();
  app.remove();
  const home = await open(url);
  expect(home.ran).toBe(true);
  expect(home.complaints.filter((line) => !line.includes('404'))).toEqual([]);
  expect((await open(`${url}/kept`)).ran).toBe(false);
});

test('React for development, which compares attributes, has nothing to say of it', async () => {
  const app = await startDevApp({ 'src/shared/product/pages/root.tsx': root('../../engine/hooks.ts') });
  try {
    const { complaints, ran } = await open(app.url);
    expect(ran).toBe(true);
    expect(complaints.filter((line) => !line.includes('404'))).toEqual([]);
  } finally {
    await app.stop();
  }
});
