import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { toOccurrence } from '../../../shared/engine/reporting/address.ts';
import type { RequestInfo } from '../request/request-info.ts';
import { createDigest } from './digest/create-digest.ts';
import type { FramePaths } from './digest/frame-file.ts';
import { readErrors } from './digest/read-error.ts';
import { emptySiteTable, type SiteTable } from './digest/site-table.ts';
import type { ErrorRecord, Failure, FailureKind, FailureOrigin, RequestRecord } from './failure.ts';
import { hidePathSecrets } from './scrub/secret-path.ts';
import { listBodySecrets, listRequestSecrets } from './scrub/secret-values.ts';
import type { Scrubber } from './scrub.ts';
import { scrubFailure } from './scrub-failure.ts';
import { trimFailure } from './trim.ts';

/** Where something was thrown: what the incident tells of it. */
export interface FailureContext {
  readonly origin: FailureOrigin;
  readonly routeId?: string;
  /** The route's pattern (`/orders/:id`), never the URL. */
  readonly route?: string;
  /** Path and search of the page, where it is not the request's own. */
  readonly url?: string;
  /** The request that it was done for. The funnel takes the one in whose async context it was thrown by default. */
  readonly info?: RequestInfo;
  readonly headers?: IncomingHttpHeaders;
  /** What was posted, parsed: it is not kept, but what in it is a secret must not stand in a message either. */
  readonly body?: unknown;
  /** What the request's work was ended with: an `AbortError` after `VisitorGone` is no failure. */
  readonly endedBy?: unknown;
  /** What is made of it is shown to others than who asked, too. */
  readonly isShared?: boolean;
  /** React's, of a failed render: the components around it, innermost first. */
  readonly componentStack?: string;
}

/** What is recorded: something thrown, or what a watcher saw. */
export interface Recorded {
  readonly error?: unknown;
  readonly kind?: FailureKind;
  /** In the place of a thrown error's. */
  readonly errors?: readonly ErrorRecord[];
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface RecorderOptions {
  readonly build: string;
  /** Unset: the build. */
  readonly release?: string;
  /** The same on all replicas and releases; keeps strangers from confirming a guess. */
  readonly namespace?: string;
  readonly paths?: FramePaths;
  /** Positions in the bundles, and what of the source is there. Read when the first failure asks. */
  readonly table?: () => SiteTable;
  readonly scrubber: Scrubber;
  /** A hash of a visitor's address that changes daily, or of the owner's id: counted, and no more. */
  readonly toVisitor?: (address: string, id?: string) => string | undefined;
  /** The owner's: what keeps failures at one place apart on purpose. */
  readonly splitBy?: (error: unknown, context: FailureContext) => readonly string[];
}

/** A constant by default, so that replicas and fresh disks agree. */
export const DEFAULT_NAMESPACE = 'spillway';

const NO_BUILD: FramePaths = { dist: join(process.cwd(), 'dist') };

/** Headers that help to understand a failure, and tell nothing of who it was. */
const SHOWN_HEADERS = [
  'accept',
  'accept-language',
  'content-length',
  'content-type',
  'purpose',
  'referer',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'user-agent',
] as const;

export interface RecordedFailure {
  readonly failure: Failure;
  /** Knows the secrets of the request too. */
  readonly scrubber: Scrubber;
}

/** Makes the record of a failure: read, named, scrubbed and cut. Never throws. */
export function createFailureRecorder(
  options: RecorderOptions,
): (recorded: Recorded, context: FailureContext) => RecordedFailure {
  const { build, release = build, namespace = DEFAULT_NAMESPACE, paths = NO_BUILD } = options;

  return function toFailure({ error, errors = readErrors(error, paths), kind, extra }, context) {
    const { info } = context;
    const scrubber = withSecretsOf(context, options.scrubber);
    const id = randomBytes(16).toString('hex');
    const route = context.route ?? info?.route;
    const found = createDigest(
      { kind, side: 'server', errors, route, splitBy: split(error, context) },
      { namespace, table: options.table?.() ?? emptySiteTable },
    );
    const failure: Failure = {
      id,
      digest: found.digest,
      occurrence: toOccurrence(id),
      rule: found.rule,
      ...(found.weak ? { weak: true } : {}),
      kind: found.kind,
      side: 'server',
      origin: context.origin,
      at: Date.now(),
      build,
      release,
      errors,
      title: found.title,
      site: found.site,
      route,
      routeId: context.routeId,
      requestId: info?.requestId,
      traceId: info?.knownTraceId,
      request: toRequestRecord(context, options.scrubber),
      componentStack: context.componentStack,
      breadcrumbs: info?.trail,
      extra,
      visitor: info && options.toVisitor?.(info.address, info.readVisitorId()),
    };
    return { failure: trimFailure(scrubFailure(failure, scrubber)), scrubber };
  };

  function split(error: unknown, context: FailureContext): readonly string[] | undefined {
    try {
      return options.splitBy?.(error, context);
    } catch {
      return undefined; // the owner's code fails on what is hostile; the failure itself counts more
    }
  }
}

/** Messages repeat the secrets of a request without their names. */
function withSecretsOf(
  { info, headers = info?.headers, url = info?.target, ...context }: FailureContext,
  scrubber: Scrubber,
): Scrubber {
  const { route = info?.route, body } = context;
  return scrubber.with([...listRequestSecrets({ headers, url, route }, scrubber), ...listBodySecrets(body, scrubber)]);
}

function toRequestRecord(context: FailureContext, scrubber: Scrubber): RequestRecord | undefined {
  const { info } = context;
  if (!info) return undefined;
  const shown: Record<string, string> = {};
  for (const name of SHOWN_HEADERS) {
    const value = context.headers?.[name];
    if (value !== undefined) shown[name] = String(value);
  }
  const url = context.url ?? info.target;
  return {
    method: info.method,
    // A value that is too short to be known by itself is known by its place.
    url: hidePathSecrets(url, context.route ?? info.route, scrubber),
    ...(context.headers ? { headers: shown } : {}),
  };
}
