import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { MAX_BREADCRUMBS } from '../../../shared/engine/limits.ts';
import type { Breadcrumb } from '../errors/failure.ts';
import { drawRandom } from './random.ts';

/** W3C Trace Context: what the outgoing requests of this request carry on. */
export interface Trace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the span of the caller, where it sent one. */
  readonly parentId: string | undefined;
  readonly sampled: boolean;
}

interface RequestInit {
  readonly requestId: string;
  readonly method: string;
  readonly headers?: IncomingHttpHeaders;
  readonly address: string;
  readonly origin: string;
  readonly traceparent?: string | undefined;
}

/**
 * What the steps found out about a request. Nobody else parses `req.url`, `Host` or the forwarded
 * headers: what is here was checked.
 */
export class RequestInfo {
  readonly requestId: string;
  readonly method: string;
  /** `performance.now()` when the request came. */
  readonly startedAt: number;
  /** What a failure that nobody waits for may repeat: the reply is long gone, and the request with it. */
  readonly headers: IncomingHttpHeaders | undefined;
  /** The visitor's address: of the socket, or what a trusted proxy said of it. */
  readonly address: string;
  /** `https://example.com`: configured, or made of a checked `Host` where nothing is configured. */
  origin: string;
  /** `example.com`, `localhost:3000`: the host of `origin`. */
  host: string;
  /** Canonical path and search. Until the door has passed it is `/`. */
  target = '/';
  /** The URL for the existing app, if it differs from `target` (`rawPaths`). */
  rawTarget: string | undefined;
  /** The pattern of the route that answered (`/orders/:id`), for logs. Whoever matches sets it. */
  route: string | undefined;
  /** Set where the answer tells of a failure. */
  digest: string | undefined;
  /** The visitor is signed in to the desk: the store said so at most 2 s ago. */
  isOperator = false;
  /**
   * The visitor has a session id that the desk issued, so the response has `Server-Timing`. The session
   * may have ended, so use this for nothing else.
   */
  showsTimings = false;
  /** The answer goes on for as long as somebody listens: it says nothing of what hangs. */
  isStream = false;

  /** Where the owner tells visitors apart: asks whose request this is. */
  askVisitorId: (() => string | undefined) | undefined;

  readonly #traceparent: string | undefined;
  #visitorId: string | undefined;
  #url: URL | undefined;
  #trace: Trace | undefined;
  #trail: Breadcrumb[] | undefined;

  constructor(init: RequestInit) {
    this.requestId = init.requestId;
    this.method = init.method;
    this.headers = init.headers;
    this.startedAt = performance.now();
    this.address = init.address;
    this.origin = init.origin;
    this.host = toHost(init.origin);
    this.#traceparent = init.traceparent;
  }

  /** Canonical, without the search. */
  get path(): string {
    const end = this.target.indexOf('?');
    return end < 0 ? this.target : this.target.slice(0, end);
  }

  get secure(): boolean {
    return this.origin.startsWith('https:');
  }

  /** The one URL object of this request: checked origin and checked path. */
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

  /** For logs: the trace where it is continued or was used, so that none is made up for a line. */
  get knownTraceId(): string | undefined {
    return this.#trace?.traceId ?? parseTraceparent(this.#traceparent)?.traceId;
  }

  /** What was done for this request so far, for the story of a failure; the oldest are dropped. */
  get trail(): readonly Breadcrumb[] | undefined {
    return this.#trail;
  }

  addBreadcrumb(breadcrumb: Breadcrumb): void {
    this.#trail ??= [];
    if (this.#trail.push(breadcrumb) > MAX_BREADCRUMBS) this.#trail.shift();
  }

  /** The owner's id of the visitor, asked for once. Never throws. */
  readVisitorId(): string | undefined {
    const ask = this.askVisitorId;
    this.askVisitorId = undefined;
    if (ask) this.#visitorId = ask();
    return this.#visitorId;
  }

  /** `origin` must be one that was checked. */
  setOrigin(origin: string): void {
    this.origin = origin;
    this.host = toHost(origin);
  }
}

const INFO = Symbol('spillway.request-info');

interface CarriesInfo {
  [INFO]?: RequestInfo;
}

export function setRequestInfo(req: IncomingMessage, info: RequestInfo): void {
  (req as IncomingMessage & CarriesInfo)[INFO] = info;
}

const current = new AsyncLocalStorage<RequestInfo>();

/**
 * Lets everything that `work` starts be traced back to its request: an unhandled rejection is that
 * request's failure. The context holds the info and not the request, because the timer of an idle connection
 * keeps it for as long as the visitor stays.
 */
export function runForRequest(info: RequestInfo, work: () => void): void {
  current.run(info, work);
}

/** The request that the running code works for. */
export function currentRequest(): RequestInfo | undefined {
  return current.getStore();
}

/** @throws where no `requestId()` step ran before */
export function requestInfo(req: IncomingMessage): RequestInfo {
  const info = (req as IncomingMessage & CarriesInfo)[INFO];
  if (info) return info;
  throw new Error('requestInfo() was asked before the step requestId() ran. Put requestId() first in app.ts.');
}

function toHost(origin: string): string {
  return origin.slice(origin.indexOf('//') + 2);
}

/** https://www.w3.org/TR/trace-context/#traceparent-header */
function parseTraceparent(text: string | undefined): Trace | undefined {
  const match = text === undefined ? null : /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text);
  const [, traceId, parentId, flags] = match ?? [];
  if (!traceId || !parentId || !flags || /^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
