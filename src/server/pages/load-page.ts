import type { PageError } from '../../shared/wire/payload.ts';
import { holdRejections } from '../../shared/wire/plain.ts';
import { FRAME_ROUTE, NOT_FOUND_ROUTE } from '../../shared/wire/protocol.ts';
import { VisitorGone } from '../request/http-error.ts';
import { inPhase } from '../request/request-spans.ts';
import type { PageRequest } from './page-request.ts';
import { parseSearch } from './schema.ts';
import type { LoaderArgs, PageTable, ServerPage } from './server-page.ts';

/** A `redirect()` of a guard, loader, action or render. */
export interface Redirect {
  readonly kind: 'redirect';
  readonly status: number;
  readonly location: string;
  /** A guard stopped a form, so no action has seen what was typed. */
  readonly isUnsent?: boolean;
}

/** The result of guards and loaders. */
export type Loaded = Redirect | { readonly kind: 'gone' } | LoadedPage;

export interface LoadedPage {
  readonly kind: 'page';
  readonly status: number;
  /** By route id. Every matched route has a key. */
  readonly data: Record<string, unknown>;
  readonly errors?: Record<string, PageError>;
  /** The combined version of the loaders, from before they ran. */
  readonly version?: string;
}

/** An error in place of a route. The loaders of that route and its children do not run. */
export interface Blocked {
  readonly routeId: string;
  readonly error: PageError;
}

/** A page to load. */
interface Loading {
  readonly runtime: { readonly app: { readonly pages: PageTable } };
  readonly pageRequest: PageRequest;
  /** Has the data, in place of the loaders. */
  readonly shell?:
    | { load(blocked: { reached: readonly string[]; blocked: Blocked | undefined }): Promise<Loaded> }
    | undefined;
}

/** How a guard stopped a request. */
export type Stopped = Blocked | Exclude<Loaded, LoadedPage>;

/**
 * Runs the guards, outermost first, then loads the page.
 *
 * @param failed the error of an action, and the route that shows it
 */
export async function loadPage(loading: Loading, failed?: Blocked): Promise<Loaded> {
  const { ids } = loading.pageRequest.match;
  const outer = failed ? ids.slice(0, ids.indexOf(failed.routeId)) : ids;
  return loadGuarded(loading, (await runGuards(loading, { ids: outer })) ?? failed);
}

/**
 * Runs all loaders at the same time, for a page whose guards have run. The outermost route that fails shows the error,
 * and the routes around it keep their data.
 *
 * @param stopped the result of the guards
 * @param versioned also ask the loaders for their version
 */
export async function loadGuarded(loading: Loading, stopped: Stopped | undefined, versioned = false): Promise<Loaded> {
  if (stopped && 'kind' in stopped) return stopped;
  const { pageRequest, shell } = loading;
  const { pages } = loading.runtime.app;
  const { ids } = pageRequest.match;
  const reached = stopped ? ids.slice(0, ids.indexOf(stopped.routeId)) : ids;
  if (shell) return shell.load({ reached, blocked: stopped });

  // Before the loaders, so that a change while they run gives a different version.
  const version = versioned && !stopped ? await readVersion(pageRequest, pages) : undefined;
  const loaded = await runLoaders(reached, pageRequest, pages);
  const data: Record<string, unknown> = {};
  let error = stopped;
  let failedOutside = false;
  for (const result of loaded) {
    if (result.ok) {
      if (failedOutside) continue;
      data[result.id] = result.value;
      if (result.search !== undefined)
        data[FRAME_ROUTE] = { ...(data[FRAME_ROUTE] as object), [result.id]: result.search };
      continue;
    }
    // All failures are recorded. The outermost one is shown.
    const disposition = pageRequest.fail(result.error, 'loader', { routeId: result.id });
    if (disposition.kind === 'gone') return disposition;
    if (failedOutside) continue;
    if (disposition.kind === 'redirect') return disposition;
    error = { routeId: result.id, error: disposition.error };
    failedOutside = true;
  }
  if (pageRequest.endedBy instanceof VisitorGone) return { kind: 'gone' };
  if (!error && ids.at(-1) === NOT_FOUND_ROUTE) {
    error = { routeId: NOT_FOUND_ROUTE, error: { kind: 'not-found', status: 404 } };
  }
  return error
    ? { kind: 'page', status: error.error.status, data, errors: { [error.routeId]: error.error } }
    : { kind: 'page', status: 200, data, version };
}

interface GuardOptions {
  /** The routes whose guards run. Default: all matched ones. */
  readonly ids?: readonly string[];
  /** Their arguments. Default: those of the loaders. */
  readonly toArgs?: () => Promise<LoaderArgs>;
}

