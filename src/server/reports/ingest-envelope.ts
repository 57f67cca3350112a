import { MAX_VALUE_LENGTH } from '../../shared/shared-limits.ts';
import { Second } from '../../shared/units.ts';
import type { Failure, Visitor } from '../errors/failure.ts';
import { MAX_EVENT_NODES, MAX_REPORT_BYTES } from '../limits.ts';
import type { Count } from '../request/counters.ts';
import { HttpError } from '../request/http-error.ts';
import { type Envelope, parseEnvelope } from './envelope.ts';
import { readBuild, readTags, toEventId, toFailure, toHex } from './event-to-failure.ts';
import { ignoredReasonOf, isNotFoundTransaction } from './ignored-errors.ts';
import type { Echoes, NewIncidents } from './memory.ts';
import { isRecord, type JsonRecord, parseReportRecord, toList, toRecord, unlessRefused } from './read-report.ts';
import {
  type PublishedBuild,
  type ReportContext,
  type ReportScrubber,
  type ReportSender,
  toScrubbed,
  type Upstream,
} from './report-parts.ts';

interface EnvelopesOptions {
  readonly reading: ReportContext;
  /** What was received before. */
  readonly memory: { readonly newIncidents: NewIncidents; readonly echoes: Echoes };
  /** Stores and forwards a failure. Returns false if it could not be stored. */
  readonly keep: (failure: Failure, visitor: Visitor) => boolean;
  readonly upstream: Upstream | undefined;
  readonly count: Count;
}

