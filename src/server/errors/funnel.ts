import type { Logger } from 'pino';
import { toAddress } from '../../shared/reporting/address.ts';
import { causesOf } from '../../shared/reporting/causes.ts';
import { readProperty } from '../../shared/reporting/read-property.ts';
import { type ControlFlowResponse, isControlFlow } from '../../shared/routing/control-flow.ts';
import { Second } from '../../shared/units.ts';
import type { PageError } from '../../shared/wire/payload.ts';
import { RETRY_HEADER } from '../../shared/wire/protocol.ts';
import type { FailureKind } from '../../shared/words.ts';
import { BoundedMap } from '../request/bounded-map.ts';
import type { Count } from '../request/counters.ts';
import { isError, isVisitorGone, statusOf, toPublicError } from '../request/http-error.ts';
import { currentRequest } from '../request/request-info.ts';
import type { FailureContext, FailureMaker, Recorded } from './create-failure.ts';
import { readError } from './digest/read-error.ts';
import type { Failure, FailureOrigin, Reporter, ToFailureUrl, Visitor } from './failure.ts';
import type { Scrubber } from './scrub.ts';

export type { FailureContext } from './create-failure.ts';

/** How the funnel classified a thrown value. */
export type Disposition =
  /** The visitor has left, so nothing is answered. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string }
  | { readonly kind: 'error'; readonly error: PageError };

export interface Funnel {
  /** Never throws. Calling it again with the same error in the same request does not record the error again. */
  fail(error: unknown, context: FailureContext): Disposition;
  /** For programs. Undefined if nothing shows failures. */
  readonly toUrl: ToFailureUrl;
  /**
   * Records a failure that was not thrown, such as a blocked event loop.
   *
   * @returns its address
   */
  record(event: Recorded & { readonly kind: FailureKind }, context: FailureContext): string;
}

interface FunnelOptions {
  readonly log: Logger;
  readonly sinks?: FailureSinks;
  /** Notified of each failure once, after it was stored. */
  readonly reporters?: readonly Reporter[];
  readonly toUrl?: ToFailureUrl | undefined;
  readonly count?: Count;
}

/** What a start opens after the funnel, and sets here. */
export interface FailureSinks {
  /** Stores each failure once. Returns false if that failed. Without it, the line in the log is the record. */
  tracker?: { record(failure: Failure, visitor: Visitor | undefined): boolean } | undefined;
  onFailure?: OnFailure | undefined;
}

/** `npm run dev`: called once for each failure, with its address. */
type OnFailure = (address: string, error: unknown, context: FailureContext) => void;

/**
 * Decides what the outside can see of a thrown value; no other part does. A failure gets its address
 * (`7K3QM2XA-9F4W0R6B`), is stored, reported and logged, and only the address leaves the server.
 */
