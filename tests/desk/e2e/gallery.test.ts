import { exec } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { FoundIncident } from '../../../src/desk/server/store/records.ts';
import { toOccurrence } from '../../../src/shared/reporting/address.ts';
import type { AssetManifest } from '../../../src/shared/wire/manifest.ts';
import { exchanged, hydrated } from '../../e2e/site.ts';
import { shareBrowser, watch } from '../../support/browser.ts';
import { createFolder } from '../../support/folder.ts';
import { findFreePort } from '../../support/free-port.ts';
import { type OwnedApp, type RunningApp, startApp } from '../../support/owned-app.ts';
import {
  ADDRESS,
  type Addresses,
  AGENT,
  addressIn,
  createGallery,
  createNextGallery,
  failInBrowser,
  failOnServer,
  findLogged,
  lookUp,
  placeOf,
  press,
  type ReportAnswer,
  readPlaces,
  reportOf,
  useStore,
} from '../support/gallery.ts';

const TOKEN = 'a-token-of-sixteen-characters';

let app: OwnedApp;
let next: OwnedApp;
let browser: Browser;
let server: RunningApp;
let dataDir: string;
let places: ReadonlyMap<string, string>;
let addresses: Addresses;
/** The exit code of the first server, and what it had stored by then. */
let ended: { readonly code: number | null; readonly found: FoundIncident | undefined };

beforeAll(async () => {
  [app, next] = [createGallery(), createNextGallery()];
  [browser] = await Promise.all([shareBrowser(), app.build(), next.build()]);
  dataDir = join(app.folder, 'data');
  places = readPlaces(app.folder);
  server = await startApp(app.folder, { OPERATOR_TOKEN: TOKEN });
  addresses = await failEverywhere(server); // the last failure ends the server
  ended = { code: await server.ended, found: await lookUp(dataDir, addresses.get('uncaught') ?? '') };
  server = await startApp(app.folder, { OPERATOR_TOKEN: TOKEN });
}, 300_000);
afterAll(async () => {
  await server?.stop();
  app?.remove();
  next?.remove();
});

async function failEverywhere(running: RunningApp): Promise<Addresses> {
  return new Map([...(await failInBrowser(browser, running)), ...(await failOnServer(running))]);
}

/** Waits until the desk worker has ingested the incident with its full occurrence. */
async function find(address: string, from = dataDir): Promise<FoundIncident> {
  expect(address).toMatch(new RegExp(`^${ADDRESS.source}$`));
  return expect
    .poll(() => lookUp(from, address), { message: `${address} leads nowhere` })
    .toMatchObject({ occurrence: { full: expect.anything() } })
    .then(() => lookUp(from, address) as Promise<FoundIncident>);
}

test('a failure that ends the process is stored before it ends', async () => {
  expect(ended.code).toBe(1);
  expect(ended.found?.occurrence?.full?.origin).toBe('process');
});

const BUTTON = { side: 'browser', origin: 'browser', route: '/browser' };

