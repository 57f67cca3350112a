import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page, Response as PageResponse } from 'playwright-core';
import { parseAddress } from '../../src/server/desk/address.ts';
import { openDriver } from '../../src/server/desk/store/open-driver.ts';
import type { Found, ResolvedFrame, StoredFailure } from '../../src/server/desk/store/records.ts';
import type { SqlDriver } from '../../src/server/desk/store/sql.ts';
import { openStore, type Store } from '../../src/server/desk/store/store.ts';
import { DIGEST_RULE } from '../../src/server/engine/errors/digest/create-digest.ts';
import { hydrated } from '../e2e/site.ts';
import { createTestLog } from './desk.ts';
import type { OwnedApp, RunningApp } from './owned-app.ts';
import { until } from './until.ts';

/** Whole words: the digits of two ids in `traceparent`, which stands in each document, may look like one. */
export const ADDRESS = /\b[0-9A-HJKMNP-TV-Z]{8}-[0-9A-HJKMNP-TV-Z]{8}\b/;

/** A headless browser's own name would be answered as a crawler's. */
export const AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36';

/** `src/server/product/pay.ts:7` */
export type Place = string;

/** Where the comments `// fails: <name>` stand. @param folder of the app, whose `src` is searched */
export function readPlaces(folder: string): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const { path, lines } of readProduct(folder)) {
    for (const [index, line] of lines.entries()) {
      const name = nameOf(line);
      if (name) places.set(name, `${path}:${index + 1}`);
    }
  }
  return places;
}

function readProduct(folder: string): { readonly path: string; readonly lines: readonly string[] }[] {
  return readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
    .map((entry) => `src/${entry.replaceAll('\\', '/')}`)
    .filter((path) => /\/product\/.*\.tsx?$/.test(path))
    .map((path) => ({ path, lines: readFileSync(join(folder, path), 'utf8').split('\n') }));
}

function nameOf(line: string): string | undefined {
  return /\/\/ fails: (\S+)$/.exec(line)?.[1];
}

/** The store of a running server, opened beside it, as the command does. */
export async function withStore<T>(dataDir: string, work: (store: Store, driver: SqlDriver) => Promise<T>): Promise<T> {
  const driver = openDriver({ dataDir, databaseUrl: undefined, log: createTestLog().log });
  const store = await openStore(driver, { rule: DIGEST_RULE, environment: 'production' });
  try {
    return await work(store, driver);
  } finally {
    await store.close();
  }
}

/**
 * What the desk of a running server knows of an address.
 *
 * @throws where the text is no address
 */
export async function lookUp(dataDir: string, text: string): Promise<Found | undefined> {
  const address = parseAddress(text);
  if (!address) throw new Error(`"${text}" is no address.`);
  return withStore(dataDir, (store) => store.find(address));
}

/** The line of the product that failed: the first one of the outermost error that has any. */
export function placeOf({ resolved = [] }: StoredFailure): Place | undefined {
  const frame = resolved.map((frames) => frames.find(isProduct)).find((found) => found !== undefined);
  return frame && `${frame.file}:${frame.line}`;
}

function isProduct({ own, file }: ResolvedFrame): boolean {
  return own && file.includes('/product/');
}

/** Of the first line of a log that tells of such a failure. */
export function addressIn(log: string, isMeant: (line: Record<string, unknown>) => boolean): string | undefined {
  const lines = log.split('\n').map(parseLine);
  const line = lines.find((one) => one?.occurrence !== undefined && isMeant(one));
  return line && `${line.digest}-${line.occurrence}`;
}

function parseLine(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // the last one may be half there
  }
}

/** Digests by the names of the failures. */
export type Digests = ReadonlyMap<string, string | undefined>;

/** What fails before the first byte, and on its way. */
const FAILING_PAGES = {
  'loader-property': '/loader/property',
  'loader-thrown': '/loader/thrown',
  'loader-cause': '/loader/cause',
  'loader-string': '/loader/string',
  'loader-network': '/loader/network',
  'loader-upstream': '/loader/upstream',
  'loader-unsendable': '/loader/unsendable',
  guard: '/guarded',
  'shell-render': '/shell',
  step: '/step',
  route: '/export.csv',
  'mounted-app': '/legacy',
} as const;
const FAILING_STREAMS = {
  'part-render': '/part',
  'after-flush': '/after',
  'late-rejected': '/late/thrown',
  'late-native': '/late/native',
} as const;
/** What is told by the log alone. The last one ends the process. */
const LOGGED = {
  'late-write': ['/late-write', { origin: 'request' }],
  'unhandled-rejection': ['/loader/rejection', { origin: 'request' }],
  'blocked-loop': ['/loader/blocked', { kind: 'blocked-loop' }],
  uncaught: ['/loader/uncaught', { origin: 'process', kind: 'exception' }],
} as const;

type Ask = (path: string, init?: RequestInit) => Promise<Response>;

