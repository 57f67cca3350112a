import {
  MAX_BREADCRUMBS,
  MAX_COMPONENT_STACK_LENGTH,
  MAX_EVENT_BYTES,
  MAX_VALUE_LENGTH,
} from '../../../shared/engine/limits.ts';
import { readTags, toHex } from './event-to-failure.ts';
import { isRecord, type JsonRecord, toLine, toList, toPosition, toRecord, toText } from './report-json.ts';
import { type KnownBuild, type ReportScrubber, toScrubbed } from './report-parts.ts';

/** Facts from the server that replace those of the sender. */
interface Believed {
  readonly id: string;
  readonly build: KnownBuild;
  readonly environment: string | undefined;
  /** The sender's address and browser, which the upstream would otherwise take from the connection. */
  readonly address: string;
  readonly userAgent: string | undefined;
  /** `digest` and the link to the incident, if known. */
  readonly tags: Readonly<Record<string, string>>;
}

const MAX_EXCEPTIONS = 50;
const MAX_FRAMES = 50;
/** As in Sentry's SDKs. */
const MAX_SPANS = 1000;
/** The number of levels of `extra` that are kept if an event is too large. */
const FLAT_DEPTH = 3;

const LEVELS = new Set(['error', 'warning', 'info', 'log', 'debug']);

/** Keys that are rewritten or not forwarded, because only the server sets them or they can contain personal data. */
const HANDLED_KEYS = new Set([
  'event_id',
  'type',
  'timestamp',
  'platform',
  'level',
  'release',
  'dist',
  'environment',
  'fingerprint',
  'server_name',
  'tags',
  'user',
  'request',
  'exception',
  'threads',
  'breadcrumbs',
  'contexts',
  'debug_meta',
  'sdk',
  'message',
  'logentry',
  'cut',
]);

/**
 * Rewrites an event for the upstream. It is scrubbed, cut to the limits of a failure (`trim.ts`), and contains nothing
 * that only the server can say. The tag `cut` names each cut.
 */
export function rewriteEvent(event: JsonRecord, believed: Believed, scrubber: ReportScrubber): JsonRecord {
  const cuts = new Set<string>();
  const rest = Object.entries(event).filter(([key]) => !HANDLED_KEYS.has(key));
  const { breadcrumbs, exception, threads } = event;
  const crumbs = toList(isRecord(breadcrumbs) ? breadcrumbs.values : breadcrumbs);
  if (crumbs.length > MAX_BREADCRUMBS) cuts.add('breadcrumbs');
  const whole: Record<string, unknown> = {
    ...toRecord(cutValues(scrubber.value(Object.fromEntries(rest)), cuts)),
    event_id: believed.id,
    timestamp: typeof event.timestamp === 'number' || typeof event.timestamp === 'string' ? event.timestamp : undefined,
    platform: toLine(event.platform, 32) ?? 'javascript',
    level: typeof event.level === 'string' && LEVELS.has(event.level) ? event.level : 'error',
    release: believed.build.release || undefined,
    dist: believed.build.build || undefined,
    environment: believed.environment,
    tags: { ...readTags(event.tags, scrubber), ...believed.tags },
    user: rewriteUser(event.user, believed, scrubber),
    request: rewriteRequest(event.request, believed, scrubber),
    exception: rewriteStacks(exception, MAX_EXCEPTIONS, scrubber, cuts),
    threads: rewriteStacks(threads, 1, scrubber, cuts),
    breadcrumbs: crumbs.length > 0 ? cutValues(scrubber.value(crumbs.slice(-MAX_BREADCRUMBS)), cuts) : undefined,
    contexts: rewriteContexts(event.contexts, scrubber, cuts),
    debug_meta: rewriteDebugImages(event.debug_meta, scrubber),
    sdk: isRecord(event.sdk) ? scrubber.value(event.sdk) : undefined,
    message: cutValues(scrubber.value(event.message), cuts),
    logentry: cutValues(scrubber.value(event.logentry), cuts),
  };
  return fit(whole, cuts);
}

