import { expect, it } from 'vitest';
import type { RunningApp } from '../support/owned-app.ts';
import { openPage, useRecipe } from './recipe.ts';

const JSON_LD = '{"@context":"https://schema.org","@type":"Product","name":"Boat"}';

const app = useRecipe('service-worker', (it) => {
  it.write({
    'src/shared/product/routes.tsx': `
      import { defineRoutes } from '#engine';
      export const routes = defineRoutes([{
        id: 'root',
        page: () => import('./pages/root/root.tsx'),
        children: [
          { id: 'home', path: '/', page: () => import('./pages/home/home.tsx') },
          { id: 'boat', path: '/boat', mode: 'static', page: () => import('./pages/boat.tsx') },
          { id: 'text', path: '/text', page: () => import('./pages/text.tsx') },
        ],
      }]);`,
    'src/server/product/pages/index.ts': 'export const pages = { root: null, home: null, boat: null, text: null };',
    'src/shared/product/pages/root/root.tsx': `
      import { Outlet } from 'react-router';
      import { Link } from '#engine';
      export default function Root() {
        return <main><Link to="/">Home</Link><Link to="/boat">Boat</Link><Link to="/text">Text</Link><Outlet /></main>;
      }`,
    'src/shared/product/pages/boat.tsx': `
      const data = { __html: ${JSON.stringify(JSON_LD)} };
      export default function Boat() {
        return <><title>Boat</title><h1>A boat</h1><script type="application/ld+json" dangerouslySetInnerHTML={data} /></>;
      }`,
    'src/shared/product/pages/text.tsx': `
      export default function Text() {
        return <><title>Text</title><h1>A text</h1><script type="application/ld+json">{${JSON.stringify(JSON_LD)}}</script></>;
      }`,
    'src/client/public/job.js': `
      importScripts('/part.js');
      fetch('/_data/').then(({ status }) => postMessage(part + ' ' + status), (error) => postMessage(String(error)));`,
    'src/client/public/part.js': "self.part = 'part';",
  });
});

/** Waits for reports about Trusted Types, which must not be kept. */
async function expectNoIncident(server: RunningApp, reports: number): Promise<void> {
  await expect.poll(() => server.log().split('"path":"/_report/browser"').length - 1).toBeGreaterThanOrEqual(reports);
  expect(server.log()).not.toContain('A browser reported a failure');
}

it.each(['/', '/boat'])(
  'shows a page when the visitor is offline, and pages of the server otherwise: %s',
  async (path) => {
    const server = await app.start();
    const { page } = await openPage(server.url + path);
    await page.evaluate(async () => void (await navigator.serviceWorker.ready));
    await page.reload();
    const title = await page.title();
    expect(title).not.toBe('Offline');
    expect(await page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
    await page.context().setOffline(true);
    await page.reload();
    expect(await page.title()).toBe('Offline');
    await page.context().setOffline(false);
    await page.getByRole('link', { name: 'Try again' }).click();
    await expect.poll(() => page.title()).toBe(title);
    await expectNoIncident(server, 1); // about the registration
  },
);

it('lets a worker import scripts and connect', async () => {
  const server = await app.start();
  const { page } = await openPage(server.url);
  const said = await page.evaluate(
    () => new Promise((resolve) => new Worker('/job.js').addEventListener('message', ({ data }) => resolve(data))),
  );
  expect(said).toBe('part 200');
  await expectNoIncident(server, 2);
});

it('has JSON-LD in the document and after a navigation, without an incident', async () => {
  const server = await app.start();
  const { page } = await openPage(server.url);
  for (const name of ['Boat', 'Text']) {
    await page.getByRole('link', { name }).click();
    await page.getByRole('heading', { name }).waitFor();
    expect(await page.locator('script[type="application/ld+json"]').textContent()).toBe(JSON_LD);
    expect(await (await fetch(`${server.url}/${name.toLowerCase()}`)).text()).toContain(`>${JSON_LD}</script>`);
  }
  // Of the registration, and two of each script that React makes.
  await expectNoIncident(server, 5);
});