test.each<[name: string, story: object]>([
  ['loader-property', { origin: 'loader', route: '/loader/:way' }],
  ['loader-thrown', { origin: 'loader', title: expect.stringMatching(/^PaymentError: The card was declined/) }],
  ['loader-cause', { origin: 'loader' }],
  ['loader-network', { kind: 'network', origin: 'loader' }],
  ['loader-unsendable', { origin: 'loader', route: '/loader/:way' }],
  ['loader-callback', { origin: 'loader' }],
  ['guard', { origin: 'guard' }],
  ['shell-render', { origin: 'render' }],
  ['step', { origin: 'step' }],
  ['route', { origin: 'step' }],
  ['route-callback', { origin: 'step' }],
  ['mounted-app', { origin: 'step' }],
  ['action-thrown', { origin: 'action' }],
  ['action-callback', { origin: 'action' }],
  ['api-thrown', { origin: 'api', route: '/api/orders/:id' }],
  ['api-rejected', { origin: 'api', request: { method: 'DELETE', url: '/api/orders/7' } }],
  ['api-callback', { origin: 'api' }],
  ['resource-callback', { origin: 'api' }],
  ['part-render', { origin: 'render' }],
  ['after-flush', { origin: 'render' }],
  ['late-rejected', { origin: 'late' }],
  ['late-callback', { origin: 'late' }],
  ['late-write', { origin: 'request' }],
  ['report-callback', { origin: 'report', route: '/loader/:way' }],
  ['unhandled-rejection', { origin: 'request', route: '/loader/:way' }],
  ['blocked-loop', { kind: 'blocked-loop', origin: 'process', extra: { inFlight: [{ route: '/loader/blocked' }] } }],
  ['uncaught', { kind: 'server-exit', origin: 'process' }],
  ['click', BUTTON],
  ['rejection', BUTTON],
  ['effect', BUTTON],
  ['render', BUTTON],
  ['client-render', { side: 'browser', route: '/client-render' }],
  ['mismatch', { side: 'browser', kind: 'hydration', route: '/mismatch' }],
  ['effect-kept', { side: 'browser', route: '/kept' }],
])('%s: the address that a visitor or the log shows leads to its line', async (name, story) => {
  const { incident, occurrence } = await find(addresses.get(name) ?? '');
  const { full } = occurrence ?? {};
  expect(full).toMatchObject({ kind: 'exception', side: 'server', ...story });
  const hasPlace = !['loader-unsendable', 'blocked-loop', 'mismatch'].includes(name);
  const component = name === 'mismatch' ? 'src/shared/product/pages/browser/mismatch.tsx:1' : undefined;
  expect([places.has(name), full && placeOf(full)]).toEqual([hasPlace, component ?? places.get(name)]);
  // A busy machine can block the loop once more.
  const server = name === 'blocked-loop' ? expect.any(Number) : 1;
  expect(incident.counts).toEqual(full?.side === 'server' ? { server, browser: 0 } : { server: 0, browser: 1 });
});

/** Runs the built command, next to the server. */
function desk(rest: string) {
  const options = { cwd: app.folder, env: { ...process.env, DATA_DIR: dataDir, OPERATOR_TOKEN: TOKEN } };
  return promisify(exec)(`"${process.execPath}" dist/desk.mjs ${rest} 2>&1`, options).then(({ stdout }) => stdout);
}

test('npm run desk finds the line of an address', async () => {
  const out = await desk(addresses.get('loader-property') ?? '');
  const place = places.get('loader-property') ?? '';
  expect(out).toContain(`- Where: \`${place}\``);
  expect(out).toMatch(new RegExp(`^> +${place.split(':')[1]} +return \\{ text: order\\.customer\\.name \\};`, 'm'));
  expect(await desk('list --json | true')).toBe('');
});

describe('a digest', () => {
  const toDigests = (found: Addresses) => new Map([...found].map(([name, address]) => [name, address.slice(0, 8)]));

  test('is different for each failure', () => {
    const digests = [...toDigests(addresses).values()];
    expect(digests.length).toBeGreaterThan(25);
    expect(new Set(digests).size).toBe(digests.length);
  });

  test('is the same in a release with an empty store in which the code has moved, and different if the code has changed', async () => {
    const moved = readPlaces(next.folder);
    for (const [name, place] of places) {
      expect([name, lineOf(moved.get(name)) - lineOf(place) >= 10]).toEqual([name, true]);
    }
    const digests = toDigests(addresses);
    const others = toDigests(await failEverywhere(await next.start()));
    const changed = 'step'; // which throws another message
    expect(others.get(changed)).toMatch(/^\w{8}$/);
    expect([...digests.values()]).not.toContain(others.get(changed));
    expect(new Map(others).set(changed, digests.get(changed) ?? '')).toEqual(digests);
  });
});

function lineOf(place = ''): number {
  return Number(place.slice(place.lastIndexOf(':') + 1));
}