/** The result for the sender. */
export interface Taken {
  /** The id of the event, if there is one. */
  readonly id?: string | undefined;
  /** The digest of the event, if the running build's table of locations can resolve it. */
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

/** The DSN that browsers get without an upstream: `https://spillway@example.com/1`. */
const OWN_DSN = /^https?:\/\/spillway@([^\s/@?#\\]{1,260})\/1$/;

/**
 * Returns a function that takes an envelope: it stores the event, and forwards the failure and a transaction if there is
 * an upstream. It throws an `HttpError` if the envelope is malformed, has another DSN, or has an event that cannot be
 * read.
 */
export function createEnvelopes({ reading, memory, keep, upstream, count }: EnvelopesOptions) {
  const { newIncidents, echoes } = memory;
  const outcome = upstream ? 'forwarded' : 'kept';

  function countItem(type: string, outcome: string): void {
    count('spillway_tunnel_items_total', { type: Object.hasOwn(READ_TYPES, type) ? type : 'other', outcome });
  }

  function countIgnored(reason: string): void {
    count('spillway_reports_ignored_total', { reason });
  }

  /** Returns the first item of each type that is read. */
  function readItems({ items }: Envelope): { readonly [Type in ReadType]?: JsonRecord } {
    const read: { [Type in ReadType]?: JsonRecord } = {};
    for (const { type, payload } of items) {
      if (type === 'event' && !read.event) read.event = parseItem(type, payload);
      else if (type === 'transaction' && !read.transaction && upstream) {
        read.transaction = unlessRefused(() => parseItem(type, payload)); // the event beside it is read
        if (!read.transaction) countItem(type, 'dropped');
      } else countItem(type, 'dropped');
    }
    return read;
  }

  /** Forwards a transaction in an envelope of its own. */
  async function forward(trace: unknown, transaction: JsonRecord, scrubber: ReportScrubber): Promise<void> {
    if (!upstream) return;
    if (isNotFoundTransaction(transaction)) {
      countIgnored('not-found');
      return countItem('transaction', 'dropped');
    }
    const id = toEventId(transaction.event_id);
    const build = await readBuild(transaction, reading.findBuild);
    const header = { event_id: id, ...(isRecord(trace) && { trace: rewriteTraceHeader(trace, scrubber) }) };
    const { environment } = upstream;
    upstream.send(header, rewriteTransaction(transaction, { id, build, environment }, scrubber));
    countItem('transaction', 'forwarded');
  }

  async function takeEvent(given: unknown, event: JsonRecord, sender: ReportSender): Promise<Taken> {
    const id = toEventId(event.event_id, given);
    return { id, ...(await takeFailure(await toFailure(event, id, sender, reading), sender.visitor)) };
  }

  async function takeFailure(failure: Failure, visitor: Visitor): Promise<Omit<Taken, 'id'>> {
    const { echoOf } = failure;
    const ignored = ignoredReasonOf(failure);
    const reason = ignored ?? (echoOf === undefined || (await echoes.admit(echoOf)) ? undefined : 'echo');
    if (reason !== undefined) {
      countIgnored(reason);
      countItem('event', upstream ? 'dropped' : 'kept');
      // The same digest as for an echo that is kept, so that strangers learn nothing from the response.
      return { stored: true, digest: ignored === undefined ? failure.digest : undefined };
    }
    const kept = echoOf === undefined ? await newIncidents.admit(failure) : failure;
    const stored = keep(kept, visitor);
    if (!stored && echoOf !== undefined) echoes.forget(echoOf);
    countItem('event', outcome);
    return { stored, digest: kept.unresolved ? undefined : kept.digest };
  }

  return async function takeEnvelope(bytes: Uint8Array, sender: ReportSender): Promise<Taken> {
    const envelope = parseEnvelope(bytes);
    const { dsn, trace, event_id } = envelope.headers;
    requireOurDsn(dsn, sender, upstream);
    const { event, transaction } = readItems(envelope);
    if (transaction) await forward(trace, transaction, sender.scrubber);
    return event ? takeEvent(event_id, event, sender) : { stored: true };
  };
}

/** The DSN has to be exactly the one that this site's pages got. Other spellings are rejected. */
function requireOurDsn(dsn: unknown, { isOurs }: ReportSender, upstream: Upstream | undefined): void {
  if (typeof dsn !== 'string') throw new HttpError(400, 'The header of the envelope has no DSN.');
  const host = OWN_DSN.exec(dsn)?.[1];
  const isThisSite = host !== undefined && (isOurs(`https://${host}`) || isOurs(`http://${host}`));
  if (upstream ? dsn === upstream.dsn : isThisSite) return;
  throw new HttpError(403, 'The DSN of the envelope is not the one of this site.');
}

function parseItem(type: ReadType, payload: Uint8Array): JsonRecord {
  const what = READ_TYPES[type];
  if (payload.length > MAX_REPORT_BYTES) throw new HttpError(413, `${what} is larger than ${MAX_REPORT_BYTES} bytes.`);
  return parseReportRecord(payload, what, type === 'event' ? MAX_EVENT_NODES : undefined);
}

/** Facts from the server that replace those of the sender. */
interface Believed {
  readonly id: string;
  readonly build: PublishedBuild;
  readonly environment: string;
}

/** As in Sentry's SDKs. */
const MAX_SPANS = 1000;

/** Rewrites a transaction for the upstream. Only these fields are forwarded, scrubbed. */
function rewriteTransaction(
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
    start_timestamp: toTime(start_timestamp),
    timestamp: toTime(timestamp),
    release: build.release || undefined,
    dist: build.build || undefined,
    environment,
    tags: readTags(tags, scrubber),
    request: typeof url === 'string' ? { url: toScrubbed(scrubber.url(url), scrubber, MAX_VALUE_LENGTH) } : undefined,
    contexts: { ...toRecord(scrubber.value(others)), ...(isRecord(trace) && { trace: rewriteTrace(trace, scrubber) }) },
    spans: toList(spans)
      .filter(isRecord)
      .slice(0, MAX_SPANS)
      .map((span) => rewriteTrace(span, scrubber)),
  };
}

/** Removes the sender's release and environment from the header of an envelope. */
function rewriteTraceHeader(trace: JsonRecord, scrubber: ReportScrubber): JsonRecord {
  const { public_key: key, release: _release, environment: _environment, ...rest } = trace;
  return {
    ...rewriteTrace(rest, scrubber),
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

/** Returns a time as a number (s), because a date can have words around it. */
function toTime(value: unknown): number | undefined {
  const at = typeof value === 'string' ? Date.parse(value) / Second : value;
  return typeof at === 'number' && Number.isFinite(at) ? at : undefined;
}
