import { MiB } from '../../../shared/units.ts';
import { type Failure, toAddress } from '../../engine/errors/failure.ts';
import type { Count } from '../../engine/monitoring/count.ts';
import { toSender } from '../../engine/request/to-sender.ts';
import type { GivenFeedback, KeepFeedback, KeptFeedback } from '../feedback/feedback.ts';
import type { Echoes } from './echoes.ts';
import { createItem, type Envelope, type EnvelopeItem, parseEnvelope, serializeEnvelope } from './envelope.ts';
import { findBuild, toEventId, toFailure, toHex } from './event-to-failure.ts';
import { readFeedback, readUserReport, rewriteFeedbackContext, rewriteUserReport } from './feedback.ts';
import type { NewIncidents } from './new-incidents.ts';
import type { RecentIds } from './recent-ids.ts';
import { ReportError } from './report-error.ts';
import { isRecord, type JsonRecord, parseReportRecord, toRecord } from './report-json.ts';
import { type ReportOutbox, toCategory } from './report-outbox.ts';
import type { FailureParts, ReportScrubber, Sender } from './report-parts.ts';
import { rewriteEvent } from './rewrite-event.ts';

export interface EnvelopeParts extends FailureParts {
  /** Whether the DSN is exactly the one that this site's pages got. Other spellings are rejected. */
  readonly isOurDsn: (dsn: string, sender: Sender) => boolean;
  /** Journals a failure. Returns false if that failed. */
  readonly keep: (failure: Failure, sender: Sender) => boolean;
  readonly feedback: KeepFeedback;
  readonly echoes: Echoes;
  /** Returns the reason for ignoring a failure, such as an extension's error. */
  readonly ignore: (failure: Failure) => string | undefined;
  /** Returns the reason for ignoring the payload of a `transaction`, such as one of a page that does not exist. */
  readonly ignoreTransaction: (payload: unknown) => string | undefined;
  readonly newIncidents: NewIncidents;
  readonly recentIds: RecentIds;
  /** Moves a failure past the limit on new incidents to the incident that reports the limit. */
  readonly toOverflow: (failure: Failure) => Failure;
  readonly outbox: ReportOutbox | undefined;
  readonly environment: string | undefined;
  /** Returns the URL that shows the failure at an address. Only a path if the site's origin is not configured. */
  readonly toAbsoluteUrl: (address: string) => string | undefined;
  readonly count: Count;
}

/** The result for the sender. */
export interface Taken {
  /** The id of the event or feedback, if there is one. */
  readonly id?: string | undefined;
  /** The digest of the event, if the running build's site table can resolve it. */
  readonly digest?: string | undefined;
  /** False if the journal could not store it. */
  readonly stored: boolean;
}

/** The result for one item. */
interface TakenItem {
  /** The item to forward. Undefined if it is dropped. */
  readonly item?: EnvelopeItem;
  readonly digest?: string | undefined;
  readonly stored?: boolean;
  /** False for an item that is only forwarded. */
  readonly isKept?: boolean;
  /** An ignored error, or past a sender's limit: neither stored nor forwarded. */
  readonly ignored?: true;
}

/** The same limit as Sentry's (bytes). */
const MAX_EVENT_BYTES = MiB;

/** Types that are parsed, stored and rewritten. */
const READ_TYPES: ReadonlySet<string> = new Set(['event', 'feedback', 'user_report']);

/** Types with a counter. All others count as `other`. */
const COUNTED_TYPES: ReadonlySet<string> = new Set([
  ...READ_TYPES,
  ...['transaction', 'session', 'sessions', 'attachment', 'client_report', 'replay_event', 'replay_recording'],
  ...['profile', 'profile_chunk', 'check_in', 'span', 'log', 'metric', 'trace_metric', 'raw_security'],
]);

/**
 * Ingests an envelope: stores its event and feedback, and forwards it if there is an upstream. Everything is
 * parsed before anything is stored, so that a malformed envelope changes nothing.
 *
 * @param headers the sender's headers for the upstream
 * @throws ReportError if the envelope is malformed, or has another DSN
 */
export async function ingestEnvelope(
  bytes: Uint8Array,
  sender: Sender,
  headers: Readonly<Record<string, string>>,
  parts: EnvelopeParts,
): Promise<Taken> {
  const envelope = parseEnvelope(bytes);
  requireOurDsn(envelope, sender, parts);
  const { id, read } = readItems(envelope, sender, parts);
  const answered = id === undefined ? undefined : parts.recentIds.find(id);
  if (answered !== undefined) {
    for (const { type } of envelope.items) countItem(type, 'duplicate', parts);
    return { id, digest: answered || undefined, stored: true };
  }
  // Added before the first `await`, because the same event can arrive twice at the same time.
  if (id !== undefined) parts.recentIds.add(id, '');
  const taken: TakenItem[] = [];
  for (const item of envelope.items) taken.push(await takeItem(item, read.get(item), sender, parts));
  const stored = taken.every((one) => one.stored !== false);
  const digest = taken.find((one) => one.digest !== undefined)?.digest;
  if (id !== undefined && stored) parts.recentIds.add(id, digest ?? '');
  if (id !== undefined && !stored) parts.recentIds.forget(id);
  passOn(envelope, taken, id, headers, parts);
  return { id, digest, stored };
}

