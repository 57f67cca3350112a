import { randomBytes } from 'node:crypto';
import { isAddress, toOccurrence } from '../../shared/reporting/address.ts';
import { REPORT_TAGS } from '../../shared/reporting/browser-report.ts';
import { MAX_BREADCRUMBS, MAX_VALUE_LENGTH } from '../../shared/shared-limits.ts';
import { Day, Minute, Second } from '../../shared/units.ts';
import type { FailureKind } from '../../shared/words.ts';
import type { Failure, RequestRecord } from '../errors/failure.ts';
import { trimFailure } from '../errors/trim.ts';
import { MAX_REPORT_AGE } from '../limits.ts';
import type { Breadcrumb } from '../request/request-info.ts';
import { readEventErrors } from './event-errors.ts';
import { isRecord, type JsonRecord, toLine, toList, toRecord } from './read-report.ts';
import {
  type PublishedBuild,
  type ReportContext,
  type ReportScrubber,
  type ReportSender,
  toScrubbed,
} from './report-parts.ts';

/** Kinds that the browser's code can set. Other kinds have separate reports, or are found from the error. */
const BROWSER_KINDS: ReadonlySet<string> = new Set<FailureKind>([
  'exception',
  'hydration',
  'load',
  'network',
  'timeout',
  'script-error',
]);

/** Tags that only the server can set. */
const RESERVED_TAGS =
  /^(?:spillway\..*|digest|incident|environment|release|dist|level|server_name|user|__proto__|constructor|prototype)$/i;

/** Fields that are read of a breadcrumb, of the tags and contexts of an event, and of its `extra` (counts). */
const MAX_BREADCRUMB_FIELDS = 20;
const MAX_READ_FIELDS = 50;
const MAX_EXTRA_FIELDS = 200;
const MAX_TAG_KEY_LENGTH = 32;
const MAX_URL_LENGTH = 2000;
/** Older breadcrumbs, and times that are further in the future than this, get the current time (ms). */
const MAX_BREADCRUMB_AGE = Day;
const MAX_AHEAD = Minute;

const NO_BUILD: PublishedBuild = { build: '', release: '' };

/**
 * Turns an event from the tunnel into a failure. It ignores everything that a stranger can forge:
 * fingerprint, environment, unpublished builds and unknown routes. Texts are scrubbed and then cut.
 */
export async function toFailure(
  event: JsonRecord,
  id: string,
  sender: ReportSender,
  { makeDigest, findBuild, isRoute }: ReportContext,
): Promise<Failure> {
  const { scrubber } = sender;
  const given = toRecord(event.tags);
  const { errors, componentStack } = readEventErrors(event, sender);
  const route = readRoute(event, isRoute);
  const made = makeDigest({ kind: readKind(given), side: 'browser', errors, route });
  const echo = given[REPORT_TAGS.echo];
  // Only the store knows whether it exists.
  const echoOf = isAddress(echo) ? echo : undefined;
  return trimFailure({
    id,
    digest: echoOf?.slice(0, 8) ?? made.digest,
    occurrence: toOccurrence(id),
    unresolved: echoOf === undefined ? made.unresolved : undefined,
    kind: made.kind,
    side: 'browser',
    origin: 'browser',
    level: event.level === 'warning' ? event.level : undefined,
    at: readTime(event.timestamp),
    ...(await readBuild(event, findBuild)),
    errors,
    title: made.title,
    location: made.location,
    route,
    ...readTrace(event),
    request: readRequest(event, sender),
    componentStack: componentStack && scrubber.text(componentStack),
    breadcrumbs: readBreadcrumbs(event, scrubber),
    tags: readTags(event.tags, scrubber),
    extra: readExtra(event, scrubber),
    echoOf,
  });
}

/** Returns the first valid id, without hyphens (32 hexadecimal digits), or a new one. */
export function toEventId(...given: readonly unknown[]): string {
  for (const value of given) {
    const id = typeof value === 'string' ? toHex(value.replaceAll('-', '').toLowerCase(), 32) : undefined;
    if (id) return id;
  }
  return randomBytes(16).toString('hex');
}

/** Returns the build that the event names, or `NO_BUILD` if it is unknown. */
export async function readBuild(event: JsonRecord, findBuild: ReportContext['findBuild']): Promise<PublishedBuild> {
  for (const value of [toRecord(event.tags)[REPORT_TAGS.build], event.dist, event.release]) {
    const named = typeof value === 'string' && value.length <= 200 ? value : '';
    const known = named === '' ? undefined : await findBuild(named);
    if (known) return known;
  }
  return NO_BUILD;
}

