import type { ErrorEvent, Exception, StackFrame as SentryFrame } from '@sentry/core';
import { toAddress } from '../../../shared/reporting/address.ts';
import { isBundle } from '../../errors/digest/location-table.ts';
import type { ErrorRecord, Failure, RequestRecord, StackFrame, ToFailureUrl } from '../../errors/failure.ts';
import { cutText, trimFailure } from '../../errors/trim.ts';
import { MAX_EVENT_BYTES } from '../../limits.ts';

export interface SentryEventOptions {
  /** `production`, `staging`. */
  readonly environment: string;
  /** The main public origin. Without it, the event has only the path of the incident. */
  readonly origin?: string | undefined;
  /** Returns the URL that shows the failure at an address. */
  readonly toUrl: ToFailureUrl | undefined;
  /** The ids that the build wrote into bundles and maps, by file as in frames (`server/main.js`). */
  readonly debugIds?: Readonly<Record<string, string>>;
}

/** Sentry drops longer tags (characters). */
const MAX_TAG_LENGTH = 200;

/** The share of the size limit for a failure. Its event has longer field names. */
const SHARE = 0.6;

/** Kinds that are warnings, because nothing broke. */
const WARNINGS = new Set(['blocked-loop', 'deprecation', 'intervention', 'csp']);

/**
 * Returns the event of a failure, with at most 102,400 bytes of JSON. It contains only what the failure contains, which
 * is scrubbed. Cut parts are listed in `contexts.incident.cut`.
 */
export function toSentryEvent(given: Failure, options: SentryEventOptions): ErrorEvent {
  const failure = trimFailure(given, MAX_EVENT_BYTES * SHARE);
  const { errors, route, request, extra, breadcrumbs } = failure;
  const images = toImages(errors, options.debugIds);
  return {
    type: undefined,
    event_id: failure.id,
    timestamp: failure.at / 1000,
    platform: failure.side === 'server' ? 'node' : 'javascript',
    level: toLevel(failure),
    environment: options.environment,
    release: failure.release || undefined,
    transaction: route && cutText(request ? `${request.method} ${route}` : route),
    fingerprint: failure.unresolved ? undefined : [failure.digest],
    tags: toTags(failure, options),
    contexts: toContexts(failure, options),
    extra,
    request: request && toRequest(request, options),
    breadcrumbs: breadcrumbs?.map(({ at, ...rest }) => ({ timestamp: at / 1000, ...rest })),
    ...(errors.length > 0 ? { exception: { values: toExceptions(failure) } } : { message: failure.title }),
    debug_meta: images.length > 0 ? { images } : undefined,
  };
}

/** Leaves out the shape of bodies and the names of cookies. */
function toRequest({ body: _body, credentials: _names, ...shown }: RequestRecord, { origin }: SentryEventOptions) {
  return { ...shown, url: cutText(toAbsolute(shown.url, origin)) };
}

function toLevel({ kind, origin, level }: Failure): ErrorEvent['level'] {
  if (level || WARNINGS.has(kind)) return 'warning';
  return origin === 'process' ? 'fatal' : 'error';
}

function toTags(failure: Failure, options: SentryEventOptions): Record<string, string> {
  const { digest, route, release, requestId, origin, kind, side, unresolved } = failure;
  const url = toUrl(failure, options);
  const tags = {
    ...failure.tags,
    digest: unresolved ? undefined : digest,
    incident: url?.startsWith('http') ? url : undefined,
    route,
    release,
    request_id: requestId,
    origin,
    kind,
    side,
  };
  return Object.fromEntries(
    Object.entries(tags).flatMap(([name, value]) => (value ? [[name, cutText(value, MAX_TAG_LENGTH)]] : [])),
  );
}

function toContexts(failure: Failure, options: SentryEventOptions): ErrorEvent['contexts'] {
  const { build, location, cut, componentStack, traceId, spanId, id } = failure;
  const url = toUrl(failure, options);
  return {
    incident: {
      address: failure.unresolved ? undefined : toIncident(failure),
      url,
      build,
      thrown_at: location && `${location.path} ${location.function}`.trim(),
      cut,
    },
    ...(traceId !== undefined && { trace: { trace_id: traceId, span_id: spanId ?? id.slice(0, 16) } }),
    ...(componentStack !== undefined && { react: { componentStack } }),
  };
}

/** Sentry expects a chain from its cause outwards, but numbered from the outermost error. */
function toExceptions({ errors, origin }: Failure): Exception[] {
  const values = errors.map((error, index): Exception => {
    const frames = error.frames.map(toFrame).reverse();
    return {
      type: error.class,
      value: cutText(error.code === undefined ? error.message : `${error.message} (${error.code})`),
      stacktrace: frames.length > 0 ? { frames } : undefined,
      mechanism: {
        type: index === 0 ? 'spillway' : 'chained',
        handled: origin !== 'process',
        exception_id: index,
        parent_id: index > 0 ? index - 1 : undefined,
      },
    };
  });
  return values.reverse();
}

function toFrame(frame: StackFrame): SentryFrame {
  return {
    filename: toFilename(frame.file),
    function: frame.function || undefined,
    lineno: frame.line || undefined,
    colno: frame.column || undefined,
    in_app: isBundle(frame.file),
  };
}

/** Sentry's prefix for a bundle in any folder. */
const toFilename = (file: string) => (isBundle(file) ? `app:///${file}` : file || '<anonymous>');

function toImages(errors: readonly ErrorRecord[], debugIds: Readonly<Record<string, string>> = {}) {
  const files = new Set(errors.flatMap(({ frames }) => frames.map(({ file }) => file)));
  return [...files].flatMap((file) => {
    const debugId = Object.hasOwn(debugIds, file) ? debugIds[file] : undefined;
    return debugId ? { type: 'sourcemap' as const, code_file: toFilename(file), debug_id: debugId } : [];
  });
}

/** The address where the failure is shown: an echo is shown with the failure of the server. */
function toIncident(failure: Failure): string {
  return failure.echoOf ?? toAddress(failure);
}

function toUrl(failure: Failure, { toUrl, origin }: SentryEventOptions): string | undefined {
  const url = failure.unresolved ? undefined : toUrl?.(toIncident(failure));
  return url === undefined ? undefined : toAbsolute(url, origin);
}

const toAbsolute = (url: string, origin = '') => (url.startsWith('/') ? origin + url : url);