function requireOurDsn({ headers }: Envelope, sender: Sender, { isOurDsn }: EnvelopeParts): void {
  const { dsn } = headers;
  if (typeof dsn !== 'string') throw new ReportError(400, 'The header of the envelope has no DSN.');
  if (!isOurDsn(dsn, sender)) throw new ReportError(403, 'The DSN of the envelope is not the one of this site.');
}

/** The parsed content of an item. */
type ReadItem =
  | { readonly as: 'event'; readonly id: string; readonly event: JsonRecord }
  | { readonly as: 'feedback'; readonly id: string; readonly event: JsonRecord; readonly feedback: GivenFeedback }
  | { readonly as: 'user_report'; readonly feedback: GivenFeedback }
  | { readonly as: 'transaction'; readonly payload: JsonRecord };

interface ReadItems {
  /** The id of the event or feedback. An envelope can have only one of them. */
  readonly id: string | undefined;
  readonly read: ReadonlyMap<EnvelopeItem, ReadItem>;
}

function readItems({ headers, items }: Envelope, sender: Sender, parts: EnvelopeParts): ReadItems {
  const read = new Map<EnvelopeItem, ReadItem>();
  const kinds = new Set<string>();
  let id: string | undefined;
  for (const item of items) {
    // Transactions are parsed only if they would be forwarded.
    if (!READ_TYPES.has(item.type) && !(item.type === 'transaction' && parts.outbox)) continue;
    const kind = item.type === 'feedback' ? 'event' : item.type;
    if (kinds.has(kind))
      throw new ReportError(400, 'An envelope can contain only one event. Send each event in a separate envelope.');
    kinds.add(kind);
    const value = parseItem(item);
    if (kind === 'event') id = toEventId(value.event_id, headers.event_id);
    read.set(item, readItem(item.type, value, id ?? '', sender, parts));
  }
  return { id, read };
}

function parseItem({ type, payload }: EnvelopeItem): JsonRecord {
  const what = type === 'user_report' ? 'The user report' : type === 'transaction' ? 'The transaction' : 'The event';
  if (payload.length > MAX_EVENT_BYTES) throw new ReportError(413, `${what} is larger than ${MAX_EVENT_BYTES} bytes.`);
  return parseReportRecord(payload, what);
}

function readItem(type: string, value: JsonRecord, id: string, sender: Sender, parts: EnvelopeParts): ReadItem {
  if (type === 'event') return { as: 'event', id, event: value };
  if (type === 'transaction') return { as: 'transaction', payload: value };
  const said = { scrubber: parts.scrubber, visitor: sender.visitor, at: parts.now() };
  const feedback = type === 'feedback' ? readFeedback(value, id, said) : readUserReport(value, said);
  if (!feedback) throw new ReportError(400, 'The feedback is empty.');
  return type === 'feedback' ? { as: 'feedback', id, event: value, feedback } : { as: 'user_report', feedback };
}

async function takeItem(
  item: EnvelopeItem,
  read: ReadItem | undefined,
  sender: Sender,
  parts: EnvelopeParts,
): Promise<TakenItem> {
  switch (read?.as) {
    case 'event':
      return takeEvent(item, read.event, read.id, sender, parts);
    case 'feedback':
      return ingestFeedback(item, read.feedback, sender, parts, () =>
        rewriteFeedback(read.event, read.id, read.feedback, parts),
      );
    case 'user_report':
      return ingestFeedback(item, read.feedback, sender, parts, () => rewriteUserReport(read.feedback));
    case 'transaction':
      return isIgnored(parts.ignoreTransaction(read.payload), parts) ? {} : { item };
    default:
      return { item };
  }
}

function isIgnored(reason: string | undefined, { count }: EnvelopeParts): boolean {
  if (reason !== undefined) count('spillway_reports_ignored_total', { reason });
  return reason !== undefined;
}

/** Stores feedback about known failures. The upstream gets all feedback within the sender's limits. */
async function ingestFeedback(
  { type, headers }: EnvelopeItem,
  given: GivenFeedback,
  { address }: Sender,
  parts: EnvelopeParts,
  rewrite: () => JsonRecord | Promise<JsonRecord>,
): Promise<TakenItem> {
  const sender = toSender(address);
  const outcome = await keepOrDrop();
  if (outcome === 'failed') return { stored: false };
  if (outcome !== 'kept') parts.count('spillway_reports_ignored_total', { reason: `feedback-${outcome}` });
  if (outcome === 'limited') return { ignored: true };
  return { item: createItem({ ...headers, type }, await rewrite()), isKept: outcome === 'kept' };

  async function keepOrDrop(): Promise<KeptFeedback | 'unchecked'> {
    if (parts.feedback.takeTurn(sender) > 0) return 'limited';
    if (given.eventId === undefined) return 'unknown';
    try {
      return await parts.feedback.keep(given, { eventId: given.eventId }, sender);
    } catch {
      return 'unchecked'; // the store is unavailable
    }
  }
}

