import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useOwnedSite } from './owned-site.ts';
import { exchanged } from './site.ts';

// Tests the section on `Await` and React's Suspense in the guide's chapter on deferred data.

const visit = useOwnedSite({
  'src/shared/product/routes.tsx': `
    import { defineRoutes } from '#engine';
    export const routes = defineRoutes([
      {
        id: 'root',
        page: () => import('./pages/root/root.tsx'),
        children: [
          { id: 'home', path: '/', page: () => import('./pages/home/home.tsx') },
          { id: 'city', path: '/city', page: () => import('./pages/city.tsx') },
          { id: 'inner', path: '/inner', page: () => import('./pages/inner.tsx') },
          { id: 'plain', path: '/plain', page: () => import('./pages/plain.tsx') },
          { id: 'release', path: '/release', page: () => import('./pages/home/home.tsx') },
        ],
      },
    ]);`,
  'src/shared/product/pages/city.tsx': `
    import { useNavigation } from 'react-router';
    import { Await, Link } from '#engine';
    export default function City({ data: { city, keyed, weather } }) {
      const { state } = useNavigation();
      return (
        <>
          <title>City</title>
          <h1>{city}</h1>
          <p id="state">{state}</p>
          <Link to="/city?name=Turin" prefetch="none">Turin</Link>
          <Link to="/city?name=Turin&keyed=1" prefetch="none">Turin, by key</Link>
          <div id="place">
            <Await key={keyed ? city : ''} value={weather} fallback={<p>Asking…</p>}>
              {(words) => <p>{words}</p>}
            </Await>
          </div>
        </>
      );
    }`,
  'src/shared/product/pages/inner.tsx': `
    import { Suspense, use } from 'react';
    import { Await } from '#engine';
    function Second({ value }) { return <p>{use(value)}</p>; }
    export default function Inner({ data: { first, second } }) {
      return (
        <>
          <title>Inner</title>
          <h1>Inner</h1>
          <div id="together">
            <Await value={first} fallback={<p>Waiting for both…</p>}>
              {(words) => <><p>{words}</p><Second value={second} /></>}
            </Await>
          </div>
          <div id="apart">
            <Await value={first} fallback={<p>Waiting for the first…</p>}>
              {(words) => <><p>{words}</p><Suspense fallback={<p>Waiting for the second…</p>}><Second value={second} /></Suspense></>}
            </Await>
          </div>
          <div id="outer">
            <Suspense fallback={<p>Never shown.</p>}>
              <p>Shown at once.</p>
              <Await value={second} fallback={<p>Waiting in here…</p>}>{(words) => <p>{words}</p>}</Await>
            </Suspense>
          </div>
        </>
      );
    }`,
  'src/shared/product/pages/plain.tsx': `
    import { Suspense, use } from 'react';
    function Value({ value }) { return <p>{use(value)}</p>; }
    export default function Plain({ data: { value } }) {
      return <><title>Plain</title><h1>Plain</h1><Suspense fallback={<p>Waiting…</p>}><Value value={value} /></Suspense></>;
    }
    export function ErrorBoundary() { return <h1>The whole page failed</h1>; }`,
  'src/server/product/pages/index.ts': `
    import { setTimeout } from 'node:timers/promises';
    const held = [];
    const hold = (value) => new Promise((resolve) => held.push(() => resolve(value)));
    export const pages = {
      root: null,
      home: null,
      release: { loader: () => { for (const give of held.splice(0)) give(); return {}; } },
      city: {
        loader: ({ request }) => {
          const { searchParams } = new URL(request.url);
          const city = searchParams.get('name') ?? 'Oslo';
          return { city, keyed: searchParams.has('keyed'), weather: city === 'Oslo' ? Promise.resolve('Rain in Oslo') : hold('Sun in ' + city) };
        },
      },
      inner: { loader: () => ({ first: setTimeout(300, 'First'), second: hold('Second') }) },
      plain: {
        loader: ({ request }) => ({
          value: new URL(request.url).searchParams.has('fail') ? setTimeout(200).then(() => { throw new Error('Refused.'); }) : setTimeout(200, 'There'),
        }),
      },
    };`,
});

/** Lets the held values arrive. */
const release = (page: Page) => page.request.get('/release');

const read = async (page: Page, selector: string) => (await page.locator(selector).innerText()).split(/\n+/);

const readAll = (page: Page) => Promise.all(['#together', '#apart', '#outer'].map((id) => read(page, id)));

test.each([
  ['keeps it until the next one arrives, and delays the whole update', 'Turin'],
  ['shows its fallback immediately if its key changes', 'Turin, by key'],
])('an Await that already shows a value %s', async (_what, name) => {
  const { page, complaints } = await visit('/city');
  await exchanged(page);
  await page.getByRole('link', { name, exact: true }).click();
  const readPage = async () => [await read(page, 'h1'), await read(page, '#state'), await read(page, '#place')].flat();
  if (name === 'Turin') {
    await page.locator('#state').getByText('loading').waitFor();
    await page.waitForTimeout(500);
    expect(await readPage()).toEqual(['Oslo', 'loading', 'Rain in Oslo']);
  } else {
    await page.getByText('Asking…').waitFor();
    expect(await readPage()).toEqual(['Turin', 'idle', 'Asking…']);
  }
  await release(page);
  await page.getByText('Sun in Turin').waitFor();
  expect(await readPage()).toEqual(['Turin', 'idle', 'Sun in Turin']);
  expect(complaints).toEqual([]);
});

test('a value arrives after the page has become interactive and the router has taken over', async () => {
  const { page, complaints } = await visit('/');
  await page.goto('/city?name=Turin', { waitUntil: 'commit' });
  await exchanged(page);
  expect(await read(page, '#place')).toEqual(['Asking…']);
  await release(page);
  await page.getByText('Sun in Turin').waitFor();
  expect(complaints).toEqual([]);
});

test('a component that suspends inside an Await keeps the fallback visible, unless it has its own Suspense', async () => {
  const { page, complaints } = await visit('/');
  await page.goto('/inner', { waitUntil: 'commit' });
  await page.locator('#apart').getByText('Waiting for the second…').waitFor();
  expect(await readAll(page)).toEqual([
    ['Waiting for both…'],
    ['First', 'Waiting for the second…'],
    ['Shown at once.', 'Waiting in here…'], // the Suspense around this Await does not wait for it
  ]);
  await release(page);
  await page.locator('#outer').getByText('Second').waitFor();
  expect(await readAll(page)).toEqual([
    ['First', 'Second'],
    ['First', 'Second'],
    ['Shown at once.', 'Second'],
  ]);
  expect(complaints).toEqual([]);
});

test('use() inside a Suspense shows the value, and a rejection replaces the page with its ErrorBoundary', async () => {
  const { page, complaints } = await visit('/plain');
  await page.locator('main').getByText('There').waitFor();
  expect(complaints).toEqual([]);
  await page.goto('/plain?fail');
  await page.getByRole('heading', { name: 'The whole page failed' }).waitFor();
});
