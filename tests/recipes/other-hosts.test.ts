import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningApp, startApp } from '../support/owned-app.ts';
import { openPage, useRecipe } from './recipe.ts';

const app = useRecipe('other-hosts', (it) => {
  it.write({
    'src/shared/product/routes.tsx': `
      import { defineRoutes } from '#engine';
      export const routes = defineRoutes([{
        id: 'root',
        page: () => import('./pages/root/root.tsx'),
        children: [
          { id: 'home', path: '/', page: () => import('./pages/home/home.tsx') },
          { id: 'about', path: '/about', mode: 'static', page: () => import('./pages/home/home.tsx') },
          { id: 'pay', path: '/pay', page: () => import('./pages/pay.tsx') },
          { id: 'donate', path: '/donate', mode: 'static', page: () => import('./pages/pay.tsx') },
        ],
      }]);`,
    'src/server/product/pages/index.ts':
      'export const pages = { root: null, home: null, about: null, pay: null, donate: null };',
    'src/shared/product/pages/root/root.tsx': `
      import { Outlet } from 'react-router';
      import { Link } from '#engine';
      import { Consent } from '../../ui/consent.tsx';
      export default function Root() {
        return <main><Link to="/pay">Pay</Link><Link to="/donate">Donate</Link><Outlet /><Consent /></main>;
      }`,
    'src/shared/product/pages/pay.tsx': `
      import { Payment } from '../ui/payment.tsx';
      export default function Pay() { return <><title>Pay</title><h1>Pay</h1><Payment /></>; }`,
  });
});

/** What the other hosts serve. Their scripts also do what Trusted Types report. */
const FILES: Record<string, string> = {
  'https://stats.example/stats.js': `
    const more = document.createElement('script');
    more.src = 'https://stats.example/more.js';
    document.head.append(more);`,
  'https://stats.example/more.js': `
    document.body.insertAdjacentHTML('beforeend', '<i id="badge">Counted</i>');
    fetch('https://stats.example/collect', { method: 'POST', body: location.pathname });`,
  'https://stats.example/collect': '',
  'https://pay.example/pay.js': `
    window.payExample = {
      mount(element) {
        const frame = document.createElement('iframe');
        frame.src = 'https://pay.example/card';
        element.append(frame);
        return { unmount: () => frame.remove() };
      },
    };`,
  'https://pay.example/card': '<input aria-label="Card">',
};

/** Violations by these scripts, which are only reported. */
const THEIRS = /trusted-types-sink (?:Element insertAdjacentHTML|HTMLScriptElement src\|https:\/\/stats)/;

let server: RunningApp;
beforeAll(async () => {
  server = await startApp(app.folder);
});
afterAll(async () => void (await server?.stop()));

async function open(path: string) {
  const asked: string[] = [];
  const serve = (route: Route) => {
    const url = route.request().url();
    asked.push(url);
    const contentType = url.endsWith('.js') ? 'text/javascript' : 'text/html';
    const headers = { 'Access-Control-Allow-Origin': '*' };
    return FILES[url] === undefined ? route.abort() : route.fulfill({ body: FILES[url], contentType, headers });
  };
  const before = (page: Page) => page.route(/\.example\//, serve);
  const { page, complaints } = await openPage(server.url + path, { before });
  return { page, asked, violations: () => complaints.filter((text) => !THEIRS.test(text)) };
}

const agree = (page: Page) => page.getByRole('button', { name: 'Yes' }).click();

it.each(['/', '/about'])('loads analytics only with consent, and what it loads in turn: %s', async (path) => {
  const { page, asked, violations } = await open(path);
  await page.getByText('May we count').waitFor();
  expect(asked).toEqual([]);
  await agree(page);
  await page.getByText('Counted').waitFor();
  await expect.poll(() => asked).toContain('https://stats.example/collect');
  await page.reload();
  await page.getByText('Counted').waitFor();
  expect(await page.getByText('May we count').count()).toBe(0);
  expect(violations()).toEqual([]);
});

it.each([
  ['/pay', undefined],
  ['/donate', undefined],
  ['/', 'Donate'],
  ['/about', 'Pay'],
])('shows a payment form: %s, then %s', async (path, link) => {
  const { page, asked, violations } = await open(path);
  if (link) await page.getByRole('link', { name: link }).click();
  await page.frameLocator('iframe').getByLabel('Card').waitFor();
  expect(asked).toContain('https://pay.example/card');
  expect(violations()).toEqual([]);
});

it('causes no incident', () => {
  expect(server.log()).not.toContain('A browser reported a failure');
});
