import type { Request as ExpressRequest, Response as ExpressResponse } from 'express';
import { isbot } from 'isbot';
import type { Engine } from '../../shared/rendering/engine-context.ts';
import { WHOLE_KEY } from '../../shared/wire/protocol.ts';
import type { Disposition, FailureContext } from '../errors/funnel.ts';
import { VisitorGone } from '../request/http-error.ts';
import { isLinkPrefetch } from '../request/paths.ts';
import { type RequestInfo, requestInfo } from '../request/request-info.ts';
import { Timings } from '../request/request-spans.ts';
import { onClose } from '../request/step.ts';
import type { PageMatch } from './match-page.ts';
import type { PageServices } from './page-services.ts';
import type { LoaderArgs } from './server-page.ts';

/** The part of a page that failed. */
export interface FailedAt {
  readonly routeId?: string | undefined;
  readonly componentStack?: string | undefined;
}

/** A page waited for something longer than a visitor would. This is a failure, with a digest. */
export class PageTimeout extends Error {
  constructor(ms: number) {
    super(`The page was not complete after ${ms} ms. Give the calls that it waits for a shorter deadline.`);
    this.name = 'PageTimeout';
  }
}

/**
 * One request for a page, its data or one of its actions, with everything that the stages need. It can end early.
 *
 * A class, like all objects with accessors that are made for each request: an object literal with a getter gets a new
 * shape each time. Shapes are only freed by a full collection, together with everything that their getters hold.
 */
export abstract class PageRequest {
  readonly match: PageMatch;
  readonly info: RequestInfo;
  readonly method: string;
  /** Path and query, as in the address bar. */
  readonly path: string;
  readonly search: string;
  /** Time for the whole request, including deferred values (ms). */
  readonly deadlineMs: number;
  /** Send the page in one piece: a visitor without scripts would never see deferred content in its place. */
  abstract readonly isFull: boolean;
  /** The host that components see, or why they cannot read it. */
  abstract readonly host: Pick<Engine, 'host' | 'hostRefusal'>;
  #controller: AbortController | undefined;
  #endedBy: Error | undefined;
  #tell: ((reason: Error) => void) | undefined;
  #tellLate: ((reason: Error) => void) | undefined;

  constructor({ match, info, method, path, search, deadlineMs }: PageFacts) {
    this.match = match;
    this.info = info;
    this.method = method;
    this.path = path;
    this.search = search;
    this.deadlineMs = deadlineMs;
  }

  /** Stops counting, because the shell was sent or the handler is done. A second call changes nothing. */
  abstract leave(): void;
  /** The arguments of guards, loaders and actions. */
  abstract toArgs(): Promise<LoaderArgs>;
  /** Gives an error to the funnel, and returns what the visitor can see of it. */
  abstract fail(error: unknown, origin: FailureContext['origin'], at?: FailedAt): Disposition;

  /** Aborted when the visitor leaves. Created on demand, because it costs as much as ten components. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#endedBy) this.#controller.abort(this.#endedBy);
    }
    return this.#controller.signal;
  }

  /** The reason for which the work for this request was ended. */
  get endedBy(): Error | undefined {
    return this.#endedBy;
  }

