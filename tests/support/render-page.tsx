import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import type { ComponentType } from 'react';
import { createFunnel, type Funnel } from '../../src/server/engine/errors/funnel.ts';
import { RequestInfo } from '../../src/server/engine/http/request-info.ts';
import { createMatcher, matchNotFound, type PageMatch } from '../../src/server/engine/pages/match-page.ts';
import { renderPage } from '../../src/server/engine/pages/render-page.tsx';
import type { LoaderArgs, ServerPage } from '../../src/server/engine/pages/server-page.ts';
import { Ending, type Visit } from '../../src/server/engine/pages/visit.ts';
import type { DocumentProps } from '../../src/shared/engine/document.ts';
import type { ErrorPages } from '../../src/shared/engine/engine-context.ts';
import { isOutcome } from '../../src/shared/engine/outcome.ts';
import { toOutcomeError, toShownError } from '../../src/shared/engine/page-error.ts';
import type { ActionOutcome, PageError, PagePayload } from '../../src/shared/engine/payload.ts';
import { NOT_FOUND_ROUTE } from '../../src/shared/engine/protocol.ts';
import { createRouteTree } from '../../src/shared/engine/route-objects.ts';
import type { PageModule, RouteDefinition } from '../../src/shared/engine/routes.ts';
import { encode } from '../../src/shared/engine/wire.ts';
import { noScrubber } from './unguarded.ts';

export interface RenderPageOptions {
  /** What the page's loader would return. Promises in it are waited for. */
  readonly data?: unknown;
  /** What the loaders of the layouts around it would return, by route id. */
  readonly layouts?: Readonly<Record<string, unknown>>;
  /** What the page's loader or guard ended with, such as `{ kind: 'forbidden', status: 403 }`. */
  readonly error?: PageError;
  /** What an action answered, such as `{ action: 'order.save', status: 422, errors: { name: 'Too short.' } }`. */
  readonly action?: ActionOutcome;
  readonly host?: string;
}

export interface TestedPage {
  readonly status: number;
  /** The whole document, without the comments that React puts between two texts. */
  readonly html: string;
  /** Where a render that threw `redirect()` leads. */
  readonly redirect?: string;
}

export type RenderTestPage = (path: string, options?: RenderPageOptions) => Promise<TestedPage>;

/**
 * Renders pages of a route table to HTML, by the server's own stage and without a server: layouts,
 * parameters, late values and error pages are what a visitor would get.
 *
 * The function that it makes rejects with what a component throws by mistake, and with what could not
 * be sent to the browser.
 */
export function createRenderPage(table: {
  readonly routes: readonly RouteDefinition[];
  readonly document: ComponentType<DocumentProps>;
  readonly errorPages: ErrorPages;
}): RenderTestPage {
  const tree = createRouteTree(table.routes);
  const matchPage = createMatcher(tree);

  return async function renderTestPage(path, { data, layouts = {}, error, action, host = 'localhost' } = {}) {
    const [pathname = '/', search] = path.split('?');
    const match = matchPage(pathname) ?? matchNotFound(tree);
    const leaf = match.ids.at(-1) ?? '';
    const shown: PageError | undefined = leaf === NOT_FOUND_ROUTE ? { kind: 'not-found', status: 404 } : error;
    const payload: PagePayload = {
      build: 'test',
      routes: match.ids,
      params: match.params,
      data: Object.fromEntries(match.ids.map((id) => [id, id === leaf ? (data ?? null) : (layouts[id] ?? null)])),
      ...(shown ? { errors: { [leaf]: shown } } : {}),
      ...(action ? { action } : {}),
      styles: {},
    };
    const visit = new TestVisit(match, pathname, search === undefined ? '' : `?${search}`, host);
    encode(payload, { toError: toShownError, signal: () => visit.signal });

    const watched = watchFunnel();
    const body = new PassThrough();
    const html = text(body);
    let status = shown?.status ?? action?.status ?? 200;
    const rendered = await renderPage({
      visit,
      payload,
      tree,
      engine: { host, errorPages: table.errorPages, modules: await loadModules(match, tree), styles: new Map() },
      document: table.document,
      lang: 'en',
      funnel: watched.funnel,
      toLateError: toShownError,
      preloads: [],
      whole: true,
      deadlineMs: DEADLINE,
      onReady(page) {
        status = page.error?.status ?? status;
        page.pipe(body, () => undefined);
        body.once('end', () => page.settle());
      },
    }).catch((lastResort: unknown) => {
      throw watched.failures[0] ?? lastResort;
    });
    if (watched.failures.length > 0) throw watched.failures[0];
    if (rendered.kind === 'redirect') return { status: rendered.status, html: '', redirect: rendered.location };
    return { status, html: (await html).replaceAll('<!-- -->', '') };
  };
}

