import { randomBytes } from 'node:crypto';
import { MAX_BREADCRUMBS, MAX_VALUE_LENGTH } from '../../../../shared/engine/limits.ts';
import { toOccurrence } from '../../../../shared/engine/reporting/address.ts';
import { REPORT_TAGS } from '../../../../shared/engine/reporting/report-tags.ts';
import { Day, Hour, Minute, Second } from '../../../../shared/units.ts';
import type { Breadcrumb, Failure, FailureKind, RequestRecord } from '../../../engine/errors/failure.ts';
import { readEventErrors } from './event-errors.ts';
import { isRecord, type JsonRecord, toLine, toList, toRecord } from './report-json.ts';
import { type FailureParts, type KnownBuild, type ReportScrubber, type Sender, toScrubbed } from './report-parts.ts';

/** Kinds that our own browser code may name; the others come by ways of their own, or are found in the error. */
const TOLD_KINDS: ReadonlySet<string> = new Set<FailureKind>([
  'exception',
  'hydration',
  'load',
  'network',
  'timeout',
  'script-error',
]);

/** Tags that say what strangers cannot know, or that are ours to set. */
const RESERVED_TAGS =
  /^(?:spillway\..*|digest|incident|environment|release|dist|level|server_name|user|__proto__|constructor|prototype)$/i;

const MAX_TAGS = 50;
const MAX_TAG_KEY_LENGTH = 32;
const MAX_URL_LENGTH = 2000;
/** A browser's clock is believed for errors that waited in the page; what lies further back, or ahead, is now. */
const MAX_AGE = Hour;
const MAX_BREADCRUMB_AGE = Day;
const MAX_AHEAD = Minute;

const NO_BUILD: KnownBuild = { build: '', release: '' };

/** What the server knows of an event, beside what it says. */
export interface Reported {
  readonly id: string;
  readonly build: KnownBuild;
  readonly sender: Sender;
}

/**
 * What the desk keeps of an event that came through the tunnel. Nothing in it is believed that a
 * stranger could make up: no fingerprint, level or environment, no build that nobody published, no
 * route that is none. It is scrubbed, and then cut.
 */
export function toFailure(event: JsonRecord, { id, build, sender }: Reported, parts: FailureParts): Failure {
  const { scrubber } = parts;
  const told = toRecord(event.tags);
  const { errors, componentStack } = readEventErrors(event, sender, scrubber);
  const route = readRoute(event, parts);
  const made = parts.makeDigest({ kind: readKind(told), side: 'browser', errors, route });
  const echoOf = readAddress(told[REPORT_TAGS.echo]);
  return parts.trim({
    id,
    digest: echoOf?.slice(0, 8) ?? made.digest,
    occurrence: toOccurrence(id),
    rule: made.rule,
    ...(made.weak && { weak: true }),
    ...(made.unresolved && !echoOf && { unresolved: true }),
    kind: made.kind,
    side: 'browser',
    origin: 'browser',
    at: readTime(event.timestamp, parts.now()),
    ...build,
    errors,
    title: made.title,
    site: made.site,
    route,
    ...readTrace(event),
    request: readRequest(event, sender, scrubber),
    componentStack: componentStack && scrubber.text(componentStack),
    breadcrumbs: readBreadcrumbs(event, parts),
    tags: readTags(event.tags, scrubber),
    extra: readExtra(event, scrubber),
    visitor: sender.visitor,
    echoOf,
  });
}

/** 32 hexadecimal digits, with hyphens or without; a new one where what is told is none. */
export function toEventId(...told: readonly unknown[]): string {
  for (const value of told) {
    const id = typeof value === 'string' ? value.replaceAll('-', '').toLowerCase() : '';
    if (/^[0-9a-f]{32}$/.test(id) && !/^0+$/.test(id)) return id;
  }
  return randomBytes(16).toString('hex');
}

/** An address that could be one of ours. Whether it is, the store knows. */
export function readAddress(value: unknown): string | undefined {
  const alphabet = /^[0-9A-HJKMNP-TV-Z]{8}-[0-9A-HJKMNP-TV-Z]{8}$/;
  return typeof value === 'string' && alphabet.test(value) ? value : undefined;
}

/** The build that the event names, where it is one of ours. */
export async function findBuild(event: JsonRecord, { findBuild }: FailureParts): Promise<KnownBuild> {
  for (const value of [toRecord(event.tags)[REPORT_TAGS.build], event.dist, event.release]) {
    const named = typeof value === 'string' && value.length <= 200 ? value : '';
    const known = named === '' ? undefined : await findBuild(named);
    if (known) return known;
  }
  return NO_BUILD;
}