/** Rewrites a transaction in the same way, and its spans. */
export function rewriteTransaction(transaction: JsonRecord, believed: Believed, scrubber: ReportScrubber): JsonRecord {
  const { spans, start_timestamp: start, ...rest } = transaction;
  const event = rewriteEvent(rest, believed, scrubber);
  return {
    ...event,
    type: 'transaction',
    level: undefined,
    start_timestamp: typeof start === 'number' || typeof start === 'string' ? start : undefined,
    spans: toList(spans)
      .filter(isRecord)
      .slice(0, MAX_SPANS)
      .map((span) => rewriteTrace(span, scrubber, new Set())),
  };
}

/** Cuts an event to the size limit in stages, the least useful parts first. The last stage always fits. */
function fit(whole: Record<string, unknown>, cuts: Set<string>): JsonRecord {
  const stages: readonly [name: string, cut: (event: Record<string, unknown>) => void][] = [
    ['depth', (event) => void Object.assign(event, { extra: flatten(event.extra, FLAT_DEPTH) })],
    ['breadcrumbs', (event) => void Object.assign(event, { breadcrumbs: toList(event.breadcrumbs).slice(-10) })],
    ['extra', (event) => void Object.assign(event, { extra: undefined, breadcrumbs: undefined })],
  ];
  for (const [name, cut] of stages) {
    if (sizeOf(whole) <= MAX_EVENT_BYTES) return tagCuts(whole, cuts);
    cut(whole);
    cuts.add(name);
  }
  if (sizeOf(whole) <= MAX_EVENT_BYTES) return tagCuts(whole, cuts);
  const { event_id, timestamp, platform, level, release, dist, environment, tags, exception } = whole;
  const [last] = toList(toRecord(exception).values).slice(-1).filter(isRecord);
  const stub = last && { values: [{ type: last.type, value: last.value, mechanism: { type: 'generic' } }] };
  const kept = { event_id, timestamp, platform, level, release, dist, environment, tags, exception: stub };
  return tagCuts(kept, cuts.add('stub'));
}

function tagCuts(event: JsonRecord, cuts: ReadonlySet<string>): JsonRecord {
  return cuts.size === 0 ? event : { ...event, tags: { ...toRecord(event.tags), cut: [...cuts].join(',') } };
}

function sizeOf(event: JsonRecord): number {
  return Buffer.byteLength(JSON.stringify(event), 'utf8');
}

function rewriteUser(user: unknown, { address }: Believed, scrubber: ReportScrubber): unknown {
  if (!isRecord(user)) return undefined;
  const { ip_address: asked, ...rest } = user;
  // `{{auto}}` asks for the address that the server knows. Any other address is the sender's claim.
  return { ...toRecord(scrubber.value(rest)), ...(asked === '{{auto}}' && { ip_address: address }) };
}

/** Keeps method, URL and the name of the browser, and leaves out other headers, cookies and bodies. */
function rewriteRequest(request: unknown, { userAgent }: Believed, scrubber: ReportScrubber): unknown {
  const { url, method } = toRecord(request);
  if (typeof url !== 'string') return undefined;
  return {
    url: toScrubbed(scrubber.url(url), scrubber, MAX_VALUE_LENGTH),
    ...(typeof method === 'string' && { method: toLine(method, 10) }),
    ...(userAgent && { headers: { 'User-Agent': toScrubbed(userAgent, scrubber, MAX_VALUE_LENGTH) } }),
  };
}

function rewriteStacks(holder: unknown, max: number, scrubber: ReportScrubber, cuts: Set<string>): unknown {
  const values = toList(isRecord(holder) ? holder.values : holder).filter(isRecord);
  if (values.length === 0) return undefined;
  if (values.length > max) cuts.add('exceptions');
  return { values: values.slice(-max).map((value) => rewriteStack(value, scrubber, cuts)) };
}

