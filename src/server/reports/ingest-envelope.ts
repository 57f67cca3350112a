import { MAX_VALUE_LENGTH } from '../../shared/limits.ts';
import { isNotFoundTransaction, noiseOf } from '../../shared/reporting/ignored-errors.ts';
import type { Failure } from '../errors/failure.ts';
import { MAX_REPORT_BYTES } from '../limits.ts';
import type { Count } from '../request/counters.ts';
import { type Envelope, parseEnvelope } from './envelope.ts';
import { findBuild, readTags, toEventId, toFailure, toHex } from './event-to-failure.ts';
import type { Echoes, NewIncidents, RecentIds } from './memory.ts';
import { isRecord, type JsonRecord, parseReportRecord, ReportError, toList, toRecord } from './read-report.ts';
import {
  type FailureParts,
  type KnownBuild,
  type ReportScrubber,
  type Sender,
  toScrubbed,
  type Upstream,
} from './report-parts.ts';

interface EnvelopeParts extends FailureParts {
  /** Whether the DSN is exactly the one that this site's pages got. Other spellings are rejected. */
  readonly isOurDsn: (dsn: string, sender: Sender) => boolean;
  /** Journals a failure. Returns false if that failed. */
  readonly keep: (failure: Failure) => boolean;
  readonly echoes: Echoes;
  readonly newIncidents: NewIncidents;
  readonly recentIds: RecentIds;
  /** Moves a failure past the limit on new incidents to the incident that reports the limit. */
  readonly toOverflow: (failure: Failure) => Failure;
  readonly upstream?: Upstream | undefined;
  readonly environment?: string | undefined;
  readonly count: Count;
}

/** The result for the sender. */
export interface Taken {
  /** The id of the event, if there is one. */
  readonly id?: string | undefined;
  /** The digest of the event, if the running build's site table can resolve it. */
  readonly digest?: string | undefined;
  /** False if the journal could not store it. */
  readonly stored: boolean;
}

/**
 * The items that are read. Others are dropped unread: what nobody has scrubbed must reach neither the store nor the
 * upstream.
 */
const READ_TYPES = { event: 'The event', transaction: 'The transaction' } as const;

type ReadType = keyof typeof READ_TYPES;

/**
 * Ingests an envelope: stores its event, and forwards the failure and a transaction if there is an upstream.
 *
 * @throws ReportError if the envelope is malformed, has another DSN, or has an event that cannot be read
 */
export async function ingestEnvelope(bytes: Uint8Array, sender: Sender, parts: EnvelopeParts): Promise<Taken> {
  const envelope = parseEnvelope(bytes);
  requireOurDsn(envelope, sender, parts);
  const { event, transaction } = readItems(envelope, parts);
  if (transaction) await forwardTransaction(envelope, transaction, parts);
  return event ? ingestEvent(envelope, event, sender, parts) : { stored: true };
}

function requireOurDsn({ headers }: Envelope, sender: Sender, { isOurDsn }: EnvelopeParts): void {
  const { dsn } = headers;
  if (typeof dsn !== 'string') throw new ReportError(400, 'The header of the envelope has no DSN.');
  if (!isOurDsn(dsn, sender)) throw new ReportError(403, 'The DSN of the envelope is not the one of this site.');
}

/** Returns the first item of each type that is read. */
function readItems({ items }: Envelope, parts: EnvelopeParts): { readonly [Type in ReadType]?: JsonRecord } {
  const read: { [Type in ReadType]?: JsonRecord } = {};
  for (const { type, payload } of items) {
    if (type === 'event' && !read.event) read.event = parseItem(type, payload);
    else if (type === 'transaction' && !read.transaction && parts.upstream) {
      read.transaction = tryItem(type, payload);
      if (!read.transaction) countItem(type, 'dropped', parts);
    } else countItem(type, 'dropped', parts);
  }
  return read;
}

function isReadType(type: string): type is ReadType {
  return Object.hasOwn(READ_TYPES, type);
}

function parseItem(type: ReadType, payload: Uint8Array): JsonRecord {
  const what = READ_TYPES[type];
  if (payload.length > MAX_REPORT_BYTES)
    throw new ReportError(413, `${what} is larger than ${MAX_REPORT_BYTES} bytes.`);
  return parseReportRecord(payload, what);
}

/** A transaction that cannot be read must not lose the event beside it. */
function tryItem(type: ReadType, payload: Uint8Array): JsonRecord | undefined {
  try {
    return parseItem(type, payload);
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
    return undefined;
  }
}

async function ingestEvent(
  envelope: Envelope,
  event: JsonRecord,
  sender: Sender,
  parts: EnvelopeParts,
): Promise<Taken> {
  const id = toEventId(event.event_id, envelope.headers.event_id);
  const answered = parts.recentIds.find(id);
  if (answered !== undefined) {
    countItem('event', 'duplicate', parts);
    return { id, digest: answered || undefined, stored: true };
  }
  // Added before the first `await`, because the same event can arrive twice at the same time.
  parts.recentIds.add(id, '');
  const build = await findBuild(event, parts);
  const taken = await takeFailure(toFailure(event, { id, build, sender }, parts), parts);
  if (taken.stored) parts.recentIds.add(id, taken.digest ?? '');
  else parts.recentIds.forget(id);
  return { id, ...taken };
}

