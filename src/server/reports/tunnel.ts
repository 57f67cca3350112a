import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { toOccurrence } from '../../shared/reporting/address.ts';
import { listPatterns, type RouteLine } from '../../shared/routing/routes.ts';
import { KiB, Second } from '../../shared/units.ts';
import { listCredentials } from '../errors/create-failure.ts';
import { createDigest } from '../errors/digest/create-digest.ts';
import type { LocationTable } from '../errors/digest/location-table.ts';
import { readError } from '../errors/digest/read-error.ts';
import type { Failure, ToFailureUrl, Visitor } from '../errors/failure.ts';
import { refuse } from '../errors/problem.ts';
import { listRequestSecrets } from '../errors/scrub/secret-values.ts';
import type { Scrubber } from '../errors/scrub.ts';
import { isOfThisSite } from '../front/cross-site.ts';
import { toSender } from '../request/client-address.ts';
import type { Count } from '../request/counters.ts';
import { HttpError, isVisitorGone } from '../request/http-error.ts';
import type { Origins } from '../request/origins.ts';
import { requestInfo } from '../request/request-info.ts';
import { sendJson } from '../request/send-body.ts';
import type { ErrorHandler, Step } from '../request/step.ts';
import { type BucketSize, createTokenBuckets } from '../request/token-buckets.ts';
import type { OpenedTracker } from '../tracker/tracker.ts';
import { createBrowserReports } from './browser-reports.ts';
import { createEnvelopes, type Taken } from './ingest-envelope.ts';
import { createEchoes, createNewIncidents, createPublishedBuilds } from './memory.ts';
import { readReport } from './read-report.ts';
import type { PublishedBuild, ReportContext, ReportScrubber, ReportSender, Upstream } from './report-parts.ts';

/** Where one port takes reports, and whom it answers how. */
interface TunnelRules {
  /** `/_report`. The browser's own reports use `/_report/browser`. */
  readonly path: string;
  readonly origins: Origins;
  /** Whether the response has the URL of the failure. Undefined for never. */
  readonly canOpen?: OpenedTracker['canOpen'] | undefined;
}

/** Where reports go. */
interface Sinks {
  /** Undefined: reports are logged, and sent to the upstream. */
  readonly tracker: Pick<OpenedTracker, 'record' | 'isKnown' | 'isEchoAwaited'> | undefined;
  readonly upstream?: Upstream | undefined;
  readonly toUrl: ToFailureUrl;
  readonly count: Count;
  readonly log: Logger;
}

export interface TunnelOptions {
  readonly rules: TunnelRules;
  readonly reading: ReportContext;
  readonly sinks: Sinks;
  /** Also removes the request's credentials. */
  readonly scrubberOf: (req: IncomingMessage) => ReportScrubber;
  /** Responds if the tunnel itself fails. */
  readonly fail: ErrorHandler;
  readonly limits?: TunnelLimits;
}

/** The rate limits for reports, per sender and in total. */
interface TunnelLimits {
  readonly perAddress: BucketSize;
  readonly together: BucketSize;
}

const LIMITS: TunnelLimits = {
  // All browsers of an office with one address can fail at the same time. A constant stream is a loop.
  perAddress: { burst: 100, perSecond: 10 },
  // A usual report takes 0.2 to 2 ms, so reports take at most two fifths of one core.
  together: { burst: 400, perSecond: 200 },
};

/** A report counts once more for each of these (bytes, decoded), because its time grows with its size: up to 12 ms. */
const BYTES_PER_REPORT = 16 * KiB;

/** The content types of the Reporting API and `report-uri`, and plain JSON from a page of this site. */
const REPORT_TYPES: ReadonlySet<string> = new Set([
  'application/reports+json',
  'application/csp-report',
  'application/json',
]);

/** How long a sender waits if nothing can be stored (s). */
const REPORT_RETRY_AFTER = 30;

/**
 * Creates the step for reports from browsers: Sentry's envelopes by POST to exactly `path`, and the browser's
 * own reports below it. Other requests continue. It belongs after the host check and before anything that
 * reads bodies. Like `crossSite()`, it rejects requests that another site makes a browser send. A request
 * without an origin is not from a page, or is a browser's own report.
 */