function rewriteStack(value: JsonRecord, scrubber: ReportScrubber, cuts: Set<string>): JsonRecord {
  const { stacktrace, mechanism, raw_stacktrace: _raw, ...rest } = value;
  const frames = toList(toRecord(stacktrace).frames).filter(isRecord);
  if (frames.length > MAX_FRAMES) cuts.add('frames');
  return {
    ...toRecord(cutValues(scrubber.value(rest), cuts)),
    mechanism: isRecord(mechanism) ? scrubber.value(mechanism) : undefined,
    stacktrace:
      frames.length > 0
        ? { frames: frames.slice(-MAX_FRAMES).map((frame) => rewriteFrame(frame, scrubber)) }
        : undefined,
  };
}

/** Keeps the location of a frame, and leaves out source lines and variables. */
function rewriteFrame(frame: JsonRecord, scrubber: ReportScrubber): JsonRecord {
  const text = (value: unknown, max: number) => {
    const line = toLine(value, 2 * max);
    return line && toScrubbed(line, scrubber, max);
  };
  return {
    filename: text(frame.filename, 500),
    abs_path: text(frame.abs_path, 500),
    function: text(frame.function, MAX_VALUE_LENGTH),
    module: text(frame.module, MAX_VALUE_LENGTH),
    lineno: toPosition(frame.lineno) || undefined,
    colno: toPosition(frame.colno) || undefined,
    in_app: typeof frame.in_app === 'boolean' ? frame.in_app : undefined,
    debug_id: toDebugId(frame.debug_id),
  };
}

function rewriteContexts(contexts: unknown, scrubber: ReportScrubber, cuts: Set<string>): unknown {
  if (!isRecord(contexts)) return undefined;
  const { trace, react, ...rest } = contexts;
  const stack = toText(toRecord(react).componentStack, 2 * MAX_COMPONENT_STACK_LENGTH);
  return {
    ...toRecord(cutValues(scrubber.value(rest), cuts)),
    ...(isRecord(trace) && { trace: rewriteTrace(trace, scrubber, cuts) }),
    ...(stack && { react: { componentStack: toScrubbed(stack, scrubber, MAX_COMPONENT_STACK_LENGTH) } }),
  };
}

/** Checks ids by their format instead of scrubbing them, because a pattern could take them for secrets. */
function rewriteTrace(trace: JsonRecord, scrubber: ReportScrubber, cuts: Set<string>): JsonRecord {
  const { trace_id: traceId, span_id: spanId, parent_span_id: parentId, ...rest } = trace;
  return {
    ...toRecord(cutValues(scrubber.value(rest), cuts)),
    trace_id: toHex(traceId, 32),
    span_id: toHex(spanId, 16),
    parent_span_id: toHex(parentId, 16),
  };
}

/** Keeps the pairs of files and source maps. */
function rewriteDebugImages(meta: unknown, scrubber: ReportScrubber): unknown {
  const images = toList(toRecord(meta).images).filter(isRecord).slice(0, 100);
  const kept = images.flatMap(({ type, code_file: file, debug_id: id }) => {
    const debugId = toDebugId(id);
    return debugId && type === 'sourcemap'
      ? [{ type, code_file: toScrubbed(toLine(file, 1000) ?? '', scrubber, 500), debug_id: debugId }]
      : [];
  });
  return kept.length > 0 ? { images: kept } : undefined;
}

function toDebugId(value: unknown): string | undefined {
  return typeof value === 'string' && /^[0-9a-f-]{32,36}$/i.test(value) ? value : undefined;
}

/** Cuts texts at any depth. */
function cutValues(value: unknown, cuts: Set<string>): unknown {
  if (typeof value === 'string') {
    if (value.length <= MAX_VALUE_LENGTH) return value;
    cuts.add('values');
    return `${value.slice(0, MAX_VALUE_LENGTH - 1)}…`;
  }
  if (Array.isArray(value)) return value.map((member) => cutValues(member, cuts));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cutValues(member, cuts)]));
}

function flatten(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return Array.isArray(value) ? '[array]' : '[object]';
  if (Array.isArray(value)) return value.map((member) => flatten(member, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, flatten(member, depth - 1)]));
}
