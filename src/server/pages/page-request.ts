import type { Request as ExpressRequest, Response as ExpressResponse } from 'express';
import type { Engine } from '../../shared/rendering/engine-context.ts';
import type { Disposition, FailureContext } from '../errors/funnel.ts';
import type { RequestInfo } from '../request/request-info.ts';
import type { PageMatch } from './match-page.ts';
import type { LoaderArgs } from './server-page.ts';

/** The part of a page that failed. */
export interface FailedAt {
  readonly routeId?: string | undefined;
  /** The part of its server half, such as `actions.send`. By default, the one that the origin names. */
  readonly part?: string;
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
  /** Time for the page, including deferred values (ms). An action before it is not cut. */
  readonly deadlineMs: number;
  /** Send the page in one piece: a visitor without scripts would never see deferred content in its place. */
  abstract readonly isFull: boolean;
  /** The host that components see, or why they cannot read it. */
  abstract readonly host: Pick<Engine, 'host' | 'hostRefusal'>;
  #controller: AbortController | undefined;
  #endedBy: Error | undefined;
  #tell: ((reason: Error) => void) | undefined;
  #tellDeferred: ((reason: Error) => void) | undefined;

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
    this.#tellDeferred?.(reason);
  }

  /** Sets the listener that is called when the request is aborted: one at a time, `undefined` for none. */
  onAbort(listener: ((reason: Error) => void) | undefined): void {
    this.#tell = listener;
  }

  /** The same for the lines of deferred values. If the request was aborted already, calls the listener immediately. */
  onDeferredAbort(listener: ((reason: Error) => void) | undefined): void {
    this.#tellDeferred = listener;
    if (this.#endedBy) listener?.(this.#endedBy);
  }
}

type PageFacts = Pick<PageRequest, 'match' | 'info' | 'method' | 'path' | 'search' | 'deadlineMs'>;

/** Makes the arguments of guards, loaders and actions. */
export interface LoaderArgsMaker {
  forVisitor(pageRequest: PageRequest, request: ExpressRequest, response: ExpressResponse): Promise<LoaderArgs>;
  /**
   * For a static page, or the shell of a page. It is shown to everyone, so the arguments contain nothing personal. The
   * request only has a URL, and the context only `fetch`, `log` and the parts that are the same for everyone. Reading
   * anything else throws, with the reason.
   */
  forEveryone(pageRequest: PageRequest): LoaderArgs;
}
