import type { PageError } from '../../../shared/engine/wire/payload.ts';
import { NOT_FOUND_ROUTE } from '../../../shared/engine/wire/protocol.ts';
import { holdRejections } from '../../../shared/engine/wire/wire.ts';
import { VisitorGone } from '../errors/visitor-gone.ts';
import type { PageRequest } from './page-request.ts';
import type { PageServices, Redirect } from './page-services.ts';
import type { EngineContext, LoaderArgs, ServerPage } from './server-page.ts';
import { timed } from './timings.ts';

/** What guards and loaders decided, before anything is rendered. */
export type Loaded = Redirect | { readonly kind: 'gone' } | LoadedPage;

export interface LoadedPage {
  readonly kind: 'page';
  readonly status: number;
  /** By route id; every matched route has a key. */
  readonly data: Record<string, unknown>;
  readonly errors?: Record<string, PageError>;
  /** The combined version of the loaders, as it was before they ran. */
  readonly version?: string;
}

export type PageTable<Context = EngineContext> = Readonly<
  Record<string, ServerPage<unknown, Context> | null | undefined>
>;

export interface LoadOptions {
  readonly services: Pick<PageServices, 'pages' | 'funnel'>;
  readonly pageRequest: PageRequest;
  /** What an action failed with, and the route that owns it: shown in that route's place, whose loaders then do not run. */
  readonly failed?: { readonly routeId: string; readonly error: PageError };
  /** The guards have just passed. */
  readonly guarded?: boolean;
  /** Ask the loaders for their version too. */
  readonly versioned?: boolean;
}

/**
 * Runs the guards, outermost first, then the loaders, all at once. The outermost route that fails
 * shows the error in its place; what stands around it keeps its data.
 */
export async function loadPage(options: LoadOptions): Promise<Loaded> {
  const { services, pageRequest, failed, guarded } = options;
  const { pages, funnel } = services;
  const { ids } = pageRequest.match;
  const open = failed ? ids.slice(0, ids.indexOf(failed.routeId)) : ids;
  const stopped = guarded ? undefined : await runGuards({ services, pageRequest, ids: open });
  if (stopped && 'kind' in stopped) return stopped;
  const blocked = stopped ?? failed;
  const reached = blocked ? ids.slice(0, ids.indexOf(blocked.routeId)) : ids;

  // Before the loaders: what changes while they run is new to whoever has this version.
  const version = options.versioned && !blocked ? await readVersion(pageRequest, pages) : undefined;
  const loaded = await runLoaders(reached, pageRequest, pages);
  const data: Record<string, unknown> = {};
  let error = blocked;
  let failedOutside = false;
  for (const result of loaded) {
    if (result.ok) {
      if (!failedOutside) data[result.id] = result.value;
      continue;
    }
    // Every failure is recorded, and the outermost one is shown.
    const verdict = funnel.fail(result.error, pageRequest.describe('loader', result.id));
    if (verdict.kind === 'visitor-gone') return { kind: 'gone' };
    if (failedOutside) continue;
    if (verdict.kind === 'redirect') return verdict;
    error = { routeId: result.id, error: verdict.error };
    failedOutside = true;
  }
  if (pageRequest.endedBy instanceof VisitorGone) return { kind: 'gone' };
  if (!error && ids.at(-1) === NOT_FOUND_ROUTE) {
    error = { routeId: NOT_FOUND_ROUTE, error: { kind: 'not-found', status: 404 } };
  }
  return error
    ? { kind: 'page', status: error.error.status, data, errors: { [error.routeId]: error.error } }
    : { kind: 'page', status: 200, data, ...(version === undefined ? {} : { version }) };
}

export interface GuardOptions {
  readonly services: Pick<PageServices, 'pages' | 'funnel'>;
  readonly pageRequest: PageRequest;
  /** The routes whose guards run; by default all that were matched. */
  readonly ids?: readonly string[];
  /** What they are called with; by default what loaders are called with. */
  readonly toArgs?: () => Promise<LoaderArgs>;
}