/** What an event may keep of its tags, scrubbed. */
export function readTags(tags: unknown, scrubber: ReportScrubber): Record<string, string> | undefined {
  const kept: [string, string][] = [];
  for (const [name, value] of toPairs(tags)) {
    if (kept.length === MAX_TAGS) break;
    const key = toScrubbed(toLine(name, 2 * MAX_TAG_KEY_LENGTH) ?? '', scrubber, MAX_TAG_KEY_LENGTH);
    if (!key || RESERVED_TAGS.test(key) || !isScalar(value)) continue;
    const scrubbed = toRecord(scrubber.value({ [key]: toLine(String(value), MAX_VALUE_LENGTH * 2) ?? '' }));
    // The name is scrubbed as well.
    for (const [told, text] of Object.entries(scrubbed)) {
      kept.push([told, toScrubbed(String(text), scrubber, MAX_VALUE_LENGTH)]);
    }
  }
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

/** SDKs write tags as an object; the format also has pairs. */
function toPairs(tags: unknown): [string, unknown][] {
  if (isRecord(tags)) return Object.entries(tags);
  return toList(tags).flatMap((pair): [string, unknown][] => {
    const [name, value] = toList(pair);
    return typeof name === 'string' ? [[name, value]] : [];
  });
}

function readKind(tags: JsonRecord): FailureKind | undefined {
  const kind = tags[REPORT_TAGS.kind];
  return typeof kind === 'string' && TOLD_KINDS.has(kind) ? (kind as FailureKind) : undefined; // the set holds kinds alone
}

/** SDKs call it the transaction. */
function readRoute({ transaction }: JsonRecord, { isRoute }: FailureParts): string | undefined {
  const told = typeof transaction === 'string' && transaction.length <= MAX_VALUE_LENGTH;
  return told && isRoute(transaction) ? transaction : undefined;
}

function readTrace(event: JsonRecord): Pick<Failure, 'traceId' | 'spanId'> {
  const { trace_id: traceId, span_id: spanId } = toRecord(toRecord(event.contexts).trace);
  return { traceId: toHex(traceId, 32), spanId: toHex(spanId, 16) };
}

/** A W3C id: lower-case hexadecimal digits, not all of them 0. */
export function toHex(value: unknown, length: number): string | undefined {
  const sound =
    typeof value === 'string' && value.length === length && /^[0-9a-f]+$/.test(value) && !/^0+$/.test(value);
  return sound ? value : undefined;
}

function readTime(timestamp: unknown, now: number, maxAge = MAX_AGE): number {
  const at = typeof timestamp === 'string' ? Date.parse(timestamp) : toNumber(timestamp) * Second;
  return at > now - maxAge && at < now + MAX_AHEAD ? Math.round(at) : now;
}

/** What is no number may refuse to become one. */
function toNumber(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}

function readRequest(event: JsonRecord, sender: Sender, scrubber: ReportScrubber): RequestRecord | undefined {
  const { url, method } = toRecord(event.request);
  const address = toLine(url, MAX_URL_LENGTH);
  if (!address || !/^https?:\/\//i.test(address)) return undefined;
  const agent = sender.userAgent;
  return {
    method: typeof method === 'string' && /^[A-Z]{3,7}$/.test(method) ? method : 'GET',
    url: scrubber.url(address),
    ...(agent && { headers: { 'user-agent': toScrubbed(agent, scrubber, MAX_VALUE_LENGTH) } }),
  };
}

function readBreadcrumbs(event: JsonRecord, parts: FailureParts): Breadcrumb[] | undefined {
  const { breadcrumbs } = event;
  const values = toList(isRecord(breadcrumbs) ? breadcrumbs.values : breadcrumbs).filter(isRecord);
  const kept = values.slice(-MAX_BREADCRUMBS).map((value) => toBreadcrumb(value, parts));
  return kept.length > 0 ? kept : undefined;
}

function toBreadcrumb(value: JsonRecord, { scrubber, now }: FailureParts): Breadcrumb {
  const message = toLine(value.message, MAX_VALUE_LENGTH * 2) ?? '';
  const data = toScalars(scrubber.value(toRecord(value.data)), scrubber);
  const level = toLevel(value.level);
  return {
    at: readTime(value.timestamp, now(), MAX_BREADCRUMB_AGE),
    category: toScrubbed(
      toLine(value.category ?? value.type, MAX_VALUE_LENGTH) ?? 'default',
      scrubber,
      MAX_TAG_KEY_LENGTH,
    ),
    message: toScrubbed(message, scrubber, MAX_VALUE_LENGTH),
    ...(level && { level }),
    ...(data && { data }),
  };
}

function toLevel(level: unknown): Breadcrumb['level'] {
  if (level === 'debug' || level === 'info' || level === 'warning' || level === 'error') return level;
  return level === 'fatal' ? 'error' : level === 'log' ? 'info' : undefined;
}

function toScalars(data: unknown, scrubber: ReportScrubber): Record<string, string | number | boolean> | undefined {
  const kept: [string, string | number | boolean][] = [];
  for (const [key, value] of Object.entries(toRecord(data)).slice(0, MAX_TAGS)) {
    if (!isScalar(value)) continue;
    const text = typeof value === 'string' ? toScrubbed(scrubber.url(value), scrubber, MAX_VALUE_LENGTH) : value;
    kept.push([toLine(key, MAX_VALUE_LENGTH) ?? '', text]);
  }
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

function isScalar(value: unknown): value is string | number | boolean {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  );
}

/** What else the SDK knows: how it came to know, browser and device, and what the owner's code added. */
function readExtra(event: JsonRecord, scrubber: ReportScrubber): Record<string, unknown> | undefined {
  const { trace: _trace, react, ...contexts } = toRecord(event.contexts);
  const { componentStack: _inContext, ...said } = toRecord(react);
  const { componentStack: _inExtra, ...extra } = toRecord(event.extra);
  const more = { ...contexts, ...(Object.keys(said).length > 0 && { react: said }) };
  const all = { ...extra, ...readVia(event), ...(Object.keys(more).length > 0 && { contexts: more }) };
  return Object.keys(all).length > 0 ? { ...toRecord(scrubber.value(all)) } : undefined;
}

/** Sentry's mechanism of the outermost error: `onerror`, `react.caught`. */
function readVia({ exception }: JsonRecord): { via?: string } {
  const values = toList(isRecord(exception) ? exception.values : exception);
  const via = toLine(toRecord(toRecord(values.at(-1)).mechanism).type, MAX_TAG_KEY_LENGTH);
  return via ? { via } : {};
}
