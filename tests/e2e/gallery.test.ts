import { join } from 'node:path';
import type { Browser, Page, Response as PageResponse } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { FoundIncident } from '../../src/server/desk/store/records.ts';
import { shareBrowser } from '../support/browser.ts';
import {
  ADDRESS,
  type Addresses,
  AGENT,
  failInBrowser,
  failOnServer,
  findLogged,
  lookUp,
  placeOf,
  readPlaces,
  withStore,
} from '../support/gallery.ts';
import { createOwnedApp, type OwnedApp, type RunningApp, startApp } from '../support/owned-app.ts';
import { exchanged } from './site.ts';

let app: OwnedApp;
let server: RunningApp;
let browser: Browser;
let dataDir: string;
let places: ReadonlyMap<string, string>;
let addresses: Addresses;

beforeAll(async () => {
  app = createOwnedApp([], { over: 'gallery' });
  [browser] = await Promise.all([shareBrowser(), app.build()]);
  dataDir = join(app.folder, 'data');
  places = readPlaces(app.folder);
  server = await startApp(app.folder);
  addresses = new Map([...(await failInBrowser(browser, server)), ...(await failOnServer(server))]);
}, 180_000);
afterAll(async () => {
  await server?.stop();
  app?.remove();
});

/** Waits until the desk worker has ingested the incident with its full occurrence. */
async function find(address: string): Promise<FoundIncident> {
  expect(address).toMatch(new RegExp(`^${ADDRESS.source}$`));
  return expect
    .poll(() => lookUp(dataDir, address), { timeout: 10_000, message: `${address} leads nowhere` })
    .toMatchObject({ occurrence: { full: expect.anything() } })
    .then(() => lookUp(dataDir, address) as Promise<FoundIncident>);
}

test('a failure that ends the process is stored before it ends', async () => {
  expect(await server.ended).toBe(1);
  const found = await lookUp(dataDir, addresses.get('uncaught') ?? '');
  expect(found?.occurrence?.full?.origin).toBe('process');
  server = await startApp(app.folder);
});

const GET = { method: 'GET' };
const ORDER = { url: '/api/orders/7' };
const BUTTON = { side: 'browser', origin: 'browser', route: '/browser' };

test.each<[name: string, story: object, request?: object]>([
  ['loader-property', { origin: 'loader', route: '/loader/:way' }, { url: '/loader/property?token=[redacted]' }],
  ['loader-thrown', { origin: 'loader', title: expect.stringMatching(/^PaymentError: The card was declined/) }],
  ['loader-cause', { origin: 'loader' }],
  ['loader-string', { origin: 'loader', title: expect.stringMatching(/^NonError: a string/) }],
  ['loader-network', { kind: 'network', origin: 'loader' }],
  [
    'loader-upstream',
    {
      title: expect.stringMatching(/^PaymentError/),
      breadcrumbs: [{ category: 'fetch', level: 'error', message: expect.stringContaining('GET http://127.0.0.1:4/') }],
    },
  ],
  ['loader-unsendable', { origin: 'loader', route: '/loader/:way' }],
  ['guard', { origin: 'guard' }, GET],
  ['shell-render', { origin: 'render', title: expect.stringMatching(/^TypeError/) }],
  ['step', { origin: 'step' }],
  ['route', { origin: 'step' }],
  ['mounted-app', { origin: 'step' }],
  ['action-thrown', { origin: 'action' }, { method: 'POST' }],
  ['action-native', { origin: 'action' }, { method: 'POST' }],
  ['api-thrown', { origin: 'api', route: '/api/orders/:id' }, { ...GET, ...ORDER }],
  ['api-rejected', { origin: 'api', route: '/api/orders/:id' }, { method: 'DELETE', ...ORDER }],
  ['part-render', { origin: 'render' }, { url: '/part' }],
  ['after-flush', { origin: 'render' }, { url: '/after' }],
  ['late-rejected', { origin: 'late' }, { url: '/late/thrown' }],
  ['late-native', { origin: 'late' }, { url: '/late/native' }],
  ['late-write', { origin: 'request' }, GET],
  ['unhandled-rejection', { origin: 'request', route: '/loader/:way' }],
  ['blocked-loop', { kind: 'blocked-loop', origin: 'process', extra: { ms: expect.any(Number) } }],
  ['uncaught', { origin: 'process' }],
  ['click', { ...BUTTON, title: expect.stringMatching(/^TypeError: The button was not ready/) }],
  ['click-string', { ...BUTTON, title: expect.stringMatching(/no error at all/) }],
  ['rejection', { ...BUTTON, title: expect.stringMatching(/^Error: Nobody waited/) }],
  ['timer', { ...BUTTON, title: expect.stringMatching(/^TypeError/) }],
  ['effect', BUTTON],
  ['render', { ...BUTTON, title: expect.stringMatching(/^TypeError/) }],
  ['client-render', { side: 'browser', route: '/client-render' }],
  ['mismatch', { side: 'browser', kind: 'hydration', route: '/mismatch', componentStack: expect.any(String) }],
  ['effect-kept', { side: 'browser', route: '/kept' }],
])('%s: the address that a visitor or the log shows leads to its line', async (name, story, request = {}) => {
  const { incident, occurrence } = await find(addresses.get(name) ?? '');
  const { full } = occurrence ?? {};
  expect(full).toMatchObject({ kind: 'exception', side: 'server', ...story });
  expect(full?.request ?? {}).toMatchObject(request);
  const hasPlace = !['loader-string', 'loader-unsendable', 'blocked-loop', 'click-string', 'mismatch'].includes(name);
  expect([places.has(name), full && placeOf(full)]).toEqual([hasPlace, places.get(name)]);
  const isServer = full?.side === 'server';
  expect(incident.counts).toEqual(isServer ? { server: 1, browser: 0 } : { server: 0, browser: 1 });
  if (full?.request?.headers) expect(full.request.headers['user-agent']).toBe(AGENT);
});

