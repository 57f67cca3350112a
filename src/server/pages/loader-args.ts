import type { Request as ExpressRequest } from 'express';
import type { Params } from 'react-router';
import { fetchWithRetry } from '../../shared/fetch-with-retry.ts';
import type { RenderMode } from '../../shared/routing/routes.ts';
import { PAGE_DATA_ATTEMPTS } from '../../shared/shared-limits.ts';
import { Second } from '../../shared/units.ts';
import type { RequestInfo, Trace } from '../request/request-info.ts';
import { createTraceHeaders, mergeBaggage } from '../request/trace-headers.ts';
import type { LoaderArgsMaker, PageRequest } from './page-request.ts';
import type { PageApp, PageServer } from './page-runtime.ts';
import { refusePersonal } from './personal.ts';
import type { LoaderArgs, LoaderContext } from './server-page.ts';

export function createArgsMaker(
  { createContext, sharedContext = {} }: Pick<PageApp, 'createContext' | 'sharedContext'>,
  { log, origins, traces }: Pick<PageServer, 'log' | 'origins' | 'traces'>,
): LoaderArgsMaker {
  const { targets: traceTargets, project } = traces ?? { targets: [], project: {} };
  const traceHeaders = createTraceHeaders(project);
  return {
    async forVisitor(pageRequest, request, response) {
      const own = await createContext?.({ ...sharedContext, request, response });
      const { info } = pageRequest;
      const contextFetch = createContextFetch({ pageRequest, info, traceTargets, traceHeaders });
      // A log of the product's own stays.
      return new VisitorArgs(pageRequest, request, { log, ...own, ...sharedContext, fetch: contextFetch });
    },

    forEveryone(pageRequest) {
      const { match, path, search, signal } = pageRequest;
      const { mode, params } = match;
      const url = origins.fallback + path + search;
      const request = new Request(url, { signal });
      Object.defineProperty(request, 'headers', {
        get() {
          throw new Error(refuseRead('request.headers', mode));
        },
      });
      const contextFetch = createContextFetch({ pageRequest: { signal }, traceTargets, traceHeaders });
      const context = new Proxy<LoaderContext>(
        { fetch: contextFetch, log },
        {
          get(target, key) {
            if (Object.hasOwn(target, key)) return Reflect.get(target, key);
            if (Object.hasOwn(sharedContext, key)) return Reflect.get(sharedContext, key);
            if (typeof key === 'symbol' || key === 'then') return undefined; // inspected or awaited, not read
            throw new Error(refuseRead(`context.${key}`, mode));
          },
        },
      );
      refusePersonal(context);
      return { request, url: new URL(url), params, context, signal, isPrefetch: false };
    },
  };
}

function refuseRead(what: string, mode: RenderMode): string {
  return mode === 'shell'
    ? `The shell of a page read ${what}. It is rendered once for everyone, so it has no visitor. Read it in a personal value, personal(args, ({ request, context }) => …), or make the route dynamic.`
    : `A static page read ${what}. It is rendered once for everyone, so it has no visitor. Make the route dynamic, or read it in the browser.`;
}

const MADE = Symbol('made on demand');

/**
 * A web `Request` costs about 20 microseconds, and most loaders only read the parameters or the URL. So the request, the
 * URL and the signal are created on demand. They are properties of the object itself, so that `{ ...args, user }` works.
 */
class VisitorArgs implements LoaderArgs {
  declare readonly request: Request;
  declare readonly url: URL;
  declare readonly signal: AbortSignal;
  readonly params: Params;
  readonly context: LoaderContext;
  readonly isPrefetch: boolean;
  readonly [MADE]: {
    readonly pageRequest: PageRequest;
    readonly received: ExpressRequest;
    request?: Request;
    url?: URL;
  };

  constructor(pageRequest: PageRequest, received: ExpressRequest, context: LoaderContext) {
    this.params = pageRequest.match.params;
    this.context = context;
    this.isPrefetch = pageRequest.info.isPrefetch;
    this[MADE] = { pageRequest, received };
    Object.defineProperties(this, ON_DEMAND);
  }
}

