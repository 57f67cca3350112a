import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { ENGLISH, type Language } from '../../shared/rendering/language.ts';
import { MAX_BREADCRUMBS } from '../../shared/shared-limits.ts';
import { REQUEST_ID_HEADER } from '../../shared/wire/protocol.ts';
import { isFromProxy, type ProxyTrust, toClientAddress } from './client-address.ts';
import type { Definition } from './definition.ts';
import { drawRandom } from './draw-random.ts';
import type { Origins } from './origins.ts';
import type { RequestSpans, Timings } from './request-spans.ts';
import { findDefinition, findPattern } from './route-patterns.ts';
import { isRead, type Step } from './step.ts';

/** W3C Trace Context, which the outgoing requests of this request continue. */
export interface Trace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the span of the caller, if it sent one. */
  readonly parentId: string | undefined;
  readonly sampled: boolean;
  /** 16 hexadecimal digits: the span that outgoing requests belong to, if spans are recorded. */
  readonly spanId?: string;
}

export interface Breadcrumb {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** `fetch`, `navigation`, `ui.click`, `console`, `log`: Sentry's words. */
  readonly category: string;
  readonly message: string;
  readonly level?: 'debug' | 'info' | 'warning' | 'error';
  /** Few and short values. For a line of the log, its fields. */
  readonly data?: Readonly<Record<string, unknown>>;
}

interface RequestInit {
  readonly requestId: string;
  readonly method: string;
  readonly headers?: IncomingHttpHeaders;
  readonly address: string;
  readonly origin: string;
  readonly traceparent?: string | undefined;
  /** Returns the language of a page by its path. */
  readonly toLanguage?: ((path: string) => Language) | undefined;
}

/** The checked facts about a request. No other part parses `req.url`, `Host` or the forwarded headers. */
export class RequestInfo {
  readonly requestId: string;
  readonly method: string;
  /** `performance.now()` when the request arrived. */
  readonly startedAt: number;
  /** For a failure after the reply, when the request is gone: its message can repeat secrets from these headers. */
  readonly headers: IncomingHttpHeaders | undefined;
  /** The visitor's address: that of the socket, or the one that a trusted proxy sent. */
  readonly address: string;
  /** `https://example.com`: configured, or made from a checked `Host` if nothing is configured. Set by `hostCheck()`. */
  origin: string;
  /** The URL for the existing app, if it differs from `target` (`rawPaths`). */
  rawTarget: string | undefined;
  /** The pattern of the route that answered (`/orders/:id`). Set by the part that matches the route. */
  route: string | undefined;
  /** Set while Express has the request. */
  express: Pick<Request, 'route'> | undefined;
  /** The existing app has it. */
  isExistingApps = false;
  /** Another site sent it. Only the product's steps and the existing app get it. */
  isCrossSite = false;
  /** An operation answers: its errors are failures, unless they were made for the caller. */
  isOperation = false;
  /** Set if the response shows a failure. */
  digest: string | undefined;
  /** Where it is recorded while it is in flight (`front/in-flight.ts`). */
  slot: number | undefined;
  /** Why it was refused during overload. */
  shed: string | undefined;
  /** The product's tags for failures of this request. */
  tags: Readonly<Record<string, string>> | undefined;
  /** The visitor can open failures, as the tracker confirmed for this request. */
  isSignedIn = false;
  /**
   * The visitor has a cookie that the tracker signed, so the response has `Server-Timing`. The session can have ended, so
   * use this for nothing else.
   */
  showsTimings = false;
  /** Names of cookies that product code must not see. */
  hiddenCookies: readonly string[] = [];
  /** Asks the product for the visitor's id, if the product has such a function. */
  askVisitorId: (() => string | undefined) | undefined;
  /** The breadcrumbs and log lines of this request so far, to explain a failure. The oldest are dropped. */
  trail: Breadcrumb[] | undefined;
  /** How long the parts of a page took. */
  timings: Timings | undefined;
  /** Set if an OpenTelemetry SDK is loaded. */
  spans: RequestSpans | undefined;
  #target = '/';
  #path = '/';
  #expressRoute: string | undefined;
  #definition: Definition | undefined;
  readonly #traceparent: string | undefined;
  readonly #toLanguage: RequestInit['toLanguage'];
  #visitorId: string | undefined;
  #url: URL | undefined;
  #trace: Trace | undefined;

  constructor(init: RequestInit) {
    this.requestId = init.requestId;
    this.method = init.method;
    this.headers = init.headers;
    this.startedAt = performance.now();
    this.address = init.address;
    this.origin = init.origin;
    this.#traceparent = init.traceparent;
    this.#toLanguage = init.toLanguage;
  }

  /** Canonical path and query. Until the URL normalizer has run, it is `/`. */
  get target(): string {
    return this.#target;
  }

  set target(target: string) {
    const end = target.indexOf('?');
    this.#target = target;
    this.#path = end < 0 ? target : target.slice(0, end);
  }

  /** Canonical, without the query. That of page data begins with `/_data`: a step that guards a path uses `isBelow()`. */
  get path(): string {
    return this.#path;
  }

  /**
   * The pattern of the route, also if a router of Express has matched it: it names what was asked for in logs, and shows
   * which parts of the path are secret.
   */
  get pattern(): string | undefined {
    return this.route ?? this.#expressRoute ?? findPattern(this.express?.route);
  }

  /** The function of the product that answers, for errors whose stack names none. */
  get definition(): Definition | undefined {
    return this.#definition ?? findDefinition(this.express?.route);
  }

