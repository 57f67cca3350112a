import type { Request as ExpressRequest, Response as ExpressResponse } from 'express';
import { isbot } from 'isbot';
import type { Params } from 'react-router';
import { WHOLE_KEY } from '../../../shared/engine/protocol.ts';
import type { FailureContext } from '../errors/funnel.ts';
import { VisitorGone } from '../errors/visitor-gone.ts';
import { type RequestInfo, requestInfo } from '../http/request-info.ts';
import type { PageMatch } from './match-page.ts';
import type { EngineContext, LoaderArgs } from './server-page.ts';

/** One request for a page, its data or one of its actions, with what every stage needs of it. */
export interface Visit {
  readonly match: PageMatch;
  readonly info: RequestInfo;
  readonly method: string;
  /** Path and search, as they stand in the address bar. */
  readonly path: string;
  readonly search: string;
  /** A crawler, or a visitor without scripts as far as we can tell: late content would never find its place. */
  readonly whole: boolean;
  /** Aborted when the visitor leaves. */
  readonly signal: AbortSignal;
  /** Ends all work for this visit; a second call changes nothing. */
  abort(reason: Error): void;
  /** What the owner's guards, loaders and actions are called with. */
  toArgs(): Promise<LoaderArgs>;
  describe(origin: FailureContext['origin'], routeId?: string): FailureContext;
}

export interface VisitOptions {
  readonly request: ExpressRequest;
  readonly response: ExpressResponse;
  readonly match: PageMatch;
  /** Path and search of the page; differs from the request's own under `/_data`. */
  readonly path: string;
  readonly search: string;
  readonly createContext: (visit: Visit) => Promise<EngineContext>;
}

export function createVisit({ request, response, match, path, search: asked, createContext }: VisitOptions): Visit {
  const search = withoutKey(asked, WHOLE_KEY);
  const info = requestInfo(request);
  const controller = new AbortController();
  info.route = match.pattern;
  response.on('close', () => {
    if (!response.writableFinished) controller.abort(new VisitorGone());
  });
  let args: Promise<LoaderArgs> | undefined;
  const visit: Visit = {
    match,
    info,
    method: request.method,
    path,
    search,
    // A document that answers a form comes from a form that no script took.
    whole: search !== asked || request.method === 'POST' || isbot(request.headers['user-agent']),
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    toArgs() {
      args ??= createContext(visit).then((context) =>
        toLoaderArgs(() => toWebRequest(request, visit), match.params, context, controller.signal),
      );
      return args;
    },
    describe: (origin, routeId) => ({
      origin,
      routeId,
      route: match.pattern,
      method: request.method,
      url: path,
      requestId: info.requestId,
      signal: controller.signal,
    }),
  };
  return visit;
}

/** A web `Request` costs some 20 microseconds, and most loaders read the parameters alone: it is made when it is asked for. */
export function toLoaderArgs(
  toRequest: () => Request,
  params: Params,
  context: EngineContext,
  signal: AbortSignal,
): LoaderArgs {
  let request: Request | undefined;
  return {
    get request() {
      request ??= toRequest();
      return request;
    },
    params,
    context,
    signal,
  };
}

/** The others stay as the visitor wrote them. */
function withoutKey(search: string, key: string): string {
  if (!search.includes(key)) return search;
  const rest = search.slice(1).split('&').filter((pair) => pair.split('=', 1)[0] !== key);
  return rest.length > 0 ? `?${rest.join('&')}` : '';
}

function toWebRequest(request: ExpressRequest, visit: Visit): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headersDistinct)) {
    for (const item of value ?? []) headers.append(name, item);
  }
  // Loaders read; the body of a post belongs to its action, which gets it parsed.
  return new Request(visit.info.origin + visit.path + visit.search, { headers, signal: visit.signal });
}