async function takeFailure(failure: Failure, parts: EnvelopeParts): Promise<Omit<Taken, 'id'>> {
  const { upstream, echoes, newIncidents } = parts;
  const isDropped = (reason: string | undefined) => {
    if (isIgnored(reason, parts)) countItem('event', upstream ? 'dropped' : 'kept', parts);
    return reason !== undefined;
  };
  if (isDropped(noiseOf({ errors: failure.errors, pageUrl: failure.request?.url }))) return { stored: true };
  const { echoOf } = failure;
  if (echoOf !== undefined && isDropped((await echoes.admit(echoOf)) ? undefined : 'echo')) {
    // The same digest as for an echo that is kept, so that strangers learn nothing from the response.
    return { stored: true, digest: failure.digest };
  }
  const isAdmitted = echoOf !== undefined || (await newIncidents.admit(failure.digest));
  if (!isAdmitted) parts.count('spillway_reports_past_cap_total', {});
  const kept = isAdmitted ? failure : parts.toOverflow(failure);
  const stored = parts.keep(kept);
  upstream?.report(kept);
  countItem('event', upstream ? 'forwarded' : 'kept', parts);
  return { stored, digest: kept.unresolved ? undefined : kept.digest };
}

/** Forwards a transaction in an envelope of its own. */
async function forwardTransaction(
  { headers: { trace } }: Envelope,
  transaction: JsonRecord,
  parts: EnvelopeParts,
): Promise<void> {
  const { upstream, environment, scrubber } = parts;
  if (isIgnored(isNotFoundTransaction(transaction) ? 'not-found' : undefined, parts))
    return countItem('transaction', 'dropped', parts);
  const id = toEventId(transaction.event_id);
  const build = await findBuild(transaction, parts);
  const header = { event_id: id, ...(isRecord(trace) && { trace: rewriteTraceHeader(trace, scrubber) }) };
  upstream?.send(header, rewriteTransaction(transaction, { id, build, environment }, scrubber));
  countItem('transaction', 'forwarded', parts);
}

function isIgnored(reason: string | undefined, { count }: EnvelopeParts): boolean {
  if (reason !== undefined) count('spillway_reports_ignored_total', { reason });
  return reason !== undefined;
}

function countItem(type: string, outcome: string, { count }: EnvelopeParts): void {
  count('spillway_tunnel_items_total', { type: isReadType(type) ? type : 'other', outcome });
}

/** Facts from the server that replace those of the sender. */
interface Believed {
  readonly id: string;
  readonly build: KnownBuild;
  readonly environment: string | undefined;
}

/** As in Sentry's SDKs. */
const MAX_SPANS = 1000;

/** Rewrites a transaction for the upstream. Only these fields are forwarded, scrubbed. */
export function rewriteTransaction(
  transaction: JsonRecord,
  { id, build, environment }: Believed,
  scrubber: ReportScrubber,
): JsonRecord {
  const { spans, contexts, tags, request, start_timestamp, timestamp } = transaction;
  const { transaction: name, transaction_info, measurements, sdk } = transaction;
  const { trace, ...others } = toRecord(contexts);
  const { url } = toRecord(request);
  return {
    ...toRecord(scrubber.value({ transaction: name, transaction_info, measurements, sdk })),
    type: 'transaction',
    event_id: id,
    platform: 'javascript',
    ...{ start_timestamp: toTime(start_timestamp), timestamp: toTime(timestamp) },
    ...{ release: build.release || undefined, dist: build.build || undefined, environment },
    tags: readTags(tags, scrubber),
    request: typeof url === 'string' ? { url: toScrubbed(scrubber.url(url), scrubber, MAX_VALUE_LENGTH) } : undefined,
    contexts: { ...toRecord(scrubber.value(others)), ...(isRecord(trace) && { trace: rewriteTrace(trace, scrubber) }) },
    spans: toList(spans)
      .filter(isRecord)
      .slice(0, MAX_SPANS)
      .map((span) => rewriteTrace(span, scrubber)),
  };
}

/** Removes the sender's release and environment from the header of an envelope, checks ids, and scrubs the rest. */
export function rewriteTraceHeader(trace: JsonRecord, scrubber: ReportScrubber): JsonRecord {
  const { trace_id: traceId, public_key: key, release: _release, environment: _environment, ...rest } = trace;
  return {
    ...toRecord(scrubber.value(rest)),
    trace_id: toHex(traceId, 32),
    public_key: typeof key === 'string' && /^\w{1,100}$/.test(key) ? key : undefined,
  };
}

/** Checks ids by their format instead of scrubbing them, because a pattern could take them for secrets. */
function rewriteTrace(trace: JsonRecord, scrubber: ReportScrubber): JsonRecord {
  const { trace_id: traceId, span_id: spanId, parent_span_id: parentId, ...rest } = trace;
  return {
    ...toRecord(scrubber.value(rest)),
    trace_id: toHex(traceId, 32),
    span_id: toHex(spanId, 16),
    parent_span_id: toHex(parentId, 16),
  };
}

function toTime(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'string' ? value : undefined;
}