/** Brings about every failure of the gallery on a server, which ends by it, and reads their digests where they are told. */
export async function failOnServer(server: RunningApp): Promise<Digests> {
  const headers = { 'User-Agent': AGENT, Origin: server.url };
  const ask: Ask = (path, init) => fetch(server.url + path, { redirect: 'manual', ...init, headers });
  const digests = new Map<string, string | undefined>();
  for (const [name, path] of Object.entries(FAILING_PAGES)) digests.set(name, toHeader(await ask(path)));
  for (const name of ['thrown', 'native']) digests.set(`action-${name}`, toHeader(await post(`form.${name}`, ask)));
  for (const [name, path] of Object.entries(FAILING_STREAMS)) digests.set(name, await toMarkup(await ask(path)));
  digests.set('api-thrown', await toProblem(await ask('/api/orders/7')));
  digests.set('api-rejected', await toProblem(await ask('/api/orders/7', { method: 'DELETE' })));
  for (const [name, [path, told]] of Object.entries(LOGGED)) {
    digests.set(name, await findLogged(() => ask(path), told, server));
  }
  await server.ended;
  return digests;
}

function post(action: string, ask: Ask): Promise<Response> {
  return ask('/form', { method: 'POST', body: new URLSearchParams({ _action: action }) });
}

function toHeader({ headers }: Response): string | undefined {
  return headers.get('X-Error-Digest')?.slice(0, 8);
}

/** Of a template, or of what is shown where a late value was to come. */
async function toMarkup(response: Response): Promise<string | undefined> {
  return ADDRESS.exec(await response.text())?.[0].slice(0, 8);
}

async function toProblem(response: Response): Promise<string> {
  return ((await response.json()) as { digest: string }).digest;
}

/** @param told what the line of the log must say */
async function findLogged(
  act: () => Promise<unknown>,
  told: Readonly<Record<string, string>>,
  { log }: RunningApp,
): Promise<string | undefined> {
  const before = log().length;
  const acting = act().catch(() => undefined); // the connection may end with the process
  const isMeant = (line: Readonly<Record<string, unknown>>) =>
    Object.entries(told).every(([key, value]) => line[key] === value);
  const read = () => addressIn(log().slice(before), isMeant)?.slice(0, 8);
  await until(() => read() !== undefined, `a line with ${JSON.stringify(told)} in the log`, 15_000);
  await acting;
  return read();
}

/** Brings about every failure of the gallery in a browser, and reads their digests from the tunnel's answers. */
export async function failInBrowser(browser: Browser, { url }: RunningApp): Promise<Digests> {
  const digests = new Map<string, string | undefined>();
  const context = await browser.newContext({ baseURL: url, userAgent: AGENT });
  const page = await context.newPage();
  const note = async (name: string, act: () => Promise<unknown>) => {
    digests.set(name, (await reportOf(page, act)).digest);
  };
  await page.goto('/browser');
  await hydrated(page);
  for (const name of ['click', 'click-string', 'rejection', 'timer', 'effect']) {
    await note(name, () => press(page, name));
  }
  await page.goto('/browser');
  await hydrated(page);
  await note('render', () => press(page, 'render'));
  await page.goto('/');
  await hydrated(page);
  await note('home-click', () => press(page, 'open'));
  await note('home-list', () => press(page, 'list'));
  await press(page, 'more');
  await note('more-click', () => press(page, 'buy'));
  await note('client-render', () => page.goto('/client-render'));
  await note('mismatch', () => page.goto('/mismatch'));
  await note('effect-kept', () => page.goto('/kept'));
  await context.close();
  return digests;
}

/** Without a pointer: the address of a failure that comes below moves what stands there. */
export function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).dispatchEvent('click');
}

export interface ReportAnswer {
  readonly id: string;
  /** Where the build that runs can tell it. */
  readonly digest?: string;
}

/** What the tunnel answers to the report of what is done. */
export async function reportOf(page: Page, act: () => Promise<unknown>): Promise<ReportAnswer> {
  const isReport = (response: PageResponse) => new URL(response.url()).pathname === '/_report';
  const [answer] = await Promise.all([page.waitForResponse(isReport, { timeout: 15_000 }), act()]);
  return (await answer.json()) as ReportAnswer;
}

/**
 * Writes ten lines above each failure of an app, as the next release does: seven before the function
 * (or whatever stands at the top of the module) that it is in, three before the statement that fails.
 */
export function insertLines(app: OwnedApp): void {
  for (const { path, lines } of readProduct(app.folder)) {
    if (lines.some(nameOf)) app.write({ [path]: withLinesAbove(lines).join('\n') });
  }
}

function withLinesAbove(lines: readonly string[]): string[] {
  let grown = [...lines];
  for (let at = 0; at < grown.length; at += 1) {
    const line = grown[at] ?? '';
    if (!nameOf(line)) continue;
    const top = grown.findLastIndex((other, index) => index <= at && /^[a-z]/.test(other));
    const indent = /^ */.exec(line)?.[0] ?? '';
    grown = [
      ...grown.slice(0, top),
      ...toFunction(`before${at}`),
      ...grown.slice(top, at),
      `${indent}// What stands here is new,`,
      `${indent}Reflect.has(globalThis, 'nothing');`,
      `${indent}// and what follows is as it was.`,
      ...grown.slice(at),
    ];
    at += 10;
  }
  return grown;
}

/** It is called, so that no bundler leaves it out. */
function toFunction(name: string): string[] {
  return [
    '/**',
    ' * Of this release.',
    ' */',
    `function ${name}(): number {`,
    '  return performance.now();',
    '}',
    `Reflect.has(globalThis, String(${name}()));`,
  ];
}