describe('a tab that was open across a deploy', () => {
  /** The data of both releases. Only its store has the files of the first one after the deploy. */
  const data = createFolder(afterAll);
  let site: RunningApp;
  let tab: Page;
  let documents: readonly string[];

  beforeAll(async () => {
    const settings = { PORT: String(await findFreePort()), DATA_DIR: data };
    site = await startApp(app.folder, settings);
    tab = await openTab();
    ({ documents } = await watch(tab));
    // If this chunk failed to load, the browser would remember it, and the tab would report only when it is closed.
    const reporter = tab.waitForResponse(/\/courier-/);
    await tab.goto('/');
    await exchanged(tab);
    await (await reporter).finished();
    const [id, { store }] = [readBuildId(app), await useStore(data)];
    const isStored = async () => expect(await store.builds.useBuild({ id, release: id })).toBe(true);
    await vi.waitFor(isStored, 30_000);
    await site.stop();
    site = await startApp(next.folder, settings);
  });
  afterAll(async () => {
    await tab?.context().close();
    await site?.stop();
  });

  const openTab = async () => (await browser.newContext({ baseURL: site.url, userAgent: AGENT })).newPage();

  /** Triggers the failures of the page `/`, and returns the tunnel's responses by failure name. */
  async function failOn(page: Page): Promise<ReadonlyMap<string, ReportAnswer>> {
    const answers = new Map<string, ReportAnswer>();
    answers.set('home-click', await reportOf(page, () => press(page, 'open')));
    await press(page, 'more');
    return answers.set('more-click', await reportOf(page, () => press(page, 'buy')));
  }

  /** Its digest is unknown when it is journaled. */
  const findReported = async (id: string) => find(await findLogged(site, { occurrence: toOccurrence(id) }), data);

  test('has its failures resolved with its own build, and the digests that the next build has for the same code', async () => {
    // Immediately, while the server is still opening its store.
    const reports = await failOn(tab);
    const fresh = await openTab();
    onTestFinished(() => fresh.context().close());
    await fresh.goto('/');
    await hydrated(fresh);
    const newReports = await failOn(fresh);

    const build = readBuildId(app);
    expect(readBuildId(next)).not.toBe(build);
    for (const [name, { id, digest: untold }] of reports) {
      const { id: newId = '', digest } = newReports.get(name) ?? {};
      expect([name, untold, digest]).toEqual([name, undefined, expect.stringMatching(/^\w{8}$/)]);
      await findReported(newId);
      const { incident, occurrence } = await findReported(id);
      expect([name, incident.digest]).toEqual([name, digest]);
      expect(incident.counts).toEqual({ server: 0, browser: 2 });
      expect(occurrence).toMatchObject({ build, release: build, side: 'browser', route: '/' });
      expect(occurrence?.full && placeOf(occurrence.full)).toBe(places.get(name));
      expect(await lookUp(data, `${digest}-${toOccurrence(id)}`)).toMatchObject({ occurrence });
    }
  });

  test('gets assets that it had not loaded yet from the store, unchanged and cacheable forever', async () => {
    await press(tab, 'more');
    await tab.getByRole('heading', { name: 'More', exact: true }).waitFor();
    const [assets, kept] = [readAssets(app), readAssets(next)];
    const gone = [...assets].filter(([path]) => !kept.has(path));
    expect(gone.length).toBeGreaterThan(10);
    for (const [path, bytes] of gone) {
      const answer = await fetch(site.url + path, { headers: { 'Accept-Encoding': 'identity' } });
      expect([path, answer.status]).toEqual([path, 200]);
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes), path).toBe(true);
      expect(answer.headers.get('Content-Type')).toBe('text/javascript; charset=utf-8');
      expect(answer.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
    }
  });

  test('loads a document of the next release at its next navigation, and does not report that', async () => {
    await tab.getByRole('link', { name: '/lazy' }).click();
    await tab.getByRole('heading', { name: 'Lazy, anew' }).waitFor();
    expect(documents).toEqual(['/', '/lazy']);
    // Before that, a click would load a document.
    await exchanged(tab);
    await tab.getByRole('link', { name: '/', exact: true }).click();
    await tab.getByRole('heading', { name: 'Home, anew' }).waitFor();
    expect(documents).toEqual(['/', '/lazy']);
    expect(addressIn(site.log(), (line) => line.kind === 'load')).toBeUndefined();
  });
});

function readBuildId({ folder }: OwnedApp): string {
  return (JSON.parse(readFileSync(join(folder, 'dist/manifest.json'), 'utf8')) as AssetManifest).buildId;
}

/** By URL path, without the compressed copies. */
function readAssets({ folder }: OwnedApp): ReadonlyMap<string, Buffer> {
  const path = join(folder, 'dist/client/assets');
  const names = readdirSync(path).filter((name) => !/\.(?:br|gz|zst)$/.test(name));
  return new Map(names.map((name) => [`/assets/${name}`, readFileSync(join(path, name))]));
}
