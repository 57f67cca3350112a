import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { FoundIncident } from '../../../src/desk/server/store/records.ts';
import { toOccurrence } from '../../../src/shared/reporting/address.ts';
import type { AssetManifest } from '../../../src/shared/wire/manifest.ts';
import { exchanged, hydrated } from '../../e2e/site.ts';
import { shareBrowser, watch } from '../../support/browser.ts';
import { type OwnedApp, project, type RunningApp, startApp } from '../../support/owned-app.ts';
import {
  AGENT,
  addressIn,
  createGallery,
  createNextGallery,
  lookUp,
  placeOf,
  press,
  type ReportAnswer,
  readPlaces,
  reportOf,
  useStore,
} from '../support/gallery.ts';

/** In the second one, failing code is further down, and pages have different texts. */
let first: OwnedApp;
let next: OwnedApp;
let browser: Browser;
let folder: string;
let dataDir: string;
let server: RunningApp;
let tab: Page;
let documents: readonly string[];
/** Of the first release. */
let build: string;
let assets: ReadonlyMap<string, Buffer>;

beforeAll(async () => {
  [first, next] = [createGallery(), createNextGallery()];
  [browser] = await Promise.all([shareBrowser(), first.build(), next.build()]);
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-deploy-')));
  dataDir = join(folder, 'data');
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
  server = await deploy(first);
  build = readBuildId();
  assets = readAssets(join(folder, 'dist/client/assets'));
  tab = await openTab();
  ({ documents } = await watch(tab));
  // If this chunk failed to load, the browser would remember it, and the tab would report only when it is closed.
  const reporter = tab.waitForResponse(/\/courier-/);
  await tab.goto('/');
  await exchanged(tab);
  await (await reporter).finished();
  const isPublished = async () => (await useStore(dataDir)).store.useBuild({ id: build, release: build });
  await vi.waitFor(async () => expect(await isPublished()).toBe(true), 30_000);
  await server.stop();
  server = await deploy(next, new URL(server.url).port);
}, 180_000);
afterAll(async () => {
  await tab?.context().close();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
  first?.remove();
  next?.remove();
});

/** Replaces the previous release. Only the store still has its files. */
async function deploy(app: OwnedApp, port = '0'): Promise<RunningApp> {
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  cpSync(join(app.folder, 'dist'), join(folder, 'dist'), { recursive: true });
  return startApp(folder, { PORT: port, DATA_DIR: dataDir });
}

function readBuildId(): string {
  return (JSON.parse(readFileSync(join(folder, 'dist/manifest.json'), 'utf8')) as AssetManifest).buildId;
}

async function openTab(): Promise<Page> {
  const context = await browser.newContext({ baseURL: server.url, userAgent: AGENT });
  return context.newPage();
}

/** Waits until a report is ingested, because its digest is unknown when it is journaled. */
async function findReported(id: string): Promise<FoundIncident> {
  const occurrence = toOccurrence(id);
  return vi.waitFor(async () => {
    const address = addressIn(server.log(), (line) => line.occurrence === occurrence);
    const found = address === undefined ? undefined : await lookUp(dataDir, address);
    if (!found?.occurrence?.full) throw new Error(`${address ?? id} leads nowhere.`);
    return found;
  }, 30_000);
}

/** Triggers the failures of the page `/`, and returns the tunnel's responses by failure name. */
async function failOn(page: Page): Promise<ReadonlyMap<string, ReportAnswer>> {
  const answers = new Map<string, ReportAnswer>();
  answers.set('home-click', await reportOf(page, () => press(page, 'open')));
  answers.set('home-list', await reportOf(page, () => press(page, 'list')));
  await press(page, 'more');
  return answers.set('more-click', await reportOf(page, () => press(page, 'buy')));
}

test('a tab that was open across a deploy has its failures resolved with its own build, and the digests that the next build has for the same code', async () => {
  // Immediately, while the server is still opening its store.
  const reports = await failOn(tab);
  const fresh = await openTab();
  onTestFinished(() => fresh.context().close());
  await fresh.goto('/');
  await hydrated(fresh);
  const newReports = await failOn(fresh);

  const newBuild = readBuildId();
  expect(newBuild).not.toBe(build);
  const places = readPlaces(first.folder);
  for (const [name, { id, digest: untold }] of reports) {
    const { id: newId = '', digest } = newReports.get(name) ?? {};
    expect([name, untold, digest]).toEqual([name, undefined, expect.stringMatching(/^\w{8}$/)]);
    await findReported(newId);
    const { incident, occurrence } = await findReported(id);
    expect([name, incident.digest]).toEqual([name, digest]);
    expect(incident.counts).toEqual({ server: 0, browser: 2 });
    expect(occurrence).toMatchObject({ build, release: build, side: 'browser', route: '/' });
    expect(occurrence?.full && placeOf(occurrence.full)).toBe(places.get(name));
    expect(await lookUp(dataDir, `${digest}-${toOccurrence(id)}`)).toMatchObject({ occurrence });
  }
});

test('a tab that was open across a deploy gets assets that it had not loaded yet from the store, unchanged and cacheable forever', async () => {
  await press(tab, 'more');
  await tab.getByRole('heading', { name: 'More', exact: true }).waitFor();
  const kept = readAssets(join(folder, 'dist/client/assets'));
  const gone = [...assets].filter(([path]) => !kept.has(path));
  expect(gone.length).toBeGreaterThan(10);
  for (const [path, bytes] of gone) {
    const answer = await fetch(server.url + path, { headers: { 'Accept-Encoding': 'identity' } });
    expect([path, answer.status]).toEqual([path, 200]);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes), path).toBe(true);
    expect(answer.headers.get('Content-Type')).toBe('text/javascript; charset=utf-8');
    expect(answer.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
  }
});

test('a tab that was open across a deploy loads a document of the next release at its next navigation, and does not report that', async () => {
  await tab.getByRole('link', { name: '/lazy' }).click();
  await tab.getByRole('heading', { name: 'Lazy, anew' }).waitFor();
  expect(documents).toEqual(['/', '/lazy']);
  // Before that, a click would load a document.
  await exchanged(tab);
  await tab.getByRole('link', { name: '/', exact: true }).click();
  await tab.getByRole('heading', { name: 'Home, anew' }).waitFor();
  expect(documents).toEqual(['/', '/lazy']);
  expect(addressIn(server.log(), (line) => line.kind === 'load')).toBeUndefined();
});

/** By URL path, without the compressed copies. */
function readAssets(path: string): ReadonlyMap<string, Buffer> {
  const names = readdirSync(path).filter((name) => !/\.(?:br|gz|zst)$/.test(name));
  return new Map(names.map((name) => [`/assets/${name}`, readFileSync(join(path, name))]));
}