  /** Ends all work for this request; a second call changes nothing. */
  abort(reason: Error): void {
    if (this.#endedBy) return;
    this.#endedBy = reason;
    this.#controller?.abort(reason);
    this.#tell?.(reason);
    this.#tellLate?.(reason);
  }

  /** Sets the listener that is called when the request is aborted: one at a time, `undefined` for none. */
  onAbort(listener: ((reason: Error) => void) | undefined): void {
    this.#tell = listener;
  }

  /** The same for the lines of deferred values. If the request was aborted already, calls the listener at once. */
  onLateAbort(listener: ((reason: Error) => void) | undefined): void {
    this.#tellLate = listener;
    if (this.#endedBy) listener?.(this.#endedBy);
  }
}

type PageFacts = Pick<PageRequest, 'match' | 'info' | 'method' | 'path' | 'search' | 'deadlineMs'>;

/** Makes the arguments of guards, loaders and actions. */
export interface LoaderArgsMaker {
  /** @param response the one that the product's context gets */
  forVisitor(pageRequest: PageRequest, request: ExpressRequest, response: ExpressResponse): Promise<LoaderArgs>;
  /**
   * For a static page, or the shell of a page. It is shown to everyone, so the arguments contain nothing personal. The
   * request only has a URL, and the context only `fetch`, `log` and the parts that are the same for everyone. Reading
   * anything else throws, with the reason.
   */
  forEveryone(pageRequest: PageRequest): LoaderArgs;
}

export interface VisitorRequest {
  readonly request: ExpressRequest;
  /** Still open. */
  readonly response: ExpressResponse;
  readonly match: PageMatch;
  /** Path and query of the page; under `/_data` they differ from the request's own. */
  readonly path: string;
  readonly search: string;
}

/** A page request of one visitor. */
export class VisitorPageRequest extends PageRequest {
  readonly isFull: boolean;
  /** The form that was posted, once it was read. */
  form: FormData | undefined;
  /** The response for the product's context. */
  contextResponse: ExpressResponse;
  readonly #services: PageServices;
  readonly #request: ExpressRequest;
  #args: Promise<LoaderArgs> | undefined;
  #leave: (() => void) | undefined;

  constructor(services: PageServices, { request, response, match, path, search }: VisitorRequest) {
    const info = requestInfo(request);
    const { deadlineMs } = services.app.settings;
    super({ match, info, method: request.method, path, search: withoutKey(search, WHOLE_KEY), deadlineMs });
    this.#services = services;
    this.#request = request;
    this.contextResponse = response;
    info.route = match.pattern;
    info.timings ??= new Timings();
    // A document that answers a form was requested without JavaScript.
    this.isFull = this.search !== search || request.method === 'POST' || isCrawler(request.headers['user-agent']);
    const timer = setTimeout(() => this.abort(new PageTimeout(deadlineMs)), deadlineMs);
    onClose(response, () => {
      clearTimeout(timer);
      if (!response.writableFinished) this.abort(new VisitorGone());
    });
  }

  get host(): PageRequest['host'] {
    return { host: this.info.host };
  }

  /** Stops counting the request, because an action that never settles would count forever. */
  override abort(reason: Error): void {
    super.abort(reason);
    this.leave();
  }

  /** Begins the work: from here on, it counts as a page in progress. Does nothing once the request has ended. */
  enter(): void {
    if (!this.endedBy) this.#leave ??= this.#services.server.limiter?.enter();
  }

  leave(): void {
    this.#leave?.();
  }

  toArgs(): Promise<LoaderArgs> {
    this.#args ??= this.#services.app.args.forVisitor(this, this.#request, this.contextResponse);
    return this.#args;
  }

  /** Makes context and arguments again, because an action can have changed what they are made from. */
  renewArgs(): void {
    this.#args = undefined;
  }

  fail(error: unknown, origin: FailureContext['origin'], at?: FailedAt): Disposition {
    return this.#services.server.funnel.fail(error, this.describe(origin, at));
  }

  describe(origin: FailureContext['origin'], at: FailedAt = {}): FailureContext {
    const { match, info, path, search, endedBy, form } = this;
    return {
      origin,
      routeId: at.routeId,
      componentStack: at.componentStack,
      route: match.pattern,
      url: path + search,
      info,
      headers: this.#request.headers,
      endedBy,
      body: form,
      isPrefetch: isLinkPrefetch(info, path),
    };
  }
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

/** Cached, because the check is one large expression that costs as much as ten components. */
const known = new Map<string, boolean>();
const MOST_KNOWN = 1000;
const LONGEST_KNOWN = 300;

/** Whether a `User-Agent` belongs to a program that reads pages without running scripts. */
export function isCrawler(userAgent: string | undefined): boolean {
  if (!userAgent) return false;
  if (userAgent.length > LONGEST_KNOWN) return isbot(userAgent);
  const before = known.get(userAgent);
  if (before !== undefined) return before;
  const crawls = isbot(userAgent);
  if (known.size === MOST_KNOWN) known.clear();
  known.set(userAgent, crawls);
  return crawls;
}
