import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page, Response as PageResponse } from 'playwright-core';
import type { FoundIncident, ResolvedFrame, StoredFailure } from '../../../src/desk/server/store/records.ts';
import { openDriver, openStore } from '../../../src/desk/server/store/store.ts';
import { parseAddress, toOccurrence } from '../../../src/shared/reporting/address.ts';
import { hydrated } from '../../e2e/site.ts';
import { createOwnedApp, type OwnedApp, type RunningApp } from '../../support/owned-app.ts';
import { createTestLog } from '../../support/test-log.ts';
import { until } from '../../support/until.ts';

/** With word boundaries, because two ids in `traceparent`, which is in each document, can look like an address. */
export const ADDRESS = /\b[0-9A-HJKMNP-TV-Z]{8}-[0-9A-HJKMNP-TV-Z]{8}\b/;

/** A regular browser's user agent. The one of a headless browser would be treated as a crawler's. */
export const AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36';

/**
 * Finds the comments `// fails: <name>`.
 *
 * @param folder of the app, whose `src` is searched
 * @returns places such as `src/server/product/pay.ts:7`, by name
 */
export function readPlaces(folder: string): ReadonlyMap<string, string> {
  const found = readProduct(folder).flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index): [string, string][] => {
      const [, name] = /\/\/ fails: (\S+)$/.exec(line) ?? [];
      return name ? [[name, `${path}:${index + 1}`]] : [];
    }),
  );
  return new Map(found);
}

/** A line that fails, with its indent. */
const FAILING = /^( *)(.*\/\/ fails: \S+)$/gm;

