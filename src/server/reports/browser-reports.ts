import { toOccurrence } from '../../shared/reporting/address.ts';
import { MAX_VALUE_LENGTH } from '../../shared/shared-limits.ts';
import { Minute, Second } from '../../shared/units.ts';
import type { FailureKind } from '../../shared/words.ts';
import type { Failure, StackFrame, Visitor } from '../errors/failure.ts';
import { trimFailure } from '../errors/trim.ts';
import { MAX_REPORT_AGE, MAX_TARGET_LENGTH } from '../limits.ts';
import type { Count } from '../request/counters.ts';
import { type BucketSize, createTokenBuckets } from '../request/token-buckets.ts';
import { toReportedFile } from './event-errors.ts';
import { toEventId } from './event-to-failure.ts';
import type { NewIncidents } from './memory.ts';
import { isRecord, type JsonRecord, parseReportJson, toCleanText, toLine, toPosition } from './read-report.ts';
import { type MakeReportDigest, type ReportScrubber, type ReportSender, toScrubbed } from './report-parts.ts';

/** The rates for reports of browsers: one per minute says as much about a digest as all of them. */
const REPORTS_PER_DIGEST: BucketSize = { burst: 1, perSecond: Second / Minute };
const REPORTS_TOGETHER: BucketSize = { burst: 30, perSecond: (30 * Second) / Minute };

interface BrowserReportsOptions {
  readonly makeDigest: MakeReportDigest;
  readonly newIncidents: NewIncidents;
  readonly keep: (failure: Failure, visitor: Visitor) => boolean;
  readonly count: Count;
}

/** The most reports in one body, as browsers send them. The rest of a larger body is dropped. */
const MAX_REPORTS = 100;

/** The name of a directive, such as `require-trusted-types-for`. */
const DIRECTIVE = /^[a-z][a-z-]{2,29}$/;

/** URLs of scripts and styles that an extension or the browser itself adds to pages. */
const FOREIGN =
  /^(?:[a-z-]*extension|chrome|resource|about|webkit-masked-url|safari-reader|safari-resource|ms-browser)(?::|$)/i;

/** The content of one report. */
interface ReportContent {
  readonly kind: FailureKind;
  /** Part of the digest. */
  readonly details: Readonly<Record<string, string>>;
  /** Shown with the failure. */
  readonly extra: Readonly<Record<string, string | number>>;
  /** The script that caused it, if the details do not say. */
  readonly source?: StackFrame | undefined;
}

/**
 * Returns a function that turns the browser's own reports into failures: policy violations, crashes, deprecations and
 * interventions. They are frequent and easy to forge, so most are sampled out. Those are only counted. It throws a
 * `HttpError` if the body is not valid JSON.
 */
export function createBrowserReports({ makeDigest, newIncidents, keep, count }: BrowserReportsOptions) {
  const perDigest = createTokenBuckets(REPORTS_PER_DIGEST);
  const together = createTokenBuckets(REPORTS_TOGETHER);

  function countIgnored(reason: string, by = 1): void {
    count('spillway_reports_ignored_total', { reason }, by);
  }

  async function takeReport(report: unknown, sender: ReportSender): Promise<void> {
    const { type, url, body, age } = isRecord(report) ? toModern(report) : {};
    const finding = typeof type === 'string' && isRecord(body) ? read(type, body, sender) : 'malformed';
    if (typeof finding === 'string') return countIgnored(finding);
    const page = toOwnUrl(url ?? body?.documentURL, sender);
    if (page === undefined) return countIgnored('foreign-page');
    const failure = toFailure(finding, { page, at: Date.now() - toAge(age) }, sender, makeDigest);
    if (perDigest.take(failure.digest) > 0 || together.take('') > 0) return countIgnored('thinned');
    keep(await newIncidents.admit(failure), sender.visitor);
  }

  return async function takeBrowserReports(bytes: Uint8Array, sender: ReportSender): Promise<void> {
    const body = parseReportJson(bytes, 'The report');
    const reports = Array.isArray(body) ? body : [body];
    if (reports.length > MAX_REPORTS) countIgnored('too-many', reports.length - MAX_REPORTS);
    for (const report of reports.slice(0, MAX_REPORTS)) await takeReport(report, sender);
  };
}