/** @returns what a guard stopped the request with, undefined if all passed */
export async function runGuards({
  services: { pages, funnel },
  pageRequest,
  ids = pageRequest.match.ids,
  toArgs,
}: GuardOptions): Promise<{ routeId: string; error: PageError } | Exclude<Loaded, LoadedPage> | undefined> {
  for (const id of ids) {
    const page = pages[id];
    if (!page?.guard) continue;
    try {
      await timed(pageRequest.timings, 'guard', id, () =>
        untilEnd(pageRequest, () => runGuard(page, pageRequest, toArgs)),
      );
    } catch (error) {
      const verdict = funnel.fail(error, pageRequest.describe('guard', id));
      if (verdict.kind === 'visitor-gone') return { kind: 'gone' };
      if (verdict.kind === 'redirect') return verdict;
      return { routeId: id, error: verdict.error };
    }
  }
  return undefined;
}

async function runGuard(page: ServerPage, pageRequest: PageRequest, toArgs: GuardOptions['toArgs']): Promise<void> {
  await page.guard?.(await (toArgs ? toArgs() : pageRequest.toArgs()));
}

/**
 * Runs product code, and waits for it until the request ends. Work that begins after the deadline, because an
 * action took too long, gets the same time again. If the visitor has left, nothing begins.
 *
 * @throws the reason for which the request ended
 */
export async function untilEnd<Value>(pageRequest: PageRequest, work: () => Promise<Value>): Promise<Value> {
  const { endedBy } = pageRequest;
  if (endedBy instanceof VisitorGone) throw endedBy;
  const { promise: ended, reject } = Promise.withResolvers<never>();
  pageRequest.onAbort(reject);
  const extra = endedBy && setTimeout(reject, pageRequest.deadlineMs, endedBy);
  try {
    return await Promise.race([work(), ended]);
  } finally {
    pageRequest.onAbort(undefined);
    clearTimeout(extra);
  }
}

type LoaderResult =
  | { readonly id: string; readonly ok: true; readonly value: unknown }
  | { readonly id: string; readonly ok: false; readonly error: unknown };

/** Waits for all of them, until the request ends: a loader that has not returned by then has failed. */
async function runLoaders(ids: readonly string[], pageRequest: PageRequest, pages: PageTable): Promise<LoaderResult[]> {
  const results = new Map<string, LoaderResult>();
  async function run(id: string): Promise<void> {
    results.set(id, await runLoader(id, pageRequest, pages));
  }
  // It throws only when the request ends. A loader without a result has then failed for the same reason.
  await untilEnd(pageRequest, () => Promise.all(ids.map(run))).catch(() => undefined);
  return ids.map((id) => results.get(id) ?? { id, ok: false, error: pageRequest.endedBy });
}

async function runLoader(id: string, pageRequest: PageRequest, pages: PageTable): Promise<LoaderResult> {
  const page = pages[id];
  if (!page?.loader) return { id, ok: true, value: null };
  try {
    const args = await pageRequest.toArgs();
    const value = (await timed(pageRequest.timings, 'loader', id, () => page.loader?.(args))) ?? null;
    holdRejections(value); // a promise in it may reject while another route's loader still runs
    return { id, ok: true, value };
  } catch (error) {
    return { id, ok: false, error };
  }
}

/**
 * The combined version of a branch, where each of its loaders has a cheap one; undefined otherwise.
 * A version that throws is no version: the loader will tell.
 */
export async function readVersion(pageRequest: PageRequest, pages: PageTable): Promise<string | undefined> {
  const loading = pageRequest.match.ids.map((id) => pages[id]).filter((page) => page?.loader);
  if (loading.length === 0 || !loading.every((page) => page?.version)) return undefined;
  async function read(): Promise<string> {
    const args = await pageRequest.toArgs();
    return JSON.stringify(await Promise.all(loading.map((page) => page?.version?.(args))));
  }
  try {
    return await untilEnd(pageRequest, read);
  } catch {
    return undefined;
  }
}
