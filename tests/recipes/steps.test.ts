import { request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createVisitor } from '../support/owned-app.ts';
import { listFailures } from '../support/server-process.ts';
import { until } from '../support/until.ts';
import { useRecipe } from './recipe.ts';

const PAGES = 'src/server/product/pages/index.ts';
const ROUTES = 'src/shared/product/routes.tsx';

const app = useRecipe('steps', (it) => {
  it.replace(PAGES, 'home: null', 'home: { loader: ({ context }) => ({ variant: context.variant }) },\n  about: null');
  const home = "{ id: 'home', path: '/', page: () => import('./pages/home/home.tsx') }";
  it.replace(ROUTES, home, `${home}, ${home.replace("'home', path: '/'", "'about', path: '/about', mode: 'static'")}`);
});

it('gives each visitor one variant, which loaders see at once, and keeps static pages shared after that', async () => {
  const { url } = await app.start();
  const visitor = createVisitor(url);
  const first = await visitor.get('/about');
  expect([first.headers.get('cache-control'), visitor.cookies.size]).toEqual(['private, no-cache', 1]);
  const variant = visitor.cookies.get('variant');
  expect(await (await visitor.get('/_data/')).text()).toContain(`"variant":"${variant}"`);
  const later = await visitor.get('/about');
  expect([later.headers.get('cache-control'), later.headers.getSetCookie()]).toEqual(['public, no-cache', []]);
  const other = createVisitor(url);
  const data = await (await other.get('/_data/')).text();
  expect(data).toContain(`"variant":"${other.cookies.get('variant')}"`);
});

it('redirects old URLs, of which some never reach a step', async () => {
  const { url } = await app.start();
  const ask = async (path: string) => {
    const { status, headers } = await fetch(url + path, { redirect: 'manual' });
    return [status, headers.get('location')];
  };
  expect(await ask('/zimmer.html?from=mail')).toEqual([301, '/rooms']);
  expect(await ask('/zimmer/s%C3%BCd.html')).toEqual([301, '/rooms/south']);
  for (const path of ['//zimmer.html', '/a//b', '/a%2Fb', '/s%FCd.html', '/zimmer.html?x=%FC']) {
    expect(await ask(path), path).toEqual([400, null]);
  }
});

it('closes for maintenance, except for what steps do not see', async () => {
  const { url } = await app.start({ MAINTENANCE: 'on' });
  const page = await fetch(url, { headers: { accept: 'text/html' } });
  expect([page.status, page.headers.get('retry-after')]).toEqual([503, '1800']);
  const html = await page.text();
  expect(html).toContain('We are back at 15:00.');
  expect((await fetch(`${url}/about`)).status).toBe(503);
  expect((await fetch(`${url}/_data/about`)).status).toBe(503);
  expect(await (await fetch(`${url}/api/none`)).json()).toMatchObject({ status: 503, detail: 'We are back at 15:00.' });
  expect((await fetch(`${url}/sign-in`)).status).toBe(404);
  for (const path of ['/livez', '/readyz']) expect((await fetch(url + path)).status, path).toBe(200);
  const [, asset = ''] = /"(\/assets\/[^"]+)"/.exec(html) ?? [];
  expect((await fetch(url + asset)).status, asset).toBe(200);
});

it('streams a download, while it answers others, and stops when the visitor leaves', async () => {
  const { url, log } = await app.start();
  expect((await fetch(`${url}/export/bookings.csv`)).status).toBe(403);
  const headers = { cookie: 'staff=1' };
  const download = await fetch(`${url}/export/bookings.csv`, { headers });
  expect(download.headers.get('cache-control')).toBe('private, no-store');
  expect(download.headers.get('content-disposition')).toBe('attachment; filename=bookings.csv');
  expect((await fetch(url)).status).toBe(200);
  expect(log(), 'The other request was answered first.').not.toMatch(/bookings\.csv","[^\n]*"status":200/);
  const text = await download.text();
  expect(text.split('\n')).toHaveLength(20_002);
  expect(text).toMatch(/^id,guest\n1,"'=1\+""1"""\n2,"Ada"\n/);
  const left = request(`${url}/export/bookings.csv`, { headers }).on('response', (reply) => {
    reply.on('error', () => undefined);
    left.destroy();
  });
  left.on('error', () => undefined).end();
  await until(() => log().includes('"gone":true'), 'the end of the second download');
  await setTimeout(300); // a failure would be in the log by now
  expect(listFailures(log())).toEqual([]);
});