/** Returns the allowed tags of an event, scrubbed. */
export function readTags(tags: unknown, scrubber: ReportScrubber): Record<string, string> | undefined {
  const kept: [string, string][] = [];
  for (const [name, value] of Object.entries(toRecord(tags))) {
    if (kept.length === MAX_READ_FIELDS) break;
    const key = toScrubbed(toLine(name, 2 * MAX_TAG_KEY_LENGTH) ?? '', scrubber, MAX_TAG_KEY_LENGTH);
    if (!key || RESERVED_TAGS.test(key) || !isScalar(value)) continue;
    const scrubbed = toRecord(scrubber.value({ [key]: toLine(String(value), MAX_VALUE_LENGTH * 2) ?? '' }));
    // The name is scrubbed as well.
    for (const [given, text] of Object.entries(scrubbed)) {
      kept.push([given, toScrubbed(String(text), scrubber, MAX_VALUE_LENGTH)]);
    }
  }
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

function readKind(tags: JsonRecord): FailureKind | undefined {
  const kind = tags[REPORT_TAGS.kind];
  return typeof kind === 'string' && BROWSER_KINDS.has(kind) ? (kind as FailureKind) : undefined; // the set has only kinds
}

/** Reads the route, which SDKs call the transaction. */
function readRoute({ transaction }: JsonRecord, isRoute: ReportContext['isRoute']): string | undefined {
  const given = typeof transaction === 'string' && transaction.length <= MAX_VALUE_LENGTH;
  return given && isRoute(transaction) ? transaction : undefined;
}

function readTrace(event: JsonRecord): Pick<Failure, 'traceId' | 'spanId'> {
  const { trace_id: traceId, span_id: spanId } = toRecord(toRecord(event.contexts).trace);
  return { traceId: toHex(traceId, 32), spanId: toHex(spanId, 16) };
}

/** Returns a valid W3C id: lower-case hexadecimal digits, not all 0. */
export function toHex(value: unknown, length: number): string | undefined {
  const sound =
    typeof value === 'string' && value.length === length && /^[0-9a-f]+$/.test(value) && !/^0+$/.test(value);
  return sound ? value : undefined;
}

function readTime(timestamp: unknown, maxAge = MAX_REPORT_AGE): number {
  const now = Date.now();
  const at = typeof timestamp === 'number' ? timestamp * Second : Number.NaN;
  return at > now - maxAge && at < now + MAX_AHEAD ? Math.round(at) : now;
}

function readRequest(event: JsonRecord, sender: ReportSender): RequestRecord | undefined {
  const { url, method } = toRecord(event.request);
  const address = toLine(url, MAX_URL_LENGTH);
  if (!address || !/^https?:\/\//i.test(address)) return undefined;
  const { userAgent: agent, credentials, scrubber } = sender;
  return {
    method: typeof method === 'string' && /^[A-Z]{3,7}$/.test(method) ? method : 'GET',
    url: scrubber.url(address),
    headers: agent ? { 'user-agent': toScrubbed(agent, scrubber, MAX_VALUE_LENGTH) } : undefined,
    credentials: credentials.map((name) => scrubber.text(name)),
  };
}

function readBreadcrumbs({ breadcrumbs }: JsonRecord, scrubber: ReportScrubber): Breadcrumb[] | undefined {
  const values = toList(breadcrumbs).filter(isRecord);
  const kept = values.slice(-MAX_BREADCRUMBS).map((value) => toBreadcrumb(value, scrubber));
  return kept.length > 0 ? kept : undefined;
}

function toBreadcrumb(value: JsonRecord, scrubber: ReportScrubber): Breadcrumb {
  const message = toLine(value.message, MAX_VALUE_LENGTH * 2) ?? '';
  return {
    at: readTime(value.timestamp, MAX_BREADCRUMB_AGE),
    category: toScrubbed(
      toLine(value.category ?? value.type, MAX_VALUE_LENGTH) ?? 'default',
      scrubber,
      MAX_TAG_KEY_LENGTH,
    ),
    message: toScrubbed(message, scrubber, MAX_VALUE_LENGTH),
    level: toLevel(value.level),
    data: toScalars(scrubber.value(toFields(value.data, MAX_BREADCRUMB_FIELDS)), scrubber),
  };
}

function toLevel(level: unknown): Breadcrumb['level'] {
  if (level === 'debug' || level === 'info' || level === 'warning' || level === 'error') return level;
  return level === 'fatal' ? 'error' : level === 'log' ? 'info' : undefined;
}

function toScalars(data: unknown, scrubber: ReportScrubber): Record<string, string | number | boolean> | undefined {
  const kept: [string, string | number | boolean][] = [];
  for (const [key, value] of Object.entries(toRecord(data))) {
    if (!isScalar(value)) continue;
    const text = typeof value === 'string' ? toScrubbed(scrubber.url(value), scrubber, MAX_VALUE_LENGTH) : value;
    kept.push([toLine(key, MAX_VALUE_LENGTH) ?? '', text]);
  }
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

/** Returns the first fields of an object. The others are not even scrubbed, because a report can have thousands. */
function toFields(value: unknown, most: number): JsonRecord {
  return Object.fromEntries(Object.entries(toRecord(value)).slice(0, most));
}

function isScalar(value: unknown): value is string | number | boolean {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  );
}

/** Reads the rest of the event: how the SDK caught the error, browser and device, and data from the product. */
function readExtra(event: JsonRecord, scrubber: ReportScrubber): Record<string, unknown> | undefined {
  const { trace: _trace, react, ...contexts } = toFields(event.contexts, MAX_READ_FIELDS);
  const { componentStack: _inContext, ...said } = toFields(react, MAX_READ_FIELDS);
  const { componentStack: _inExtra, ...extra } = toFields(event.extra, MAX_EXTRA_FIELDS);
  const more = { ...contexts, ...(Object.keys(said).length > 0 && { react: said }) };
  const all = { ...extra, ...readVia(event), ...(Object.keys(more).length > 0 && { contexts: more }) };
  return Object.keys(all).length > 0 ? { ...toRecord(scrubber.value(all)) } : undefined;
}

/** Reads Sentry's mechanism of the outermost error, for example `onerror` or `react.caught`. */
function readVia({ exception }: JsonRecord): { via?: string } {
  const outermost = toList(toRecord(exception).values).at(-1);
  const via = toLine(toRecord(toRecord(outermost).mechanism).type, MAX_TAG_KEY_LENGTH);
  return via ? { via } : {};
}
