import { expect, it } from 'vitest';
import { shareBrowser, watch } from '../support/browser.ts';
import { useRecipe } from './recipe.ts';

const app = useRecipe('tanstack-query', () => undefined, { withPackages: true });

const userAgent = 'Mozilla/5.0 Chrome/150.0.0.0';

it('renders queries on the server, a deferred one later, and hydrates them without a request', async () => {
  const { url, log } = await app.start();
  const reply = await fetch(url, { headers: { 'user-agent': userAgent } });
  const html = await reply.text();
  expect(html.indexOf('1 orders')).toBeLessThan(html.indexOf('Counting…'));
  expect(html.indexOf('Counting…')).toBeLessThan(html.indexOf('<p>1 sold'));

  const page = await (await shareBrowser()).newPage({ userAgent });
  const { complaints, data } = await watch(page);
  const calls: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/')) calls.push(pathname);
  });
  await page.goto(url);
  await page.getByText('1 sold').waitFor();
  await page.waitForFunction(() => history.scrollRestoration === 'manual');

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
  await page.context().close();
});
