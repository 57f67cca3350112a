import type { Request as ExpressRequest, Response as ExpressResponse } from 'express';
import { isbot } from 'isbot';
import { FULL_PAGE_KEY } from '../../shared/wire/protocol.ts';
import type { Disposition, FailureContext } from '../errors/funnel.ts';
import { remember } from '../request/bounded-map.ts';
import { VisitorGone } from '../request/http-error.ts';
import { isLinkPrefetch } from '../request/paths.ts';
import { requestInfo } from '../request/request-info.ts';
import { Timings } from '../request/request-spans.ts';
import { onClose } from '../request/step.ts';
import type { PageMatch } from './match-page.ts';
import { type FailedAt, PageRequest, PageTimeout } from './page-request.ts';
import type { PageRuntime } from './page-runtime.ts';
import { definitionOf, type LoaderArgs } from './server-page.ts';

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
  readonly #runtime: PageRuntime;
  readonly #request: ExpressRequest;
  readonly #response: ExpressResponse;
  #args: Promise<LoaderArgs> | undefined;
  #leave: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(runtime: PageRuntime, { request, response, match, path, search }: VisitorRequest) {
    const info = requestInfo(request);
    const { deadlineMs } = runtime.app.settings;
    super({ match, info, method: request.method, path, search: withoutKey(search, FULL_PAGE_KEY), deadlineMs });
    this.#runtime = runtime;
    this.#request = request;
    this.#response = response;
    info.route = match.pattern;
    if (info.showsTimings) info.timings ??= new Timings();
    // A document that answers a form was requested without JavaScript.
    this.isFull = this.search !== search || request.method === 'POST' || isCrawler(request.headers['user-agent']);
    onClose(response, () => {
      clearTimeout(this.#timer);
      if (!response.writableFinished) this.abort(new VisitorGone());
    });
  }

  get host(): PageRequest['host'] {
    return { host: this.info.host };
  }

  /** Stops counting the request, because work of the product that never settles would count forever. */
  override abort(reason: Error): void {
    super.abort(reason);
    this.leave();
  }

  /**
   * Begins the work: from here on, it counts as a page in progress, until its deadline. Does nothing once the request
   * has ended.
   */
  enter(): void {
    if (this.endedBy) return;
    this.#leave ??= this.#runtime.server.limiter?.enter();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.abort(new PageTimeout(this.deadlineMs)), this.deadlineMs);
  }

  /** Stops counting while the rest of a form arrives, which has limits of its own. */
  wait(): void {
    this.leave();
    clearTimeout(this.#timer);
  }

  leave(): void {
    this.#leave?.();
    this.#leave = undefined;
  }

  toArgs(): Promise<LoaderArgs> {
    this.#args ??= this.#runtime.app.args.forVisitor(this, this.#request, this.#response);
    return this.#args;
  }

  /** Begins an action, which is not cut: at the deadline, the request only stops counting. */
  act(): void {
    if (this.endedBy) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.leave(), this.deadlineMs);
  }

  /**
   * Begins the page that follows an action, with the full time. Context and arguments are made again, because the action
   * can have changed what they are made from.
   */
  renew(): void {
    this.#args = undefined;
    this.enter();
  }

  fail(error: unknown, origin: FailureContext['origin'], at?: FailedAt): Disposition {
    return this.#runtime.server.funnel.fail(error, this.describe(origin, at));
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
      definition: this.#findDefinition(origin, at),
    };
  }

  /** A deferred value names no route, but often only one has a loader. */
  #findDefinition(origin: FailureContext['origin'], { routeId, part = origin }: FailedAt) {
    const { pages } = this.#runtime.app;
    if (origin !== 'late') return routeId === undefined ? undefined : definitionOf(pages[routeId], part);
    const loading = this.match.ids.filter((id) => pages[id]?.loader);
    return loading.length === 1 ? definitionOf(pages[loading[0] ?? ''], 'loader') : undefined;
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

/** Remembered, because the check is one large expression that costs as much as ten components. */
const isBot = remember(isbot, 1000, 300);

/** Whether a `User-Agent` belongs to a program that reads pages without running scripts. */
export function isCrawler(userAgent = ''): boolean {
  return userAgent !== '' && isBot(userAgent);
}