/** Converts a `report-uri` body, which has one report with other names. */
function toModern(report: JsonRecord): { type?: unknown; url?: unknown; age?: unknown; body?: JsonRecord } {
  const old = report['csp-report'];
  if (!isRecord(old)) return { ...report, body: isRecord(report.body) ? report.body : undefined };
  return {
    type: 'csp-violation',
    url: old['document-uri'],
    body: {
      effectiveDirective: old['effective-directive'] ?? old['violated-directive'],
      blockedURL: old['blocked-uri'],
      sourceFile: old['source-file'],
      lineNumber: old['line-number'],
      columnNumber: old['column-number'],
      sample: old['script-sample'],
      disposition: old.disposition,
    },
  };
}

/** Reads a report, or returns the reason for ignoring it. */
function read(type: string, body: JsonRecord, sender: ReportSender): ReportContent | string {
  if (type === 'csp-violation') return readViolation(body, sender);
  if (type === 'crash') return readCrash(body, sender.scrubber);
  if (type === 'deprecation' || type === 'intervention') return readNotice(type, body, sender.scrubber);
  return type === 'network-error' ? 'network-error' : 'other-type';
}

/**
 * Text that is not from a Trusted Types policy, and that cannot run code of others. The browser cuts it short, so only its
 * start is known.
 */
