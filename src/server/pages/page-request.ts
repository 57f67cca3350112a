import type { Request as ExpressRequest, Response as ExpressResponse } from 'express';
import type { Params } from 'react-router';
import { WHOLE_KEY } from '../../shared/wire/protocol.ts';
import type { FailureContext } from '../errors/funnel.ts';
import type { RenderLimiter } from '../front/render-limiter.ts';
import { VisitorGone } from '../request/http-error.ts';
import { isLinkPrefetch } from '../request/paths.ts';
import { type RequestInfo, requestInfo } from '../request/request-info.ts';
import { Timings } from '../request/request-spans.ts';
import { onClose } from '../request/step.ts';
import { isCrawler } from './crawler.ts';
import type { KeptShell } from './kept.ts';
import type { PageMatch } from './match-page.ts';
import type { EngineContext, LoaderArgs } from './server-page.ts';

/** One request for a page, its data or one of its actions, with everything that the stages need. */
export interface PageRequest {
  readonly match: PageMatch;
  readonly info: RequestInfo;
  readonly method: string;
  /** Path and query, as in the address bar. */
  readonly path: string;
  readonly search: string;
  /** True for a crawler or another visitor without scripts: deferred content would never be moved to its place. */
  readonly whole: boolean;
  /** Time for the whole request, including deferred values (ms). */
  readonly deadlineMs: number;
  /** Aborted when the visitor leaves. Created on demand, because most pages never use it. */
  readonly signal: AbortSignal;
  /** The reason for which the work for this request was ended. */
  readonly endedBy: Error | undefined;
  /** Ends all work for this request; a second call changes nothing. */
  abort(reason: Error): void;
  /** Sets the listener that is called when the request is aborted: one at a time, `undefined` for none. */
  onAbort(listener: ((reason: Error) => void) | undefined): void;
  /** The same for the lines of deferred values. If the request was aborted already, calls the listener at once. */
  onLateAbort(listener: ((reason: Error) => void) | undefined): void;
  /** Begins the work: from here on, it counts as a page in progress. Does nothing once the request has ended. */
  enter(): void;
  /** Stops counting, because the shell was sent or the handler is done. A second call changes nothing. */
  leave(): void;
  /** The arguments of guards, loaders and actions. */
  toArgs(): Promise<LoaderArgs>;
  describe(origin: FailureContext['origin'], routeId?: string): FailureContext;
  /** The form that was posted, once it was read. */
  form?: FormData;
  /** Set for a visitor of a page with `mode: 'shell'`. Returns the same shell each time. */
  readonly findShell?: (() => Promise<KeptShell>) | undefined;
  /** The request is for the holes of such a page only. */
  readonly wantsHoles?: boolean | undefined;
  /** Personal values have begun, so status and headers cannot change. */
  isHeadFixed?: boolean;
}

export interface PageRequestOptions {
  readonly request: ExpressRequest;
  /** Still open. */
  readonly response: ExpressResponse;
  readonly match: PageMatch;
  /** Path and query of the page; under `/_data` they differ from the request's own. */
  readonly path: string;
  readonly search: string;
  readonly createContext: () => Promise<EngineContext>;
  readonly deadlineMs: number;
  readonly limiter: Pick<RenderLimiter, 'enter'> | undefined;
  readonly findShell?: ((pageRequest: PageRequest) => Promise<KeptShell>) | undefined;
  readonly wantsHoles?: boolean;
}

/** A page waited for something longer than a visitor would. This is a failure, with a digest. */
export class PageTimeout extends Error {
  constructor(ms: number) {
    super(`The page was not complete after ${ms} ms. Give the calls that it waits for a shorter deadline.`);
    this.name = 'PageTimeout';
  }
}

/**
 * Lets work for a page end early. An `AbortController` costs as much as ten components, so it is created on demand.
 *
 * A class, like all objects with accessors that are made for each request: an object literal with a getter gets a new
 * shape each time. Shapes are only freed by a full collection, together with everything that their getters hold.
 */