/** @returns how a guard stopped the request; undefined if all passed */
export async function runGuards(
  { runtime, pageRequest }: Loading,
  { ids = pageRequest.match.ids, toArgs }: GuardOptions = {},
): Promise<Stopped | undefined> {
  for (const id of ids) {
    const page = runtime.app.pages[id];
    if (!page?.guard) continue;
    try {
      await inPhase(pageRequest.info, 'guard', id, () =>
        untilEnd(pageRequest, () => runGuard(page, pageRequest, toArgs)),
      );
    } catch (error) {
      const disposition = pageRequest.fail(error, 'guard', { routeId: id });
      if (disposition.kind !== 'error') return disposition;
      return { routeId: id, error: disposition.error };
    }
  }
  return undefined;
}

async function runGuard(page: ServerPage, pageRequest: PageRequest, toArgs: GuardOptions['toArgs']): Promise<void> {
  await page.guard?.(await (toArgs ? toArgs() : pageRequest.toArgs()));
}

/**
 * Runs code of the product, and waits for it until the request ends. Work that starts after the deadline, for the page
 * around an error, gets the same time again. If the visitor has left, nothing starts.
 *
 * @throws the reason for which the request ended
 */
export async function untilEnd<Value>(pageRequest: PageRequest, work: () => Promise<Value>): Promise<Value> {
  const { endedBy } = pageRequest;
  if (endedBy instanceof VisitorGone) throw endedBy;
  let extra: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      pageRequest.onAbort(reject);
      extra = endedBy && setTimeout(reject, pageRequest.deadlineMs, endedBy);
      work().then(resolve, reject);
    });
  } finally {
    pageRequest.onAbort(undefined);
    clearTimeout(extra);
  }
}

type LoaderResult =
  | { readonly id: string; readonly ok: true; readonly value: unknown; readonly search?: unknown }
  | { readonly id: string; readonly ok: false; readonly error: unknown };

/** Waits for all loaders until the request ends. A loader that has not returned by then has failed. */
async function runLoaders(ids: readonly string[], pageRequest: PageRequest, pages: PageTable): Promise<LoaderResult[]> {
  const results = new Map<string, LoaderResult>();
  async function run(id: string): Promise<void> {
    results.set(id, await runLoader(id, pageRequest, pages));
  }
  // It only throws when the request ends. Then loaders without a result have failed for the same reason.
  await untilEnd(pageRequest, () => Promise.all(ids.map(run))).catch(() => undefined);
  return ids.map((id) => results.get(id) ?? { id, ok: false, error: pageRequest.endedBy });
}

async function runLoader(id: string, pageRequest: PageRequest, pages: PageTable): Promise<LoaderResult> {
  const page = pages[id];
  if (!page?.loader && !page?.search) return { id, ok: true, value: null };
  try {
    const args = await addSearch(page, pageRequest, await pageRequest.toArgs());
    const value = (await inPhase(pageRequest.info, 'loader', id, () => page.loader?.(args))) ?? null;
    holdRejections(value); // a promise in it can reject while another loader is still running
    return { id, ok: true, value, search: args.search };
  } catch (error) {
    return { id, ok: false, error };
  }
}

/**
 * Adds the parsed search, if the page has a schema for it. A copy, because each route can have its own.
 *
 * @throws a public error with status 400
 */
export async function addSearch<Args extends LoaderArgs>(
  { search: schema }: Pick<ServerPage, 'search'>,
  { search, info }: Pick<PageRequest, 'search' | 'info'>,
  args: Args,
): Promise<Args & { readonly search?: unknown }> {
  if (!schema) return args;
  const value = await parseSearch(schema, search, { info, log: () => args.context.log });
  const parsed = { value, enumerable: true };
  // Reading the members of `args` would make a `Request` that few loaders need.
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(args), search: parsed }) as Args;
}

/**
 * Returns the combined version of the matched routes, or undefined if a loader has none. Also if one throws: the page is
 * then loaded without a version.
 */
export async function readVersion(pageRequest: PageRequest, pages: PageTable): Promise<string | undefined> {
  const loading = pageRequest.match.ids.map((id) => pages[id]).filter((page) => page?.loader);
  if (loading.length === 0 || !loading.every((page) => page?.version)) return undefined;
  async function read(): Promise<string> {
    const args = await pageRequest.toArgs();
    const versions = loading.map(async (page) => page?.version?.(await addSearch(page, pageRequest, args)));
    // The next user of this browser must not get this one's page from its cache.
    const { cookie, authorization } = pageRequest.info.headers ?? {};
    return JSON.stringify([cookie, authorization, await Promise.all(versions)]);
  }
  try {
    return await untilEnd(pageRequest, read);
  } catch (error) {
    pageRequest.fail(error, 'loader');
    return undefined;
  }
}
