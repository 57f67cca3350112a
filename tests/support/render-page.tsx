import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import type { ServiceTools } from '../../src/server/define-product.ts';
import { createFunnel, type Disposition, type FailureContext } from '../../src/server/errors/funnel.ts';
import { type Loaded, loadPage } from '../../src/server/pages/load-page.ts';
import { createMatcher, matchNotFound, type PageMatch } from '../../src/server/pages/match-page.ts';
import { PageRequest, PageTimeout } from '../../src/server/pages/page-request.ts';
import { renderPage } from '../../src/server/pages/render/render-page.tsx';
import type { LoaderArgs, PageTable, ServerPage } from '../../src/server/pages/server-page.ts';
import { RequestInfo } from '../../src/server/request/request-info.ts';
import type { Environment } from '../../src/server/settings.ts';
import { openServices } from '../../src/server/start/services.ts';
import type { ErrorPages } from '../../src/shared/rendering/engine-context.ts';
import type { DocumentComponent } from '../../src/shared/rendering/language.ts';
import { toShownError } from '../../src/shared/rendering/page-error.ts';
import { createRouteTree } from '../../src/shared/routing/route-objects.ts';
import type { PageModule, RouteDefinition } from '../../src/shared/routing/routes.ts';
import { encode } from '../../src/shared/wire/encode.ts';
import type { ActionResult, PageError, PagePayload } from '../../src/shared/wire/payload.ts';
import { FRAME_ROUTE, NOT_FOUND_ROUTE } from '../../src/shared/wire/protocol.ts';
import { createFolder } from './folder.ts';
import { noScrubber, testMaker } from './unguarded.ts';

export interface RenderPageOptions {
  /** The page loader's data. Promises in it are awaited. */
  readonly data?: unknown;
  /** The parsed search, if the page has a schema for it. */
  readonly search?: unknown;
  /** The data of the layouts' loaders, by route id. */
  readonly layouts?: Readonly<Record<string, unknown>>;
  /** An error that ended the page's loader or guard, such as `{ kind: 'forbidden', status: 403 }`. */
  readonly error?: PageError;
  /** An action's result, such as `{ action: 'order.save', status: 422, errors: { name: 'Too short.' } }`. */
  readonly action?: ActionResult;
  readonly host?: string;
}

export interface TestedPage {
  readonly status: number;
  /** The whole document, without the comments that React writes between text nodes. */
  readonly html: string;
  /** The target, if the render threw `redirect()`. */
  readonly redirect?: string;
}

export type RenderTestPage = (path: string, options?: RenderPageOptions) => Promise<TestedPage>;

/** The parts of an app that pages are rendered from. */
export interface RenderTable {
  readonly routes: readonly RouteDefinition[];
  readonly document: DocumentComponent;
  readonly errorPages: ErrorPages;
}

/**
 * Returns a function that renders pages of a route table to HTML with the server's own renderer, but without a
 * server. Layouts, params, deferred values and error pages are the same as for a visitor.
 *
 * It rejects if a component throws an unexpected error, or if data cannot be sent to the browser.
 */
export function createRenderPage(table: RenderTable): RenderTestPage {
  const show = createShow(table);
  return async (path, { data, search, layouts, error, action, host } = {}) => {
    let without: string[] = [];
    const page = show(path, { host, action }, async ({ match: { ids } }) => {
      const leaf = ids.at(-1) ?? '';
      without = ids.filter((id) => id !== leaf && id !== FRAME_ROUTE && !Object.hasOwn(layouts ?? {}, id));
      const shown: PageError | undefined = leaf === NOT_FOUND_ROUTE ? { kind: 'not-found', status: 404 } : error;
      return {
        kind: 'page',
        status: shown?.status ?? action?.status ?? 200,
        data: { [FRAME_ROUTE]: { [leaf]: search }, ...layouts, [leaf]: data },
        ...(shown ? { errors: { [leaf]: shown } } : {}),
      };
    });
    return page.catch((cause: unknown) => {
      if (!(cause instanceof TypeError) || without.length === 0) throw cause;
      const given = `layouts: { ${without.map((id) => `${id}: …`).join(', ')} }`;
      throw new Error(`${cause.message}\nIf a layout has a loader, pass its data: ${given}.`, { cause });
    });
  };
}

/** What `visitPage()` passes on to create arguments, besides the options of the test. */
export interface VisitArgs {
  readonly url: string;
  readonly params: LoaderArgs['params'];
  /** The environment for settings, with a temporary `DATA_DIR`. */
  readonly env: Environment;
}

export interface VisitPageTable<Context, Options> extends RenderTable {
  readonly pages: Readonly<Record<string, ServerPage<unknown, Context> | null>>;
  /** The product's services. If the arguments have none in their context, they are open while a page is visited. */
  readonly services?: VisitedServices | undefined;
  /** Returns settings with which they open, such as an empty database. */
  readonly createTestSettings?: () => Promise<Environment>;
  /** Creates the arguments of guards and loaders. */
  readonly toArgs: (options: Options & VisitArgs) => LoaderArgs<Context>;
}

/** `ProductServices` of any type. */
interface VisitedServices {
  readonly open: (settings: never, tools: ServiceTools) => unknown;
  readonly close?: (services: never) => void | Promise<void>;
}

/**
 * Returns a function that runs the guards of a page and its layouts, then their loaders, and renders the page with
 * their data. A control-flow response that one of them throws is rendered; any other error rejects.
 */