export function createFunnel(
  toFailure: FailureMaker,
  { log, sinks = {}, reporters = [], toUrl = () => undefined, count = () => {} }: FunnelOptions,
): Funnel {
  const addresses = new Addresses();
  const retries = new Retries();

  function toAddressOf(error: unknown, context: FailureContext): string {
    const chain = causesOf(error, isError);
    const address = addresses.find(chain, context.info) ?? record({ error }, context);
    addresses.set(chain, context.info, address);
    return address;
  }

  function record(event: Recorded, context: FailureContext): string {
    const made = make(event, context);
    const { failure, visitor, scrubber } = made;
    const first = retries.find(failure.digest, context.info?.headers?.[RETRY_HEADER.toLowerCase()]);
    if (first !== undefined) return first;
    const address = toAddress(failure);
    retries.add(address);
    context.info?.spans?.fail(event.error, failure);
    count('spillway_failures_total', { side: failure.side, kind: failure.kind });
    // First, so that a failure is stored before its address is shown.
    const { tracker } = sinks;
    const isKept = tracker ? attempt(made, () => tracker.record(failure, visitor)) : true;
    for (const reporter of reporters) attempt(made, () => reporter.report(failure, event.error));
    const words = WORDS[failure.kind] ?? WORDS[failure.origin] ?? 'A request failed.';
    writeLine(log, toLogLine(failure, event.error, isKept, scrubber), words, failure.level && 'warn');
    sinks.onFailure?.(address, event.error, context);
    return address;
  }

  /** If what the product has set for the request cannot be recorded, the failure is recorded without its request. */
  function make(recorded: Recorded, context: FailureContext): ReturnType<FailureMaker> {
    try {
      return toFailure(recorded, context);
    } catch (cause) {
      const { origin, route, routeId } = context;
      const made = toFailure(recorded, { origin, route, routeId });
      writeLine(
        log,
        { stack: made.scrubber.text(readError(cause).stack) },
        'A failure is recorded without its request.',
      );
      return made;
    }
  }

  /** Catches errors of the store and of reporters, so that one failure does not turn into another. */
  function attempt({ failure, scrubber }: ReturnType<FailureMaker>, work: () => unknown): boolean {
    try {
      return work() === true;
    } catch (cause) {
      const { digest, occurrence } = failure;
      writeLine(log, { digest, occurrence, stack: scrubber.text(readError(cause).stack) }, FAILED);
      return false;
    }
  }

  function pass(
    disposition: Disposition,
    reason: string = disposition.kind === 'error' ? disposition.error.kind : disposition.kind,
  ) {
    count('spillway_reports_ignored_total', { reason });
    return disposition;
  }

  return {
    toUrl,
    record: (event, context) => record(event, inRequest(context)),
    fail(error, given) {
      const context = inRequest(given);
      if (causesOf(error, isError).some((link) => isVisitorGone(link, context.endedBy)) || isAbortedUpload(error)) {
        return pass({ kind: 'gone' }, 'visitor-gone');
      }
      const disposition = isControlFlow(error) ? fromControlFlow(error) : undefined;
      if (disposition) return pass(disposition);
      const isHandlers = context.origin === 'api' || context.origin === 'step';
      const isExpress = isHandlers && !context.info?.isOperation;
      const known = toPublicError(error, isHandlers, isExpress);
      if (known) return pass({ kind: 'error', error: known });
      if (context.isPrefetch && !context.isShared) {
        const { failure, scrubber } = make({ error }, context);
        writeLine(log, toLogLine(failure, error, true, scrubber), PREFETCH_FAILED, 'warn');
        return pass({ kind: 'error', error: { kind: 'failure', status: 500 } }, 'prefetch');
      }
      const address = toAddressOf(error, context);
      const url = !context.isShared && context.info?.isSignedIn ? toUrl(address) : undefined;
      const status = (isExpress && statusOf(error)) || 500;
      return { kind: 'error', error: { kind: 'failure', status, digest: address, ...(url !== undefined && { url }) } };
    },
  };
}

function inRequest(context: FailureContext): FailureContext {
  const info = context.info ?? currentRequest();
  return info ? { ...context, info } : context;
}

const FAILED = 'A failure could not be reported.';

const PREFETCH_FAILED = 'A prefetch failed. No incident was opened, because a click requests the page again.';

const WORDS: Readonly<Partial<Record<FailureKind | FailureOrigin, string>>> = {
  'blocked-loop': 'The event loop was blocked.',
  process: 'An error was not caught.',
  service: 'A service failed.',
  report: 'The app reported an error that it handled.',
};

/**
 * Remembers which address an error has in its request, or outside of requests. React calls once for each boundary that a
 * rejected promise passes, and an error that is re-thrown with a cause is the same failure. Another request can fail with
 * the same object, such as a connection that is opened once for all, and that is another occurrence.
 */
class Addresses {
  readonly #byError = new WeakMap<WeakKey, WeakMap<WeakKey, string>>();
  readonly #byValue = new WeakMap<WeakKey, Map<unknown, string>>();

