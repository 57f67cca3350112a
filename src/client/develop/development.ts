import { captureOwnerStack } from 'react';
import {
  DEV_EVENTS,
  DEV_FAILURES,
  DEV_FRAMES,
  DEV_STATE,
  type DevError,
  type DevState,
  type ThrownInBrowser,
} from '../../shared/develop-protocol.ts';
import type { PageModule } from '../../shared/routing/routes.ts';
import { Millisecond, Second } from '../../shared/units.ts';
import type { PageError } from '../../shared/wire/payload.ts';
import { keepPageState } from '../navigation/page-state.ts';
import type { RootHooks } from '../reporting/reporting.ts';
import { isMeant } from '../reporting/thrown.ts';
import { importModule, repeatCutRequests } from './cut-requests.ts';
import { exchangeSheets, watchHead } from './head.ts';
import { hideOverlay, showProblems } from './overlay.ts';

/** The functions of a hydrated page with which a change of the server or of a page is shown. */
interface LivePage {
  /** Loads the page's data again. */
  revalidate(): Promise<void>;
  replaceModule(routeId: string, module: PageModule): void;
  replaceStyles(routeId: string, hrefs: readonly string[]): void;
}

/** How long to wait before each attempt to reconnect to the stream of builds (ms). Browsers log failed attempts. */
const REOPEN_AFTER = [20, 100, 300].map((pause) => pause * Millisecond);
const REOPEN_AT_LAST_AFTER = 1 * Second;

interface DevGlobals {
  /** Modules of the product that this page has evaluated, in any version, by file. */
  readonly evaluated: Set<string>;
  load(file: string): Promise<unknown>;
  /** Of Fast Refresh (`refresh-hook.ts`), for the product's modules. */
  register?(type: unknown, id: string): void;
  createSignature?(): unknown;
}

declare global {
  var __spillway: DevGlobals | undefined;
}

let state: DevState;
/** The last build failed. */
let buildProblem: DevError | undefined;
/** What an edit can mend: the modules of the page, or its data. */
type Side = 'modules' | 'data';
/** The page failed. This remains until that side changes. */
let pageProblem: { readonly side: Side; readonly error: DevError } | undefined;
let shown: DevError | undefined;
/** Counts exchanges: an answer about the page before an exchange is too late. */
const exchanges: Record<Side, number> = { modules: 0, data: 0 };
/** The last build whose modules this page has. Its server follows, and mends nothing that those modules throw. */
let exchangedBuild = 0;
let pagesOf: 'product' | 'other' = 'product';
let page: LivePage | undefined;
let applying = Promise.resolve();
/** Why the page has to be reloaded, once there is a server to load it from. */
let reloadBecause: string | undefined;
/** The page still receives builds until it is gone. */
let isReloading = false;

/**
 * Reads the state of the last build, and follows the next builds.
 *
 * @param shows whose page it is: modules of other apps are not exchanged, so their pages reload
 */
export async function startDevelopment(shows: typeof pagesOf = 'product'): Promise<void> {
  pagesOf = shows;
  watchPage();
  repeatCutRequests();
  state = (await (await fetch(DEV_STATE)).json()) as DevState;
  globalThis.__spillway = {
    evaluated: new Set(),
    load: (file) => importModule(toUrl(file)),
  };
  watchHead();
  follow();
}

export function attachPage(live: LivePage): void {
  page = live;
}

/** Called when an error page is shown: the overlay adds what the page does not say. */
export function onShownError({ digest }: PageError): void {
  if (digest === undefined) return; // deliberate, or thrown in the browser, which React reports below
  ask('data', fetch(`${DEV_FAILURES}/${digest}`));
}

/** React's output on the console remains: `reportError` and `console.error`, as without these hooks. */
export const rootOptions: RootHooks = {
  onUncaughtError(error, { componentStack }) {
    reported.add(error);
    reportError(error);
    showThrown('The page failed', error, componentStack);
  },
  onCaughtError(error, { componentStack }) {
    console.error(error);
    showThrown('A part of the page failed', error, componentStack);
  },
  onRecoverableError(error, { componentStack }) {
    reported.add(error);
    reportError(error);
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    showThrown('The page could not be hydrated as it was rendered', cause, componentStack, captureOwnerStack());
  },
};

/** Errors that React reports, with the components around them. */
const reported = new Set<unknown>();

/** Watches for errors that React does not see: in event handlers, timers, and code that an effect awaits. */
function watchPage(): void {
  addEventListener('error', ({ error }: ErrorEvent) => {
    if (error && !reported.delete(error)) showThrown('An error outside of rendering', error, undefined);
  });
  addEventListener('unhandledrejection', ({ reason }: PromiseRejectionEvent) => {
    showThrown('A promise was rejected, and nothing handled it', reason, undefined);
  });
}

/** @param owners React's stack that begins where the element is, if that of the error is React's */
function showThrown(title: string, error: unknown, componentStack: string | undefined, owners?: string | null): void {
  if (isMeant(error)) return;
  // Other values have no stack, and one that is made here would lead to this file.
  const {
    name,
    message,
    stack = '',
  } = error instanceof Error ? error : { name: 'NonError', message: JSON.stringify(error) };
  const thrown: ThrownInBrowser = {
    title,
    message: `${name}: ${message}`,
    stack: stack + (owners ?? ''),
    componentStack,
  };
  const body = JSON.stringify(thrown);
  const headers = { 'Content-Type': 'application/json' };
  ask('modules', fetch(DEV_FRAMES, { method: 'POST', body, headers }));
}