export function tunnel({ rules, reading, sinks, scrubberOf, fail, limits = LIMITS }: TunnelOptions): Step {
  const { path, origins } = rules;
  const { tracker, upstream, count } = sinks;
  const limiter = createReportLimiter(limits);
  const keep = createKeep(sinks);
  const { makeDigest } = reading;
  const newIncidents = createNewIncidents({
    isKnown: async (digest) => !tracker || tracker.isKnown(digest),
    makeDigest,
    count,
  });
  const echoes = createEchoes({ isAwaited: async (address) => !tracker || tracker.isEchoAwaited(address) });
  const takeEnvelope = createEnvelopes({ reading, memory: { newIncidents, echoes }, keep, upstream, count });
  const takeBrowserReports = createBrowserReports({ makeDigest, newIncidents, keep, count });
  const ways = new Map([
    [path, answerEnvelope],
    [`${path}/browser`, answerReports],
  ]);

  async function answerEnvelope(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const taken = await readReport({ req, res }, (bytes) => {
      limiter.charge(req, bytes);
      return takeEnvelope(bytes, toReportSender(req, origins, scrubberOf(req)));
    });
    const url = taken.digest !== undefined && (await rules.canOpen?.(req)) ? toUrl(taken) : undefined;
    sendTaken(res, taken, url);
  }

  async function answerReports(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const type = (req.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
    if (!REPORT_TYPES.has(type)) throw new HttpError(415, `Send ${[...REPORT_TYPES].join(', ')}.`);
    await readReport({ req, res }, (bytes) => {
      limiter.charge(req, bytes);
      return takeBrowserReports(bytes, toReportSender(req, origins, scrubberOf(req)));
    });
    res.statusCode = 204;
    res.setHeader('Cache-Control', 'no-store');
    res.end();
  }

  /** The browser makes the same address. */
  function toUrl({ id = '', digest }: Taken): string | undefined {
    return sinks.toUrl(`${digest}-${toOccurrence(id)}`);
  }

  function refuseReport(req: IncomingMessage, res: ServerResponse, error: HttpError): void {
    count('spillway_tunnel_refused_total', { status: String(error.status) });
    for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
    refuse(req, res, error.status, error.message);
  }

  function handleError(error: unknown, req: IncomingMessage, res: ServerResponse): void {
    if (isVisitorGone(error)) count('spillway_tunnel_refused_total', { status: 'gone' });
    else if (error instanceof HttpError) refuseReport(req, res, error);
    else fail(error, req, res);
  }

  return function tunnel(req, res, next) {
    const info = requestInfo(req);
    const answer = info.target.startsWith(path) ? ways.get(info.path) : undefined;
    if (!answer) {
      next();
      return;
    }
    info.route = info.path;
    const refusal = findRefusal(req, origins) ?? toWait(limiter.take(req));
    if (refusal) {
      refuseReport(req, res, refusal);
      return;
    }
    answer(req, res).catch((error: unknown) => handleError(error, req, res));
  };
}

/** Limits the reports of each sender, and of all. */
function createReportLimiter({ perAddress, together }: TunnelLimits) {
  const senders = createTokenBuckets(perAddress);
  const all = createTokenBuckets(together);
  return {
    /** Counts a request. Returns 0, or the milliseconds until the sender can try again. */
    take: (req: IncomingMessage): number => senders.take(toSender(requestInfo(req).address)) || all.take(''),
    /** Counts its size, which is only known later. */
    charge(req: IncomingMessage, { length }: Uint8Array): void {
      const more = Math.floor(length / BYTES_PER_REPORT);
      senders.charge(toSender(requestInfo(req).address), more);
      all.charge('', more);
    },
  };
}

/** Returns a function that stores a failure, forwards and logs it. It returns false if it could not be stored. */
function createKeep({ tracker, upstream, count, log }: Sinks): (failure: Failure, visitor: Visitor) => boolean {
  return function keep(failure, visitor) {
    count('spillway_failures_total', { side: 'browser', kind: failure.kind });
    const stored = tracker?.record(failure, visitor) ?? true;
    const { digest, occurrence, kind, title, build, release, route, requestId, echoOf } = failure;
    const line = { digest, occurrence, side: 'browser', kind, title, build, release, route, requestId, echoOf };
    try {
      upstream?.report(failure);
    } catch (cause) {
      log.error({ digest, occurrence, stack: readError(cause).stack }, 'A failure could not be reported.');
    }
    if (!stored) log.error({ ...line, failure }, 'A browser reported a failure, but it could not be stored.');
    // The upstream has the rest.
    else log.warn(tracker || upstream ? line : { ...line, failure }, 'A browser reported a failure.');
    return stored;
  };
}

function toReportSender(req: IncomingMessage, origins: Origins, scrubber: ReportScrubber): ReportSender {
  const info = requestInfo(req);
  const { origin } = info;
  // Behind a proxy that changes the host, only the browser knows the origin of its page.
  const page = req.headers['sec-fetch-site'] === 'same-origin' ? req.headers.origin : undefined;
  return {
    origin,
    isOurs: (other) => other === page || origins.isOurs(other, origin),
    userAgent: req.headers['user-agent'],
    credentials: listCredentials(req.headers),
    visitor: { address: info.address, id: info.readVisitorId() },
    scrubber,
  };
}

function findRefusal(req: IncomingMessage, origins: Origins): HttpError | undefined {
  if (req.method !== 'POST') return new HttpError(405, 'Send reports with POST.', { Allow: 'POST' });
  if (isOfThisSite(req, origins)) return undefined;
  return new HttpError(403, 'This report was sent from another site, so it was rejected.');
}

/** Returns the error for a wait. Sentry's SDKs obey these headers. An empty list of categories means all. */
function toWait(ms: number): HttpError | undefined {
  if (ms === 0) return undefined;
  const seconds = Math.max(1, Math.ceil(ms / Second));
  return new HttpError(429, 'Too many reports. Wait a moment.', {
    'Retry-After': String(seconds),
    'X-Sentry-Rate-Limits': `${seconds}::key`,
  });
}

function sendTaken(res: ServerResponse, { id, digest, stored }: Taken, url: string | undefined): void {
  if (!stored) res.setHeader('Retry-After', REPORT_RETRY_AFTER);
  sendJson(res, stored ? 200 : 503, stored ? { id, digest, url } : {});
}

/** The server that answers. */
interface Running extends PublishedBuild {
  readonly namespace: string;
  readonly table: () => LocationTable;
  readonly scrubber: Scrubber;
  readonly routes: readonly RouteLine[];
}

/**
 * The shortest credential that is scrubbed (UTF-16 code units). A shorter one can be a word of a message,
 * and a value that a visitor has chosen must not change the digest.
 */
const MIN_CREDENTIAL_LENGTH = 16;

/** Creates the tunnel. @returns a function that returns the step for an error handler */
export function openTunnel(
  rules: TunnelRules,
  { build, release, namespace, table, scrubber, routes }: Running,
  sinks: Sinks & { readonly tracker: Pick<OpenedTracker, 'listBuilds'> | undefined },
): (fail: ErrorHandler) => Step {
  const patterns = new Set(listPatterns(routes));
  const reading: ReportContext = {
    makeDigest: (input) => createDigest(input, { namespace, table: table() }),
    findBuild: createPublishedBuilds({
      own: { build, release },
      list: async () => (await sinks.tracker?.listBuilds()) ?? [],
    }),
    isRoute: (pattern) => patterns.has(pattern),
  };
  return (fail) => tunnel({ rules, reading, sinks, scrubberOf: toRequestScrubber(scrubber), fail });
}

/** Returns a scrubber that also removes the request's credentials, because its page may repeat them. */
function toRequestScrubber(scrubber: Scrubber): (req: IncomingMessage) => Scrubber {
  return ({ headers }) => scrubber.forReport(listRequestSecrets({ headers }, scrubber).filter(isLong));
}

function isLong(secret: string): boolean {
  return secret.length >= MIN_CREDENTIAL_LENGTH;
}