  set definition(definition: Definition) {
    this.#definition = definition;
  }

  /** Keeps what is known of the route, and lets go of the request of Express. */
  keepRoute(): void {
    this.#expressRoute = this.pattern;
    this.#definition = this.definition;
    this.express = undefined;
  }

  /** The language of its page. English if the product's function fails, because error pages need one. */
  get language(): Language {
    try {
      return this.#toLanguage?.(this.#path) ?? ENGLISH;
    } catch {
      return ENGLISH;
    }
  }

  /** A link or the browser fetches a page ahead of a click, which may never follow. */
  get isPrefetch(): boolean {
    return this.headers?.purpose === 'prefetch' || /^prefetch\b/.test(String(this.headers?.['sec-purpose']));
  }

  /** `example.com`, `localhost:3000`: the host of `origin`. */
  get host(): string {
    return this.origin.slice(this.origin.indexOf('//') + 2);
  }

  get secure(): boolean {
    return this.origin.startsWith('https:');
  }

  /** The only URL object of this request: checked origin and checked path. */
  get url(): URL {
    this.#url ??= new URL(this.origin + this.target);
    return this.#url;
  }

  get trace(): Trace {
    this.#trace ??= parseTraceparent(this.#traceparent) ?? {
      traceId: drawRandom(16, 'hex'),
      parentId: undefined,
      sampled: true,
    };
    return this.#trace;
  }

  /** @param trace of recorded spans */
  set trace(trace: Trace) {
    this.#trace = trace;
  }

  /** For logs: the trace if it was received or used, so that none is made up for a log line. */
  get knownTraceId(): string | undefined {
    return this.#trace?.traceId ?? parseTraceparent(this.#traceparent)?.traceId;
  }

  /** The data of a line of the log is only read if the request fails. */
  addBreadcrumb(breadcrumb: Omit<Breadcrumb, 'at'>): void {
    this.trail ??= [];
    if (this.trail.push({ at: Date.now(), ...breadcrumb }) > MAX_BREADCRUMBS) this.trail.shift();
  }

  /** Asks the product for the visitor's id, once. Never throws. */
  readVisitorId(): string | undefined {
    const ask = this.askVisitorId;
    this.askVisitorId = undefined;
    if (ask) this.#visitorId = ask();
    return this.#visitorId;
  }
}

const INFO = Symbol('spillway.request-info');

interface CarriesInfo {
  [INFO]?: RequestInfo;
}

export function setRequestInfo(req: IncomingMessage, info: RequestInfo): void {
  (req as IncomingMessage & CarriesInfo)[INFO] = info;
}

export const isOfRequest = (req: IncomingMessage & CarriesInfo, info: RequestInfo): boolean => req[INFO] === info;

const current = new AsyncLocalStorage<RequestInfo>();

/**
 * Links everything that `work` starts to its request, so that an unhandled rejection is that request's failure. The
 * context holds the info and not the request, because the timer of an idle connection keeps it for as long as the
 * visitor stays.
 */
export function runForRequest(info: RequestInfo, work: () => void): void {
  current.run(info, work);
}

/** Returns the request that the running code works for. */
export function currentRequest(): RequestInfo | undefined {
  return current.getStore();
}

/**
 * Returns what the server knows about a request, such as its id and its path.
 *
 * @throws Error if the step `requestId()` has not run
 */
export function requestInfo(req: IncomingMessage): RequestInfo {
  const info = (req as IncomingMessage & CarriesInfo)[INFO];
  if (info) return info;
  throw new Error('requestInfo() was asked before the step requestId() ran. Put requestId() first in app.ts.');
}

/** https://www.w3.org/TR/trace-context/#traceparent-header */
function parseTraceparent(text: string | undefined): Trace | undefined {
  const match = text === undefined ? null : /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text);
  const [, traceId, parentId, flags] = match ?? [];
  if (!traceId || !parentId || !flags || /^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Machines read the log, so an id has only plain characters, and not too many. */
const SAFE_ID = /^[A-Za-z0-9][\w.:-]{7,127}$/;

interface RequestIdOptions extends Pick<RequestInit, 'toLanguage'> {
  readonly origins: Origins;
  readonly trust: ProxyTrust;
}

/** Gives each request its id and its trace. A trusted proxy can set the id. */
export function requestId({ origins, trust, toLanguage }: RequestIdOptions): Step {
  return function requestId(req, res, next) {
    const { headers } = req;
    const given = headers['x-request-id'];
    const accepted = typeof given === 'string' && SAFE_ID.test(given) && isFromProxy(req, trust);
    const id = accepted ? given : randomUUID();
    const traceparent = headers.traceparent;
    const info = new RequestInfo({
      requestId: id,
      method: req.method ?? '',
      headers,
      address: toClientAddress(req, trust),
      origin: origins.fallback,
      traceparent: typeof traceparent === 'string' ? traceparent : undefined,
      toLanguage,
    });
    setRequestInfo(req, info);
    res.setHeader(REQUEST_ID_HEADER, id);
    next();
  };
}

/** Runs the rest of the steps for the request. Answers from memory need no context. */
export const inContext: Step = (req, _res, next) => {
  const info = requestInfo(req);
  if (!isRead(req)) {
    // Otherwise what reads the body by its events, such as multer or the body parsers of Express 4.17, loses the context.
    // Bound by Node, because a function of ours would be in the stacks of their errors, as the place to blame.
    req.emit = current.run(info, () => AsyncLocalStorage.bind(req.emit));
  }
  runForRequest(info, next);
};