export function createVisitPage<Context, Options extends object>(
  table: VisitPageTable<Context, Options>,
): (path: string, options?: Options) => Promise<TestedPage> {
  const show = createShow(table);
  const runtime = { app: { pages: table.pages as PageTable } };

  return async function visitPage(path, options = {} as Options) {
    const cleaners: (() => unknown)[] = [];
    const { env: given, context } = options as {
      readonly env?: Environment;
      readonly context?: { readonly services?: unknown };
    };
    const env = {
      DATA_DIR: createFolder((clean) => cleaners.push(clean)),
      ...(context?.services === undefined && (await table.createTestSettings?.())),
      ...given,
    };
    const toArgs = (params: LoaderArgs['params']) => table.toArgs({ ...options, env, url: path, params });
    try {
      const opened = await openMissing(table.services, toArgs({}).context);
      cleaners.unshift(opened.close);
      const withServices = (params: LoaderArgs['params']) => {
        const args = toArgs(params);
        return { ...args, context: { ...args.context, ...opened.added } };
      };
      return await show(path, { toArgs: withServices }, (pageRequest) => loadPage({ runtime, pageRequest }));
    } finally {
      for (const clean of cleaners) await clean();
    }
  };
}

/** Opens the services of the product, unless the context has some. */
async function openMissing(product: VisitedServices | undefined, context: unknown) {
  const { services, settings, log } = context as { services?: unknown; settings: never; log: ServiceTools['log'] };
  if (!product || services !== undefined) return { added: {}, close: () => undefined };
  const opened = await openServices<never, never>(product as never, settings, { log, scrubber: noScrubber });
  return { added: { services: opened.services as unknown }, close: opened.close };
}

interface ShowOptions {
  readonly host?: string | undefined;
  readonly action?: ActionResult | undefined;
  readonly toArgs?: ((params: LoaderArgs['params']) => LoaderArgs<unknown>) | undefined;
}

type Show = (
  path: string,
  options: ShowOptions,
  load: (pageRequest: PageRequest) => Promise<Loaded>,
) => Promise<TestedPage>;

function createShow({ routes, document, errorPages }: RenderTable): Show {
  const tree = createRouteTree(routes);
  const matchPage = createMatcher(tree);

  return async function show(path, { host = 'localhost', action, toArgs }, load) {
    const [pathname = '/', search] = path.split('?');
    const match = matchPage(pathname) ?? matchNotFound(tree);
    const pageRequest = new TestPageRequest(match, {
      path: pathname,
      search: search ? `?${search}` : '',
      host,
      toArgs,
    });
    const { failures } = pageRequest;
    const loaded = await load(pageRequest);
    if (failures.length > 0) throw failures[0];
    if (loaded.kind === 'redirect') return { status: loaded.status, html: '', redirect: loaded.location };
    if (loaded.kind === 'gone') throw new Error('The page request was ended.');
    const { data, errors } = loaded;
    const payload: PagePayload = {
      build: 'test',
      routes: match.ids,
      params: match.params,
      data: Object.fromEntries(match.ids.map((id) => [id, data[id] ?? null])),
      ...(errors ? { errors } : {}),
      ...(action ? { action } : {}),
      styles: {},
    };
    encode(payload, { toError: toShownError });

    const modules = await loadModules(match, tree);
    const runtime = { app: { tree, document, errorPages, modules }, server: { manifest: MANIFEST } };
    const deadline = setTimeout(() => pageRequest.abort(new PageTimeout(DEADLINE)), DEADLINE);
    const rendered = await renderPage({ runtime, pageRequest }, payload);
    clearTimeout(deadline);
    if (rendered.kind === 'redirect') return { status: rendered.status, html: '', redirect: rendered.location };
    if (rendered.kind !== 'page') throw failures[0] ?? new Error('Not even the error page could be rendered.');
    const body = new PassThrough();
    const html = text(body);
    await rendered.render.send(body, { lead: '', tail: [], deferred: undefined });
    if (failures.length > 0) throw failures[0];
    return { status: rendered.error?.status ?? loaded.status, html: (await html).replaceAll('<!-- -->', '') };
  };
}

const MANIFEST = { buildId: 'test', entry: { script: '', preloads: [], styles: [] }, routes: {} };

/** Fails a test whose deferred value never settles, before the test's own timeout (ms). */
const DEADLINE = 10_000;

interface TestRequest extends Pick<ShowOptions, 'toArgs'> {
  readonly path: string;
  readonly search: string;
  readonly host: string;
}

class TestPageRequest extends PageRequest {
  readonly isFull = true;
  /** The errors of which a visitor would see only a digest. They fail the test. */
  readonly failures: unknown[] = [];
  readonly host: PageRequest['host'];
  readonly #funnel = createFunnel(testMaker, { log: pino({ enabled: false }) });
  readonly #toTestArgs: ShowOptions['toArgs'];

  constructor(match: PageMatch, { path, search, host, toArgs }: TestRequest) {
    const info = new RequestInfo({ requestId: 'test', method: 'GET', address: '::1', origin: `http://${host}` });
    super({ match, info, method: 'GET', path, search, deadlineMs: DEADLINE });
    this.host = { host };
    this.#toTestArgs = toArgs;
  }

  leave(): void {}

  async toArgs(): Promise<LoaderArgs> {
    if (!this.#toTestArgs) throw new Error('renderPage() calls no loaders. Pass the data instead, or use visitPage().');
    return this.#toTestArgs(this.match.params) as LoaderArgs;
  }

  fail(error: unknown, origin: FailureContext['origin']): Disposition {
    const disposition = this.#funnel.fail(error, { origin });
    // A failed deferred value is rendered in place, as for a visitor.
    const isFailure = disposition.kind === 'error' && disposition.error.kind === 'failure';
    if (isFailure && origin !== 'late') this.failures.push(error);
    return disposition;
  }
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