  find(chain: readonly unknown[], request: WeakKey | undefined): string | undefined {
    const values = request && this.#byValue.get(request);
    for (const link of chain) {
      const address = isWeakKey(link) ? this.#byError.get(link)?.get(request ?? this) : values?.get(link);
      if (address !== undefined) return address;
    }
    return undefined;
  }

  set(chain: readonly unknown[], request: WeakKey | undefined, address: string): void {
    for (const link of chain) {
      if (isWeakKey(link)) getOrAdd(this.#byError, link, () => new WeakMap()).set(request ?? this, address);
      else if (request) getOrAdd(this.#byValue, request, () => new Map()).set(link, address);
    }
  }
}

function getOrAdd<Value>(map: WeakMap<WeakKey, Value>, key: WeakKey, make: () => Value): Value {
  const known = map.get(key);
  if (known) return known;
  const value = make();
  map.set(key, value);
  return value;
}

/** How long a client can take to repeat a request (ms). Its attempts end 10 s after the first. */
const RETRY_TIME = 30 * Second;
/** After a prefetch that failed, a click sends three requests for the page and three for its holes (count). */
const MAX_RETRIES = 6;
/** Failures that can be retried at the same time (count). */
const MAX_RETRIED = 1000;

/**
 * The failures of requests that the client can repeat: an attempt that fails in the same way is the same occurrence. A
 * client can name any address, so each is valid for few attempts and a short time.
 */
class Retries {
  readonly #left = new BoundedMap<{ attempts: number; readonly until: number }>(MAX_RETRIED);

  add(address: string): void {
    this.#left.set(address, { attempts: MAX_RETRIES, until: performance.now() + RETRY_TIME });
  }

  /** @param named the address that the request names */
  find(digest: string, named: unknown): string | undefined {
    if (typeof named !== 'string' || !named.startsWith(`${digest}-`)) return undefined;
    const left = this.#left.get(named);
    if (!left || left.attempts === 0 || performance.now() > left.until) return undefined;
    left.attempts -= 1;
    return named;
  }
}

/** Returns undefined for an imitation whose fields cannot be read or used. */
function fromControlFlow(response: ControlFlowResponse): Disposition | undefined {
  try {
    const { kind, status, location, message } = response;
    if (!Number.isInteger(status) || status < 300 || status > 599) return undefined;
    if (kind === 'redirect') return { kind, status, location };
    return { kind: 'error', error: kind === 'public' ? { kind, status, message } : { kind, status } };
  } catch {
    return undefined;
  }
}

/** True for the error of a body parser when the visitor leaves in the middle of an upload. */
function isAbortedUpload(error: unknown): boolean {
  return readProperty(error, 'type') === 'request.aborted';
}

function isWeakKey(value: unknown): value is WeakKey {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** One line for each failure. If the failure could not be stored, the line contains all of it. */
function toLogLine(failure: Failure, error: unknown, isKept: boolean, scrubber: Scrubber): object {
  const { digest, occurrence, kind, origin, build, release, routeId, route, request, requestId, traceId } = failure;
  const [own, ...causes] = error === undefined ? [] : causesOf(error, isError).map((link) => readError(link).stack);
  return {
    digest,
    occurrence,
    kind,
    origin,
    build,
    release,
    routeId,
    route,
    method: request?.method,
    url: request?.url.split('?', 1)[0],
    requestId,
    traceId,
    title: failure.title,
    location: failure.location,
    stack: own === undefined ? undefined : scrubber.text(own),
    componentStack: failure.componentStack,
    causes: causes.length > 0 ? causes.map((cause) => scrubber.text(cause)) : undefined,
    tags: failure.tags,
    extra: failure.extra,
    ...(isKept ? {} : { lost: 'The journal could not be written. This line is the only record.', failure }),
  };
}

/** Catches errors of the log, so that one failure does not turn into another. */
function writeLine(log: Logger, line: object, words: string, level: 'error' | 'warn' = 'error'): void {
  try {
    log[level](line, words);
  } catch (cause) {
    process.stderr.write(`The log could not be written (${readError(cause).message}): ${JSON.stringify(line)}\n`);
  }
}