async function takeEvent(
  item: EnvelopeItem,
  event: JsonRecord,
  id: string,
  sender: Sender,
  parts: EnvelopeParts,
): Promise<TakenItem> {
  const build = await findBuild(event, parts);
  const failure = toFailure(event, { id, build, sender }, parts);
  if (isIgnored(parts.ignore(failure), parts)) return { ignored: true };
  const { echoOf } = failure;
  if (echoOf !== undefined && !(await parts.echoes.admit(echoOf))) {
    isIgnored('echo', parts);
    // The same digest as for an echo that is kept, so that strangers learn nothing from the response.
    return { ignored: true, digest: failure.digest };
  }
  const admitted = echoOf !== undefined || (await parts.newIncidents.admit(failure.digest));
  if (!admitted) parts.count('spillway_reports_past_cap_total', {});
  const kept = admitted ? failure : parts.toOverflow(failure);
  const stored = parts.keep(kept, sender);
  const digest = kept.unresolved ? undefined : kept.digest;
  const address = kept.echoOf ?? (digest && toAddress(kept));
  const incident = address && parts.toAbsoluteUrl(address);
  const believed = {
    id,
    build,
    environment: parts.environment,
    tags: { ...(digest && { digest }), ...(incident && { incident }) },
  };
  const rewritten = parts.outbox && rewriteEvent(event, believed, parts.scrubber);
  return { item: rewritten && createItem({ ...item.headers, type: 'event' }, rewritten), digest, stored };
}

async function rewriteFeedback(
  event: JsonRecord,
  id: string,
  feedback: GivenFeedback,
  parts: EnvelopeParts,
): Promise<JsonRecord> {
  const believed = { id, build: await findBuild(event, parts), environment: parts.environment, tags: {} };
  const rewritten = rewriteEvent({ ...event, type: 'feedback' }, believed, parts.scrubber);
  const said = rewriteFeedbackContext(toRecord(toRecord(event.contexts).feedback), feedback);
  return { ...rewritten, contexts: { ...toRecord(rewritten.contexts), feedback: said } };
}

/** Forwards the items, without the attachments of an ignored event. */
function passOn(
  envelope: Envelope,
  taken: readonly TakenItem[],
  id: string | undefined,
  headers: Readonly<Record<string, string>>,
  parts: EnvelopeParts,
): void {
  const ignored = taken.some((one) => one.ignored);
  const items = taken.flatMap(({ item }) => (item && !(ignored && item.type === 'attachment') ? [item] : []));
  const sent = parts.outbox !== undefined && items.length > 0 && add(parts.outbox, envelope, items, id, headers, parts);
  for (const [index, { type }] of envelope.items.entries()) {
    const goesOn = sent && items.includes(taken[index]?.item as EnvelopeItem);
    const isKept = READ_TYPES.has(type) && !ignored && taken[index]?.isKept !== false;
    countItem(type, goesOn ? 'forwarded' : isKept ? 'kept' : 'dropped', parts);
  }
}

function add(
  outbox: ReportOutbox,
  envelope: Envelope,
  items: readonly EnvelopeItem[],
  id: string | undefined,
  headers: Readonly<Record<string, string>>,
  { scrubber }: EnvelopeParts,
): boolean {
  const main = items.find(({ type }) => READ_TYPES.has(type)) ?? items[0];
  const written = serializeEnvelope({ headers: rewriteHeaders(envelope.headers, id, scrubber), items });
  return outbox.add(written, toCategory(main?.type ?? ''), headers);
}

/**
 * Rewrites the header of an envelope that has an event. It removes the sender's release and environment from
 * the trace, checks the trace's ids by their format, and scrubs the rest. The DSN is already checked.
 */
function rewriteHeaders(headers: JsonRecord, id: string | undefined, scrubber: ReportScrubber): JsonRecord {
  if (id === undefined) return headers;
  const { dsn, event_id: _id, trace, ...rest } = headers;
  return {
    event_id: id,
    dsn,
    ...toRecord(scrubber.value(rest)),
    ...(isRecord(trace) && { trace: rewriteTraceHeader(trace, scrubber) }),
  };
}

function rewriteTraceHeader(trace: JsonRecord, scrubber: ReportScrubber): JsonRecord {
  const { trace_id: traceId, public_key: key, release: _release, environment: _environment, ...rest } = trace;
  return {
    trace_id: toHex(traceId, 32),
    public_key: typeof key === 'string' && /^\w{1,100}$/.test(key) ? key : undefined,
    ...toRecord(scrubber.value(rest)),
  };
}

function countItem(type: string, outcome: string, { count }: EnvelopeParts): void {
  count('spillway_tunnel_items_total', { type: COUNTED_TYPES.has(type) ? type : 'other', outcome });
}