const HARMLESS_SINKS: readonly RegExp[] = [
  // To make a `<script>`, React sets it as HTML. It never runs.
  /^Element innerHTML\|<script><\/script>$/,
  // React fills it, here with JSON-LD.
  /^Element innerHTML\|[\s[]*\{\s*"@\w+"\s*:/,
  // No script can begin with the key of an object, but with an array, which can call functions.
  /^HTMLScriptElement \w+\|\s*\{\s*"@\w+"\s*:/,
  // A browser only accepts scripts of this site, apart from `data:` and `blob:`, in which it ignores control characters.
  /^(?:ServiceWorkerContainer register|(?:Shared)?Worker constructor)\|(?:https?:|[^:\s\p{Cc}]*$)/u,
];

function readViolation(body: JsonRecord, sender: ReportSender): ReportContent | string {
  const [directive = ''] = toLine(body.effectiveDirective, MAX_VALUE_LENGTH)?.split(' ', 1) ?? [];
  const blocked = toBlocked(body.blockedURL);
  if (!DIRECTIVE.test(directive) || blocked === undefined) return 'malformed';
  if ([body.blockedURL, body.sourceFile].some((url) => typeof url === 'string' && FOREIGN.test(url)))
    return 'extension';
  // Other samples are the start of a blocked style, which could begin with the same words.
  const sink = blocked === 'trusted-types-sink' ? body.sample : undefined;
  if (typeof sink === 'string' && HARMLESS_SINKS.some((harmless) => harmless.test(sink))) return 'harmless-sink';
  const source = blocked.startsWith('trusted-types-') ? readSource(body, sender) : undefined;
  if (source === 'other-host') return source;
  return {
    kind: 'csp',
    details: { directive, blocked },
    extra: toExtra({ directive, blocked, ...readLocation(body) }, body, ['sample', 'disposition'], sender.scrubber),
    source,
  };
}

/** Reads the script of a report: of a build, or another one of this site, without versions. A page is not a source. */
function readSource(body: JsonRecord, sender: ReportSender): StackFrame | 'other-host' | undefined {
  const file = toReportedFile(body.sourceFile, sender);
  const position = { line: toPosition(body.lineNumber), column: toPosition(body.columnNumber), function: '' };
  if (file.startsWith('client/')) return { file, ...position };
  if (!URL.canParse(file)) return undefined;
  const { origin, pathname } = new URL(file);
  if (!sender.isOurs(origin)) return 'other-host'; // whose owner alone can change it
  if (!/\.m?js$/.test(pathname)) return undefined;
  return { file: origin + pathname.replace(/[\w.~-]+/g, (word) => (/\d/.test(word) ? '*' : word)), ...position };
}

/** Returns the host of the blocked URL, or the word that the browser reports instead. */
function toBlocked(url: unknown): string | undefined {
  if (url === undefined || url === null || url === '') return '';
  if (typeof url !== 'string' || url.length > MAX_TARGET_LENGTH) return undefined;
  // A word, such as `inline`, or a scheme.
  if (/^[a-z][a-z0-9+.-]{0,20}:?$/i.test(url)) return url.replace(/:$/, '').toLowerCase();
  if (!URL.canParse(url)) return undefined;
  const { host, protocol } = new URL(url);
  return host || protocol.slice(0, -1);
}

function readCrash(body: JsonRecord, scrubber: ReportScrubber): ReportContent {
  const reason = body.reason === 'oom' || body.reason === 'unresponsive' ? body.reason : 'unknown';
  return {
    kind: 'crash',
    details: { reason },
    extra: toExtra({ reason }, body, ['stack', 'visibility_state'], scrubber),
  };
}

function readNotice(
  kind: 'deprecation' | 'intervention',
  body: JsonRecord,
  scrubber: ReportScrubber,
): ReportContent | string {
  const { id } = body;
  if (typeof id !== 'string' || !/^[\w.-]{1,100}$/.test(id)) return 'malformed';
  if (typeof body.sourceFile === 'string' && FOREIGN.test(body.sourceFile)) return 'extension';
  const shown = ['message', 'anticipatedRemoval'];
  return { kind, details: { id }, extra: toExtra({ id, ...readLocation(body) }, body, shown, scrubber) };
}

function readLocation(body: JsonRecord): Record<string, string | number> {
  const file = toLine(body.sourceFile, 2 * MAX_VALUE_LENGTH);
  const line = toPosition(body.lineNumber);
  const column = toPosition(body.columnNumber);
  return { ...(file && { sourceFile: file }), ...(line && { line }), ...(column && { column }) };
}

function toExtra(
  own: Readonly<Record<string, string | number>>,
  body: JsonRecord,
  names: readonly string[],
  scrubber: ReportScrubber,
): Record<string, string | number> {
  const given = names.flatMap((name): [string, string][] => {
    const text = toCleanText(body[name], 4 * MAX_VALUE_LENGTH);
    return text === undefined ? [] : [[name, text]];
  });
  const all = [...Object.entries(own), ...given].map(([name, value]): [string, string | number] => [
    name,
    typeof value === 'string' ? toScrubbed(scrubber.url(value), scrubber, 4 * MAX_VALUE_LENGTH) : value,
  ]);
  return Object.fromEntries(all);
}

/** Returns the page's URL, or undefined if it is not on this site. */
function toOwnUrl(url: unknown, sender: ReportSender): string | undefined {
  if (typeof url !== 'string' || url.length > MAX_TARGET_LENGTH || !URL.canParse(url)) return undefined;
  const { origin, href } = new URL(url);
  return sender.isOurs(origin) ? href : undefined;
}

function toAge(age: unknown): number {
  return typeof age === 'number' && age > 0 && age < MAX_REPORT_AGE ? Math.round(age) : 0;
}

function toFailure(
  { kind, details, extra, source }: ReportContent,
  { page, at }: { readonly page: string; readonly at: number },
  { scrubber, userAgent }: ReportSender,
  makeDigest: MakeReportDigest,
): Failure {
  const errors = source ? [{ class: '', message: '', frames: [source] }] : [];
  const made = makeDigest({ kind, side: 'browser', errors, details });
  const id = toEventId();
  const agent = userAgent && toScrubbed(userAgent, scrubber, MAX_VALUE_LENGTH);
  return trimFailure({
    id,
    digest: made.digest,
    occurrence: toOccurrence(id),
    kind,
    side: 'browser',
    origin: 'browser',
    at,
    build: '',
    release: '',
    errors: [],
    title: scrubber.text(made.title),
    location: made.location,
    request: { method: 'GET', url: scrubber.url(page), headers: agent ? { 'user-agent': agent } : undefined },
    extra,
  });
}