export interface VisitPageTable<Context, Options> {
  readonly routes: readonly RouteDefinition[];
  readonly pages: Readonly<Record<string, ServerPage<unknown, Context> | null>>;
  /** What guards and loaders are called with. */
  readonly toArgs: (options: Options & { url: string; params: LoaderArgs['params'] }) => LoaderArgs<Context>;
  readonly renderPage: RenderTestPage;
}

/**
 * Asks pages as a visitor would: the guards of a page and of its layouts are called, then their
 * loaders, and what they bring is rendered. An outcome that one of them throws is shown as the page's
 * own; the function that it makes rejects with what they throw by mistake.
 */
export function createVisitPage<Context, Options extends object>(
  table: VisitPageTable<Context, Options>,
): (path: string, options?: Options) => Promise<TestedPage> {
  const { pages, toArgs, renderPage } = table;
  const matchPage = createMatcher(createRouteTree(table.routes));

  return async function visitPage(path, options = {} as Options) {
    const match = matchPage(path.split('?', 1)[0] ?? '');
    if (!match) return renderPage(path);
    const args = toArgs({ ...options, url: path, params: match.params });
    try {
      for (const id of match.ids) await pages[id]?.guard?.(args);
      const load = async (id: string) => [id, await pages[id]?.loader?.(args)] as const;
      const layouts = Object.fromEntries(await Promise.all(match.ids.map(load)));
      return await renderPage(path, { data: layouts[match.ids.at(-1) ?? ''], layouts });
    } catch (thrown) {
      if (!isOutcome(thrown)) throw thrown;
      if (thrown.kind === 'redirect') return { status: thrown.status, html: '', redirect: thrown.location };
      return renderPage(path, { error: toOutcomeError(thrown) });
    }
  };
}

/** A value that never settles fails the test before the test's own deadline (ms). */
const DEADLINE = 10_000;

class TestVisit extends Ending implements Visit {
  readonly match: PageMatch;
  readonly info: RequestInfo;
  readonly method = 'GET';
  readonly path: string;
  readonly search: string;
  readonly whole = true;
  readonly deadlineMs = DEADLINE;

  constructor(match: PageMatch, path: string, search: string, host: string) {
    super();
    this.match = match;
    this.path = path;
    this.search = search;
    this.info = new RequestInfo({ requestId: 'test', method: 'GET', address: '::1', origin: `http://${host}` });
  }

  enter(): void {}

  leave(): void {}

  toArgs(): Promise<LoaderArgs> {
    throw new Error('A test gives the data itself: no loader is called.');
  }

  describe(): { readonly origin: 'render' } {
    return { origin: 'render' };
  }
}

/** The real one, which keeps what a visitor would see as a digest for the test to fail with. */
function watchFunnel(): { readonly funnel: Funnel; readonly failures: unknown[] } {
  const real = createFunnel({ scrubber: noScrubber, log: pino({ enabled: false }), build: 'test' });
  const failures: unknown[] = [];
  return {
    failures,
    funnel: {
      ...real,
      fail(error, context) {
        const verdict = real.fail(error, context);
        if (verdict.kind === 'error' && verdict.error.kind === 'failure') failures.push(error);
        return verdict;
      },
    },
  };
}

async function loadModules(
  { ids }: PageMatch,
  { definitions }: ReturnType<typeof createRouteTree>,
): Promise<Map<string, PageModule>> {
  const modules = new Map<string, PageModule>();
  for (const id of ids) {
    const definition = definitions.get(id);
    if (definition) modules.set(id, await definition.page());
  }
  return modules;
}
