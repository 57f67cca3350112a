import type { Request } from 'playwright-core';
import { expect, it } from 'vitest';
import type { OwnedApp } from '../support/owned-app.ts';
import { openPage, useRecipe, userAgent } from './recipe.ts';

const HOME = 'src/shared/product/pages/home/home.tsx';

/** Adds a query whose initial data is a deferred value. */
const addSales = (app: OwnedApp) => {
  app.replace(
    HOME,
    '      </Form>',
    '      </Form>\n<Await value={data.sales} fallback="Counting…">{(it) => <Sales loaded={it} />}</Await>',
  );
  app.replace(HOME, 'import { createClient,', "import { Sales } from './sales.tsx';\nimport { Await, createClient,");
  app.write({
    'src/shared/product/pages/home/sales.tsx': `
      import { useQuery } from '@tanstack/react-query';
      import { useLoaded } from '../../loaded.ts';
      export function Sales({ loaded }) {
        const queryFn = async () => (await fetch('/api/sales')).json();
        const sales = useQuery({ queryKey: ['sales'], queryFn, initialData: loaded });
        useLoaded(['sales'], loaded);
        return <p>{\`\${sales.data.total} sold\`}</p>;
      }`,
  });
};

const app = useRecipe('tanstack-query', addSales, { withPackages: true });

it('renders queries on the server, a deferred one later, and hydrates them without a request', async () => {
  const { url, log } = await app.start();
  const reply = await fetch(url, { headers: { 'user-agent': userAgent } });
  const html = await reply.text();
  expect(html.indexOf('1 orders')).toBeLessThan(html.indexOf('Counting…'));
  expect(html.indexOf('Counting…')).toBeLessThan(html.indexOf('<p>1 sold'));

  const calls: string[] = [];
  const note = (request: Request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/')) calls.push(pathname);
  };
  const { page, complaints, data } = await openPage(url, { before: (page) => page.on('request', note) });
  await page.getByText('1 sold').waitFor();

  // The query shows what the loader returns after a form…
  await page.getByLabel('Item').fill('A gate');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('heading', { name: '2 orders' }).waitFor();
  await page.getByText('2 sold').waitFor();
  expect(calls).toEqual([]);
  expect(data.map(({ method }) => method)).toContain('POST');

  // …and what the API returns later.
  await fetch(url, {
    method: 'POST',
    body: new URLSearchParams({ _action: 'home.add', item: 'A wheel' }),
    redirect: 'manual',
  });
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByRole('heading', { name: '3 orders' }).waitFor();
  expect(calls).toEqual(['/api/orders']);
  expect(complaints).toEqual([]);
  expect(log()).not.toContain('A browser reported a failure');
});
