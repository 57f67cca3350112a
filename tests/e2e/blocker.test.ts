import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useOwnedSite } from './owned-site.ts';
import { exchanged, heading, hydrated } from './site.ts';

const site = useOwnedSite({
  'src/shared/product/routes.tsx': `
    import { defineRoutes } from '../engine/routes.ts';
    export const routes = defineRoutes([
      { id: 'draft', path: '/draft', page: () => import('./pages/draft.tsx') },
      { id: 'list', path: '/list', page: () => import('./pages/list.tsx') },
    ]);`,
  'src/server/product/pages/index.ts': 'export const pages = { draft: null, list: null };',
  'src/shared/product/pages/draft.tsx': `
    import { useState } from 'react';
    import { useBlocker } from 'react-router';
    import { Link } from '../../engine/link.tsx';
    export default function Draft() {
      const [isDirty, setDirty] = useState(false);
      const { state, proceed } = useBlocker(isDirty);
      return (
        <main>
          <title>Draft</title>
          <h1>Draft</h1>
          <input aria-label="Text" onChange={() => setDirty(true)} />
          <Link to="/list">List</Link>
          {state === 'blocked' && <button type="button" onClick={() => proceed()}>Leave it</button>}
        </main>
      );
    }`,
  'src/shared/product/pages/list.tsx': `
    import { Link } from '../../engine/link.tsx';
    export default function List() {
      return (
        <main>
          <title>List</title>
          <h1>List</h1>
          <Link to="/draft">Draft</Link>
        </main>
      );
    }`,
});

/** Types into the draft and leaves it, which is asked about once. */
async function leaveDraft(page: Page): Promise<void> {
  await page.getByLabel('Text').fill('A letter');
  await page.getByRole('link', { name: 'List' }).click();
  await page.getByRole('button', { name: 'Leave it' }).click();
  await heading(page, 'List');
}

test('useBlocker asks once, and lets go when its page is gone, also where the router came after it', async () => {
  const router = Promise.withResolvers<void>();
  const { page, complaints, documents } = await site.open('/draft', {
    before: (page) =>
      page.route(/\/assets\/navigator-[^/]+\.js$/, async (route) => {
        await router.promise;
        await route.continue();
      }),
  });
  await hydrated(page);
  await page.getByLabel('Text').fill('A');
  router.resolve();
  await exchanged(page);
  await leaveDraft(page);
  await page.getByRole('link', { name: 'Draft' }).click();
  await heading(page, 'Draft');
  await leaveDraft(page);
  expect(documents).toEqual(['/draft']);
  expect(complaints.filter((line) => !line.includes('404'))).toEqual([]);
});