test('a hydration mismatch names the component', async () => {
  const { incident } = await find(addresses.get('mismatch') ?? '');
  expect(incident.location).toMatchObject({ path: expect.stringMatching(/\/mismatch\.tsx$/), function: 'Words' });
});

test('an occurrence has the id of its request', async () => {
  const response = await fetch(`${server.url}/loader/property`);
  const { occurrence } = await find(response.headers.get('X-Error-Digest') ?? '');
  expect(occurrence?.requestId).toBe(response.headers.get('X-Request-Id'));
});

async function open(path: string, before?: (page: Page) => Promise<unknown>): Promise<Page> {
  const context = await browser.newContext({ baseURL: server.url, userAgent: AGENT });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await before?.(page);
  await page.goto(path);
  return page;
}

test.each([
  ['lazy', /\/assets\/lazy-[A-Z0-9]{8}\.js/],
  ['styled', /\/assets\/styled-[A-Z0-9]{8}\.css/],
])(
  'a missing file of page %s is reported if the document that is loaded instead does not have it',
  async (name, pattern) => {
    const before = server.log().length;
    let courier: Promise<PageResponse> | undefined;
    const page = await open('/', async (opened) => {
      courier = opened.waitForResponse(/\/courier-/);
      await opened.route(pattern, (route) => route.fulfill({ status: 404, body: 'gone' }));
    });
    // Before that, the click would load a document.
    await exchanged(page);
    await (await courier)?.finished(); // Without it, the document's first script reports less.
    await page.getByRole('link', { name: `/${name}` }).click();
    await page.getByRole('heading', { name: name === 'lazy' ? 'Lazy' : 'Styled' }).waitFor();
    const found = await find(await findLogged(server, { kind: 'load' }, before));
    expect(found).toMatchObject({
      incident: { title: expect.stringMatching(/^LoadError: A script or/), counts: { server: 0 } },
      occurrence: { side: 'browser' },
    });
  },
);

test('a failure on the server is not reported again by the browser: navigation, action, deferred value', async () => {
  const page = await open('/');
  /** Finds the shown address. Waits for another failure to be reported, because a duplicate would be before that. */
  async function expectOnce(name: string): Promise<void> {
    const text = page.locator('main').getByText(ADDRESS).first();
    const address = ADDRESS.exec((await text.textContent()) ?? '')?.[0] ?? '';
    const { incident, occurrence } = await find(address);
    expect(occurrence?.full && placeOf(occurrence.full)).toBe(places.get(name));
    const last = `the last failure after ${name}`;
    await page.evaluate((message) => {
      dispatchEvent(new ErrorEvent('error', { message, error: new Error(message) }));
    }, last);
    await expect.poll(() => server.log(), { timeout: 15_000 }).toContain(last);
    expect((await lookUp(dataDir, address))?.incident.counts).toEqual(incident.counts);
  }
  await exchanged(page);
  await page.getByRole('link', { name: '/loader/property' }).click();
  await expectOnce('loader-property');
  await page.goto('/form');
  await page.getByRole('button', { name: 'thrown' }).click();
  await expectOnce('action-thrown');
  await page.goto('/late/thrown');
  await expectOnce('late-rejected');
});

test('a death without a word is reported at the next start, with the requests that it ended', async () => {
  const hanging = fetch(`${server.url}/hang`).catch(() => undefined);
  const readBeats = () => withStore(dataDir, (_, driver) => driver.all('SELECT in_flight FROM desk_processes'));
  await expect.poll(async () => JSON.stringify(await readBeats())).toContain('/hang');
  await fetch(`${server.url}/loader/death`).catch(() => undefined);
  await hanging;
  expect(await server.ended).toBeNull();
  server = await startApp(app.folder);
  const { occurrence } = await find(await findLogged(server, { kind: 'unclean-death' }));
  expect(occurrence?.full).toMatchObject({
    origin: 'process',
    extra: { memory: expect.any(Number), inFlight: [{ method: 'GET', route: '/hang' }] },
  });
});