/** Shows the server's answer about a failure of the page. */
function ask(side: Side, answer: Promise<Response>): void {
  const exchange = exchanges[side];
  void answer
    .then(async (response) => {
      if (!response.ok) return;
      const error = (await response.json()) as DevError;
      if (exchange !== exchanges[side]) return;
      pageProblem = { side, error };
      showProblem();
    })
    .catch(() => undefined);
}

function showProblem(): void {
  const problem = buildProblem ?? pageProblem?.error;
  if (problem === shown) return;
  shown = problem;
  if (problem) showProblems(problem);
  else hideOverlay();
}

/** @param attempts that failed since the last connection */
function follow(attempts = 0): void {
  const events = new EventSource(DEV_EVENTS);
  let failed = attempts;
  events.onopen = () => {
    failed = 0;
  };
  events.onmessage = ({ data }: MessageEvent<string>) => {
    const next = JSON.parse(data) as DevState;
    applying = applying
      .then(() => apply(next))
      .catch((error: unknown) => reload(`the change could not be applied (${error})`));
  };
  // By itself, a browser reconnects at a fixed pace, and not at all if a proxy answers with an error.
  events.onerror = () => {
    events.close();
    setTimeout(follow, REOPEN_AFTER[failed] ?? REOPEN_AT_LAST_AFTER, failed + 1);
  };
}

async function apply(next: DevState): Promise<void> {
  const before = state;
  buildProblem = next.error;
  if (!next.error) noteExchange(before, next);
  showProblem();
  if (next.error) return;
  state = next;
  const isOtherBase = pagesOf === 'other' ? next.others !== before.others : next.base !== before.base;
  if (isOtherBase) reloadBecause ??= `${next.reason || 'something outside the product folders'} changed`;
  if (reloadBecause !== undefined) return reload(reloadBecause);
  if (pagesOf === 'product' && !(await exchangeProduct(before, next))) return;
  if (next.server !== before.server) await page?.revalidate();
}

/** Builds are sent again with each connection, and many change nothing on a page. */
function noteExchange(before: DevState, next: DevState): void {
  const toText = ({ modules, styles, base, others }: DevState) => JSON.stringify([modules, styles, base, others]);
  const isOtherPage = toText(before) !== toText(next);
  const isOtherServer = next.server !== before.server;
  if (isOtherPage) exchangedBuild = next.build;
  if (isOtherPage || isOtherServer) mend('data');
  if (isOtherPage || (isOtherServer && next.served > exchangedBuild)) mend('modules');
}

function mend(side: Side): void {
  exchanges[side] += 1;
  if (pageProblem?.side === side) pageProblem = undefined;
}

/** @returns whether the page could be kept */
async function exchangeProduct(before: DevState, next: DevState): Promise<boolean> {
  const changed = Object.keys(next.modules).filter(
    (file) => next.modules[file] !== before.modules[file] && globalThis.__spillway?.evaluated.has(file),
  );
  if (changed.length > 0 && !(await refresh(changed))) return false;
  if (JSON.stringify(next.styles) !== JSON.stringify(before.styles)) {
    for (const [id, hrefs] of Object.entries(next.styles)) page?.replaceStyles(id, hrefs);
    await exchangeSheets(before.styles, next.styles);
  }
  return true;
}

/** @returns whether the page could be kept */
async function refresh(files: readonly string[]): Promise<boolean> {
  const modules = await Promise.all(files.map((file) => importModule(toUrl(file))));
  for (const [index, file] of files.entries()) {
    const module = modules[index] as Record<string, unknown>;
    const other = Object.keys(module).find((name) => !isExchangeable(module[name]));
    if (other !== undefined) {
      reload(`${file} exports \`${other}\`, which is neither a component nor a function`);
      return false;
    }
    for (const [id, routeFile] of Object.entries(state.routes)) {
      if (routeFile === file) page?.replaceModule(id, module as unknown as PageModule); // the build has read it as one
    }
  }
  const { performReactRefresh } = await import('./refresh-hook.ts');
  performReactRefresh();
  return true;
}

/** A function has no state, and its callers are evaluated again with it. A context would be a different object. */
function isExchangeable(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const kind = '$$typeof' in value ? String(value.$$typeof) : '';
  return kind === 'Symbol(react.memo)' || kind === 'Symbol(react.forward_ref)' || kind === 'Symbol(react.lazy)';
}

/** Waits for the server of the last build. An earlier one would send an older page, hydrated by newer modules. */
function reload(why: string): void {
  reloadBecause = why;
  if (state.served !== state.build || isReloading) return;
  isReloading = true;
  console.info(`Spillway reloads this page, because ${why}.`);
  keepPageState();
  window.location.reload();
}

function toUrl(file: string): string {
  const url = state.modules[file];
  if (url === undefined) throw new Error(`${file} is not part of the last build.`);
  return url;
}