function readProduct(folder: string): { readonly path: string; readonly text: string }[] {
  return readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
    .map((entry) => `src/${entry.replaceAll('\\', '/')}`)
    .filter((path) => /\/product\/.*\.tsx?$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
}

const stores = new Map<string, Awaited<ReturnType<typeof openFrom>>>();

async function openFrom(dataDir: string) {
  const driver = await openDriver({ dataDir, databaseUrl: undefined, log: createTestLog().log });
  return { driver, store: await openStore(driver, { environment: 'production' }) };
}

/** Opens the store of a running server from outside, like the desk command does. It stays open, because tests poll it. */
export async function useStore(dataDir: string) {
  const opened = stores.get(dataDir) ?? (await openFrom(dataDir));
  stores.set(dataDir, opened);
  return opened;
}

/**
 * Looks up an address in the desk of a running server.
 *
 * @throws if the text is not an address
 */
export async function lookUp(dataDir: string, text: string): Promise<FoundIncident | undefined> {
  const address = parseAddress(text);
  if (!address) throw new Error(`"${text}" is no address.`);
  return (await useStore(dataDir)).store.finder.find(address);
}

/** The first product line in the stack of the outermost error that has one. */
export function placeOf({ resolved = [] }: StoredFailure): string | undefined {
  const frame = resolved.map((frames) => frames.find(isProduct)).find((found) => found !== undefined);
  return frame && `${frame.file}:${frame.line}`;
}

function isProduct({ own, file }: ResolvedFrame): boolean {
  return own && file.includes('/product/');
}

/** The address in the first log line that matches. */
export function addressIn(log: string, isMeant: (line: Record<string, unknown>) => boolean): string | undefined {
  const lines = log.split('\n').flatMap((line) => (/^\{.*\}$/.test(line) ? [JSON.parse(line)] : []));
  const line = lines.find((one) => one.occurrence !== undefined && isMeant(one));
  return line && `${line.digest}-${line.occurrence}`;
}

/** Addresses by failure name. */
export type Addresses = ReadonlyMap<string, string>;

/** Failures before the first byte of the response, after it, and ones that are only logged. */
const FAILING_PAGES = {
  'loader-property': '/loader/property?token=canary',
  'loader-thrown': '/loader/thrown',
  'loader-cause': '/loader/cause',
  'loader-network': '/loader/network',
  'loader-unsendable': '/loader/unsendable',
  'loader-callback': '/waiting',
  'api-callback': '/api/waiting',
  'resource-callback': '/api/refused',
  guard: '/guarded',
  'shell-render': '/shell',
  step: '/step',
  route: '/export.csv',
  'route-callback': '/refused.csv',
  'mounted-app': '/legacy',
};
const FAILING_STREAMS = {
  'part-render': '/part',
  'after-flush': '/after',
  'late-rejected': '/late',
  'late-callback': '/later',
};
/** The last one ends the process. */
const LOGGED = {
  'late-write': ['/late-write', { origin: 'request' }],
  'report-callback': ['/loader/reported', { origin: 'report' }],
  'unhandled-rejection': ['/loader/rejection', { origin: 'request' }],
  // A busy machine blocks the loop for shorter times, without a request.
  'blocked-loop': ['/loader/blocked', { kind: 'blocked-loop', title: / (?:[2-9]|\d\d)\d{3} ms/ }],
  uncaught: ['/loader/uncaught', { origin: 'process', kind: 'server-exit' }],
} as const;

/** Triggers every server failure of the gallery, the last of which ends the server. */
export async function failOnServer(server: RunningApp): Promise<Addresses> {
  const headers = { 'User-Agent': AGENT, Origin: server.url };
  const addresses = new Map<string, string>();
  const ask = (path: string, init?: RequestInit) => fetch(server.url + path, { redirect: 'manual', ...init, headers });
  const note = (name: string, text: string | null | undefined) =>
    void addresses.set(name, ADDRESS.exec(text ?? '')?.[0] ?? '');
  /** Notes the header, if the body has it too. */
  const noteHeader = async (name: string, response: Response) => {
    const address = response.headers.get('X-Error-Digest') ?? 'none';
    const body = (await response.text()).replace('/desk/', '').replace(/\/(?=\w{8}")/, '-'); // of a problem's `instance`
    note(name, response.status === 500 && body.includes(address) ? address : '');
  };
  for (const [name, path] of Object.entries(FAILING_PAGES)) await noteHeader(name, await ask(path));
  const body = new URLSearchParams({ _action: 'form.thrown' });
  await noteHeader('action-thrown', await ask('/form', { method: 'POST', body }));
  const sent = new URLSearchParams({ _action: 'sending.send' });
  await noteHeader('action-callback', await ask('/sending', { method: 'POST', body: sent }));
  await noteHeader('api-thrown', await ask('/api/orders/7'));
  await noteHeader('api-rejected', await ask('/api/orders/7', { method: 'DELETE' }));
  for (const [name, path] of Object.entries(FAILING_STREAMS)) note(name, await (await ask(path)).text());
  for (const [name, [path, told]] of Object.entries(LOGGED)) {
    const before = server.log().length;
    const acting = ask(path).catch(() => undefined); // the connection can end with the process
    note(name, await findLogged(server, told, before));
    await acting;
  }
  await server.ended;
  return addresses;
}

/** Waits for the address of a failure in the log. @param told fields that the log line must have, or their patterns */
export async function findLogged({ log }: RunningApp, told: object, before = 0): Promise<string> {
  const isMeant = (line: Readonly<Record<string, unknown>>) =>
    Object.entries(told).every(([key, value]) =>
      value instanceof RegExp ? value.test(String(line[key])) : line[key] === value,
    );
  const read = () => addressIn(log().slice(before), isMeant);
  await until(() => read() !== undefined, `a line with ${JSON.stringify(told)} in the log`);
  return read() ?? '';
}

/** Triggers every browser failure of the gallery, and reads their addresses from the tunnel's responses. */
export async function failInBrowser(browser: Browser, { url }: RunningApp): Promise<Addresses> {
  const addresses = new Map<string, string>();
  const context = await browser.newContext({ baseURL: url, userAgent: AGENT });
  const page = await context.newPage();
  const open = async (path: string) => {
    await page.goto(path);
    await hydrated(page);
  };
  const note = async (name: string, act: () => Promise<unknown>) => {
    const { id, digest = '' } = await reportOf(page, act);
    addresses.set(name, `${digest}-${toOccurrence(id)}`);
  };
  const notePress = (name: string, button = name) => note(name, () => press(page, button));
  await open('/browser');
  for (const name of ['click', 'rejection', 'effect']) await notePress(name);
  await open('/browser');
  await notePress('render');
  await open('/');
  await notePress('home-click', 'open');
  await press(page, 'more');
  await notePress('more-click', 'buy');
  await note('client-render', () => page.goto('/client-render'));
  await note('mismatch', () => page.goto('/mismatch'));
  await note('effect-kept', () => page.goto('/kept'));
  await context.close();
  return addresses;
}

/** Clicks without a pointer, because the address shown for a failure moves the buttons below it. */
export function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).dispatchEvent('click');
}

export interface ReportAnswer {
  readonly id: string;
  /** Set if the running build can compute it. */
  readonly digest?: string;
}

/** Returns the tunnel's response to the report that `act` causes. */
export async function reportOf(page: Page, act: () => Promise<unknown>): Promise<ReportAnswer> {
  const isReport = (response: PageResponse) => new URL(response.url()).pathname === '/_report';
  const [answer] = await Promise.all([page.waitForResponse(isReport), act()]);
  return (await answer.json()) as ReportAnswer;
}

export const createGallery = () => createOwnedApp([], { over: 'gallery' });

/**
 * The gallery's next release. Its pages have other texts, `step` throws another message, and there are ten more lines
 * above each failure: seven at the top of its file, and three before the statement that fails.
 */
export function createNextGallery(): OwnedApp {
  const app = createGallery();
  const addLines = (_all: string, indent: string, line: string) =>
    `${indent}Reflect.has(globalThis, 'nothing');\n`.repeat(3) + indent + line;
  for (const { path, text } of readProduct(app.folder)) {
    const grown = text.replaceAll(FAILING, addLines);
    if (grown !== text) app.write({ [path]: '// This line is new.\n'.repeat(7) + grown });
  }
  app.replace('src/server/product/steps.ts', 'The step stumbled', 'The step tripped');
  app.replace('src/shared/product/pages/home/home.tsx', '>Home<', '>Home, anew<');
  app.replace('src/shared/product/pages/home/more.tsx', '>More<', '>More, anew<');
  app.replace('src/shared/product/pages/browser/lazy.tsx', '>Lazy<', '>Lazy, anew<');
  return app;
}