/** One pair of functions for all: see `PageRequest` about shapes. */
const ON_DEMAND: PropertyDescriptorMap & ThisType<VisitorArgs> = {
  [MADE]: { enumerable: false },
  request: {
    enumerable: true,
    get() {
      const made = this[MADE];
      made.request ??= toWebRequest(made.received, made.pageRequest);
      return made.request;
    },
  },
  url: {
    enumerable: true,
    get() {
      const made = this[MADE];
      made.url ??= new URL(toHref(made.pageRequest));
      return made.url;
    },
  },
  signal: {
    enumerable: true,
    get() {
      return this[MADE].pageRequest.signal;
    },
  },
};

function toWebRequest(received: ExpressRequest, pageRequest: PageRequest): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received.headersDistinct)) {
    for (const item of value ?? []) headers.append(name, item);
  }
  // Loaders only read. The body of a post belongs to its action, which gets it parsed.
  return new Request(toHref(pageRequest), { headers, signal: pageRequest.signal });
}

function toHref({ info, path, search }: PageRequest): string {
  return info.origin + path + search;
}

interface ContextFetchOptions {
  /** Its signal stops the calls. */
  readonly pageRequest: Pick<PageRequest, 'signal'>;
  /** Gets a breadcrumb for each call, and has the trace. Undefined for a page that is rendered for everyone. */
  readonly info?: RequestInfo;
  /** Origins that get trace headers. */
  readonly traceTargets: readonly string[];
  readonly traceHeaders: ReturnType<typeof createTraceHeaders>;
}

/** All attempts of one call together (ms). */
const FETCH_DEADLINE = 8 * Second;

/**
 * The `fetch` of loaders: up to three attempts on a status of 500 or more, with one deadline for all of them. It
 * stops when the visitor leaves. Trace headers go only to the listed origins.
 */
export function createContextFetch(options: ContextFetchOptions): typeof fetch {
  return async function contextFetch(input, init) {
    const startedAt = performance.now();
    const caller = { stack: '' };
    Error.captureStackTrace(caller, contextFetch);
    const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase();
    const url = input instanceof Request ? input.url : String(input);
    const spans = options.info?.spans;
    const send = (trace?: Trace) =>
      fetchWithRetry(input, isTraced(url, options) ? withTrace(input, init, options, trace) : init, {
        attempts: PAGE_DATA_ATTEMPTS,
        deadlineMs: FETCH_DEADLINE,
        signal: options.pageRequest.signal,
      });
    try {
      const response = await (spans ? spans.fetch(method, url, send) : send());
      leaveMark(options.info, `${method} ${url}`, startedAt, response.status);
      return response;
    } catch (error) {
      leaveMark(options.info, `${method} ${url}`, startedAt);
      addCaller(error, caller.stack);
      throw error;
    }
  };
}

/** Adds the caller to the stack of a network error, which has no frame of the app. */
function addCaller(error: unknown, stack: string): void {
  if (!(error instanceof Error) || /\n {1,8}at /.test(error.stack ?? '')) return;
  error.stack = `${error.stack}${stack.slice(stack.indexOf('\n'))}`;
}

/** Adds a breadcrumb such as `GET https://api.example.com/orders`. It leaves out the query, which can have secrets. */
function leaveMark(info: RequestInfo | undefined, target: string, startedAt: number, status?: number): void {
  if (!info) return;
  const ms = Math.round(performance.now() - startedAt);
  info.addBreadcrumb({
    category: 'fetch',
    message: target.replace(/[?#].*$/s, ''),
    level: status === undefined || status >= 500 ? 'error' : 'info',
    data: status === undefined ? { ms } : { ms, status },
  });
}

function isTraced(url: string, { traceTargets }: ContextFetchOptions): boolean {
  return traceTargets.length > 0 && URL.canParse(url) && traceTargets.includes(new URL(url).origin);
}

function withTrace(
  input: string | URL | Request,
  init: RequestInit | undefined,
  options: ContextFetchOptions,
  trace = options.info?.trace,
): RequestInit | undefined {
  if (!trace) return init;
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
  const made = options.traceHeaders(trace);
  headers.set('traceparent', made.traceparent);
  headers.set('sentry-trace', made['sentry-trace']);
  headers.set('baggage', mergeBaggage(headers.get('baggage'), made.baggage));
  return { ...init, headers };
}
