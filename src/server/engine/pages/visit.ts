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
  /** Aborted when the visitor leaves. Made when it is asked for: most pages never do. */
  readonly signal: AbortSignal;
  /** What the work for this visit was ended with. */
  readonly endedBy: Error | undefined;
  /** Ends all work for this visit; a second call changes nothing. */
  abort(reason: Error): void;
  /** The stage that is at work, to be told of the end; one at a time, undefined for none. */
  onAbort(listener: ((reason: Error) => void) | undefined): void;
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
  /** How long all of it may take, late values too (ms). */
  readonly deadlineMs: number;
}

/** Something that a page waits for took longer than a visitor would wait. It is a failure, with a digest. */
export class PageTimeout extends Error {
  constructor(ms: number) {
    super(`The page was not complete after ${ms} ms. Give what it waits for a deadline of its own.`);
    this.name = 'PageTimeout';
  }
}

export function createVisit(options: VisitOptions): Visit {
  const { request, response, match, path, search: asked, createContext, deadlineMs } = options;
  const search = withoutKey(asked, WHOLE_KEY);
  const info = requestInfo(request);
  const ending = createEnding();
  info.route = match.pattern;
  const timer = setTimeout(() => ending.abort(new PageTimeout(deadlineMs)), deadlineMs);
  response.on('close', () => {
    clearTimeout(timer);
    if (!response.writableFinished) ending.abort(new VisitorGone());
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
    get signal() {
      return ending.signal;
    },
    get endedBy() {
      return ending.endedBy;
    },
    abort: ending.abort,
    onAbort: ending.onAbort,
    toArgs() {
      args ??= createContext(visit).then((context) =>
        toLoaderArgs(() => toWebRequest(request, visit), match.params, context, visit),
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
      get signal() {
        return ending.signal;
      },
    }),
  };
  return visit;
}

/** A web `Request` costs some 20 microseconds, and most loaders read the parameters alone: it is made when it is asked for. */
export function toLoaderArgs(
  toRequest: () => Request,
  params: Params,
  context: EngineContext,
  visit: Pick<Visit, 'signal'>,
): LoaderArgs {
  let request: Request | undefined;
  return {
    get request() {
      request ??= toRequest();
      return request;
    },
    params,
    context,
    get signal() {
      return visit.signal;
    },
  };
}

/** How a visit can end early. An `AbortController` costs as much as ten components, so it comes on demand. */
export function createEnding(): Pick<Visit, 'signal' | 'endedBy' | 'abort' | 'onAbort'> {
  let controller: AbortController | undefined;
  let endedBy: Error | undefined;
  let tell: ((reason: Error) => void) | undefined;
  return {
    get signal() {
      if (!controller) {
        controller = new AbortController();
        if (endedBy) controller.abort(endedBy);
      }
      return controller.signal;
    },
    get endedBy() {
      return endedBy;
    },
    abort(reason) {
      if (endedBy) return;
      endedBy = reason;
      controller?.abort(reason);
      tell?.(reason);
    },
    onAbort(listener) {
      tell = listener;
    },
  };
}

/** The others stay as the visitor wrote them. */
function withoutKey(search: string, key: string): string {
  if (!search.includes(key)) return search;
  const rest = search
    .slice(1)
    .split('&')
    .filter((pair) => pair.split('=', 1)[0] !== key);
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