export class Ending {
  #controller: AbortController | undefined;
  #endedBy: Error | undefined;
  #tell: ((reason: Error) => void) | undefined;
  #tellLate: ((reason: Error) => void) | undefined;

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#endedBy) this.#controller.abort(this.#endedBy);
    }
    return this.#controller.signal;
  }

  get endedBy(): Error | undefined {
    return this.#endedBy;
  }

  abort(reason: Error): void {
    if (this.#endedBy) return;
    this.#endedBy = reason;
    this.#controller?.abort(reason);
    this.#tell?.(reason);
    this.#tellLate?.(reason);
  }

  onAbort(listener: ((reason: Error) => void) | undefined): void {
    this.#tell = listener;
  }

  onLateAbort(listener: ((reason: Error) => void) | undefined): void {
    this.#tellLate = listener;
    if (this.#endedBy) listener?.(this.#endedBy);
  }
}

/** A page request of one visitor. */
export class VisitorPageRequest extends Ending implements PageRequest {
  readonly match: PageMatch;
  readonly info: RequestInfo;
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly whole: boolean;
  readonly deadlineMs: number;
  declare form?: FormData;
  isHeadFixed = false;
  readonly findShell: (() => Promise<KeptShell>) | undefined;
  readonly wantsHoles: boolean | undefined;
  readonly #options: PageRequestOptions;
  #args: Promise<LoaderArgs> | undefined;
  #leave: (() => void) | undefined;

  constructor(options: PageRequestOptions) {
    super();
    const { request, response, match, deadlineMs } = options;
    this.#options = options;
    this.match = match;
    this.info = requestInfo(request);
    this.info.route = match.pattern;
    this.method = request.method;
    this.path = options.path;
    this.search = withoutKey(options.search, WHOLE_KEY);
    this.deadlineMs = deadlineMs;
    this.findShell = options.findShell && once(options.findShell, this);
    this.wantsHoles = options.wantsHoles;
    this.info.timings ??= new Timings();
    // A document that answers a form was requested without JavaScript.
    this.whole =
      this.search !== options.search || request.method === 'POST' || isCrawler(request.headers['user-agent']);
    const timer = setTimeout(() => this.abort(new PageTimeout(deadlineMs)), deadlineMs);
    onClose(response, () => {
      clearTimeout(timer);
      if (!response.writableFinished) this.abort(new VisitorGone());
    });
  }

  /** Stops counting the request, because an action that never settles would count forever. */
  override abort(reason: Error): void {
    super.abort(reason);
    this.leave();
  }

  enter(): void {
    if (!this.endedBy) this.#leave ??= this.#options.limiter?.enter();
  }

  leave(): void {
    this.#leave?.();
  }

  toArgs(): Promise<LoaderArgs> {
    this.#args ??= this.#createArgs();
    return this.#args;
  }

  describe(origin: FailureContext['origin'], routeId?: string): FailureContext {
    const { match, info, endedBy } = this;
    const { headers } = this.#options.request;
    return {
      origin,
      routeId,
      route: match.pattern,
      url: this.path + this.search,
      info,
      headers,
      endedBy,
      body: this.form,
      isPrefetch: isLinkPrefetch(info, this.path),
    };
  }

  /** Makes context and arguments again, because an action can have changed what they are made from. */
  renewArgs(): void {
    this.#args = undefined;
  }

  async #createArgs(): Promise<LoaderArgs> {
    const context = await this.#options.createContext();
    return new RequestArgs(this, () => toWebRequest(this.#options.request, this), context);
  }
}

/** A page request whose answer is for everyone: it outlives the visitor who caused it, and knows nothing about them. */
export class SharedPageRequest extends Ending implements PageRequest {
  readonly match: PageMatch;
  readonly info: RequestInfo;
  readonly method: string;
  readonly path: string;
  readonly search: string;
  /** The same as for a cached static page, so that both end in the same way. */
  readonly whole = true;
  readonly deadlineMs: number;
  readonly #pageRequest: PageRequest;
  readonly #createArgs: (pageRequest: PageRequest) => LoaderArgs;
  #args: LoaderArgs | undefined;

  constructor(
    pageRequest: PageRequest,
    init: { search: string; method: string; createArgs: (pageRequest: PageRequest) => LoaderArgs },
  ) {
    super();
    this.#pageRequest = pageRequest;
    this.#createArgs = init.createArgs;
    this.match = pageRequest.match;
    this.info = pageRequest.info;
    this.method = init.method;
    this.path = pageRequest.path;
    this.search = init.search;
    this.deadlineMs = pageRequest.deadlineMs;
  }

  enter(): void {
    this.#pageRequest.enter();
  }

  leave(): void {
    this.#pageRequest.leave();
  }

  async toArgs(): Promise<LoaderArgs> {
    this.#args ??= this.#createArgs(this);
    return this.#args;
  }

  describe(origin: FailureContext['origin'], routeId?: string): FailureContext {
    return { ...this.#pageRequest.describe(origin, routeId), endedBy: this.endedBy, isShared: true };
  }
}

const MADE = Symbol('made on demand');

/**
 * A web `Request` costs about 20 microseconds, and most loaders only read the parameters or the URL. So the request, the
 * URL and the signal are created on demand. They are properties of the object itself, so that `{ ...args, user }` works.
 */
class RequestArgs implements LoaderArgs {
  declare readonly request: Request;
  declare readonly url: URL;
  declare readonly signal: AbortSignal;
  readonly params: Params;
  readonly context: EngineContext;
  readonly isPrefetch: boolean;
  readonly [MADE]: {
    readonly pageRequest: PageRequest;
    readonly toRequest: () => Request;
    request?: Request;
    url?: URL;
  };

  constructor(pageRequest: PageRequest, toRequest: () => Request, context: EngineContext) {
    this.params = pageRequest.match.params;
    this.context = context;
    this.isPrefetch = pageRequest.info.isPrefetch;
    this[MADE] = { pageRequest, toRequest };
    Object.defineProperties(this, ON_DEMAND);
  }
}

/** One pair of functions for all: see `Ending` about shapes. */
const ON_DEMAND: PropertyDescriptorMap & ThisType<RequestArgs> = {
  [MADE]: { enumerable: false },
  request: {
    enumerable: true,
    get() {
      const made = this[MADE];
      made.request ??= made.toRequest();
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

/** A shell that failed is in no cache, so it must not be asked for twice. */
function once(
  findShell: NonNullable<PageRequestOptions['findShell']>,
  pageRequest: PageRequest,
): NonNullable<PageRequest['findShell']> {
  let found: Promise<KeptShell> | undefined;
  return () => {
    found ??= findShell(pageRequest);
    return found;
  };
}

/** Removes a key and leaves the others as the visitor wrote them. */
export function withoutKey(search: string, key: string): string {
  if (!search.includes(key)) return search;
  const rest = search
    .slice(1)
    .split('&')
    .filter((pair) => pair.split('=', 1)[0] !== key);
  return rest.length > 0 ? `?${rest.join('&')}` : '';
}

function toWebRequest(request: ExpressRequest, pageRequest: PageRequest): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headersDistinct)) {
    for (const item of value ?? []) headers.append(name, item);
  }
  // Loaders only read. The body of a post belongs to its action, which gets it parsed.
  return new Request(toHref(pageRequest), { headers, signal: pageRequest.signal });
}

function toHref({ info, path, search }: PageRequest): string {
  return info.origin + path + search;
}
