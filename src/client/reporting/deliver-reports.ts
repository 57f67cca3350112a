import { isPageError } from '../../shared/rendering/page-error.ts';
import { isAddress } from '../../shared/reporting/address.ts';
import type {
  BrowserFailureKind,
  BrowserReport,
  EarlyErrors,
  Happening,
} from '../../shared/reporting/browser-report.ts';
import { causesOf } from '../../shared/reporting/causes.ts';
import { readProperty } from '../../shared/reporting/read-property.ts';
import { LEAVING_TIME, MAX_PAGE_REPORTS, MAX_VALUE_LENGTH } from '../../shared/shared-limits.ts';
import type { ReportedAddress } from '../../shared/wire/payload.ts';
import { toMinimalEnvelope } from './minimal-envelope.ts';
import type { Deliver } from './reporting.ts';
import type { BrowserReporter } from './sentry.ts';
import { isLoadFailure, isMeant, isNetworkFailure } from './thrown.ts';

/** A failure that has been reported. */
interface Reported {
  address: ReportedAddress | undefined;
  readonly listeners: ((reported: ReportedAddress) => void)[];
}

type Details = Partial<Omit<BrowserReport, 'thrown' | 'via' | 'onAddress'>>;

/**
 * Judges what happened in a page, and has it sent. Each failure is sent once, even if React's hooks, the router and the
 * window all report it. A failure that the server caused is sent once, as its echo. Control-flow responses, and errors
 * caused by leaving the page, are not sent.
 */
export function deliverReports(early: EarlyErrors): Deliver {
  const { report, findPlain } = createReports(createSender(early));
  const missing = new Set<string>();

  function reportUnlessLeaving(thrown: unknown, via: string, details: Details): void {
    if (!isNetworkFailure(thrown)) {
      report(thrown, via, details);
      return;
    }
    const timer = setTimeout(() => {
      removeEventListener('pagehide', cancel);
      report(thrown, via, details);
    }, LEAVING_TIME);
    const cancel = () => clearTimeout(timer);
    addEventListener('pagehide', cancel, { once: true });
  }

  function reportMissing(element: Element, details: Details): void {
    const url = toNeededUrl(element);
    if (!url?.startsWith(`${location.origin}/`) || missing.has(url)) return;
    missing.add(url);
    report(withoutStack('LoadError', `${url} could not be loaded.`), 'onerror', { ...details, kind: 'load' });
  }

  /** Handles React's report of an error from which it recovered by rendering again. */
  function reportRecovered(thrown: unknown, details: Details): void {
    const said = String(readProperty(thrown, 'message'));
    // Without an address, this place ended with a control-flow response, or the server abandoned it.
    if (isServersPlace(said) && !isAddress(readProperty(thrown, 'digest'))) return;
    const cause = readProperty(thrown, 'cause') ?? thrown;
    const kind = cause === thrown && isMismatch(said) ? 'hydration' : toKind(cause);
    report(cause, 'react.recoverable', { ...details, kind, said: toDifference(said) });
  }

  function reportShown({ error, thrown, onAddress }: NonNullable<Happening['shown']>, details: Details): void {
    if (error.digest !== undefined) {
      const { digest } = error;
      report(withoutStack('ServerError', `The server failed: ${digest}`), 'router', { ...details, echo: digest });
      return;
    }
    const shown = findPlain(thrown) ?? report(thrown, 'router', details);
    if (shown?.address === undefined) shown?.listeners.push(onAddress);
    else onAddress(shown.address);
  }

  return function deliver({ at, event, details, shown }) {
    const { type, target, error, message, reason } = event;
    const known = { ...details, at };
    if (shown) reportShown(shown, known);
    else if (type === 'react.recoverable') reportRecovered(reason, known);
    else if (type === 'unhandledrejection') reportUnlessLeaving(reason, 'onunhandledrejection', known);
    else if (target instanceof Element) reportMissing(target, known);
    else if (type === 'error')
      reportUnlessLeaving(error ?? message, 'onerror', { ...known, location: toLocation(event) });
    else report(reason, type, known);
  };
}

/** The failures of a page, each of which is sent once. */
function createReports(send: (report: BrowserReport) => void) {
  const reported = new WeakMap<WeakKey, Reported>();
  /** The last thrown value that is not an object, and so has no identity. */
  let plain: { readonly thrown: unknown; readonly reported: Reported } | undefined;
  const echoed = new Set<string>();
  let left = MAX_PAGE_REPORTS;

  function report(thrown: unknown, via: string, details: Details): Reported | undefined {
    const chain = causesOf(thrown);
    if (isPageError(thrown) || chain.some(isMeant)) return undefined;
    const known = chain.map((link) => (isObject(link) ? reported.get(link) : undefined)).find(Boolean);
    if (known) return known;
    const echo = [...chain.map((link) => readProperty(link, 'digest')), details.echo].find(isAddress);
    const created: Reported = { address: echo === undefined ? undefined : { digest: echo }, listeners: [] };
    for (const link of chain) if (isObject(link)) reported.set(link, created);
    if (!isObject(thrown)) plain = { thrown, reported: created };
    if (echo !== undefined && echoed.has(echo)) return created;
    if (echo !== undefined) echoed.add(echo);
    if (left-- <= 0) return created;
    const { origin, pathname } = location;
    send({
      at: Date.now(),
      url: origin + pathname,
      ...details,
      kind: details.kind ?? toKind(thrown),
      thrown,
      via,
      echo,
      onAddress(reported) {
        created.address ??= reported;
        for (const listener of created.listeners) listener(reported);
      },
    });
    return created;
  }

  return {
    report,
    /** Finds what was reported last, if it was this value. */
    findPlain: (thrown: unknown) => (plain && Object.is(plain.thrown, thrown) ? plain.reported : undefined),
  };
}

/**
 * Passes reports to the SDK. Sends them itself if the page is left before the SDK has loaded, or if it does not load.
 */
function createSender(early: EarlyErrors): (report: BrowserReport) => void {
  const queue: BrowserReport[] = [];
  let reporter: BrowserReporter | undefined;

  function sendMinimal(report: BrowserReport): void {
    const { settings } = early;
    const eventId = crypto.getRandomValues(new Uint32Array(4)).reduce((id, part) => id + toHex(part), '');
    navigator.sendBeacon(settings.tunnel, toMinimalEnvelope(report, { settings, host: location.host, eventId }));
  }

  function handOver(loaded: BrowserReporter): void {
    reporter = loaded;
    for (const report of queue.splice(0)) send(report);
  }

  function send(report: BrowserReport): void {
    try {
      if (reporter) reporter.report(report);
      else queue.push(report);
    } catch {
      sendMinimal(report); // reporting a failure must not cause another one
    }
  }

  addEventListener('pagehide', () => queue.splice(0).forEach(sendMinimal));
  import('./courier.ts')
    .then(({ createReporter }) => createReporter(early))
    .then(handOver, () => handOver({ report: sendMinimal }));
  return send;
}

function toKind(thrown: unknown): BrowserFailureKind | undefined {
  if (readProperty(thrown, 'name') === 'RouteLoadError' || isLoadFailure(thrown)) return 'load';
  return isNetworkFailure(thrown) ? 'network' : undefined;
}

/** "The server could not finish this Suspense boundary": a text in development, a number in production. */
function isServersPlace(said: string): boolean {
  return /React error #419;|could not finish this Suspense/.test(said);
}

/** `shared/rendering/react-errors.ts` explains all of these errors. */
function isMismatch(said: string): boolean {
  return /React error #4(?:18|2\d);|[Hh]ydrat/.test(said);
}

/** Makes an error without a stack, because the code that makes it is not where the failure happened. */
function withoutStack(name: string, message: string): Error {
  const error = new Error(message);
  error.name = name;
  error.stack = '';
  return error;
}

/** A page works without an image or a preload. */
function toNeededUrl(element: Element): string | undefined {
  if (element instanceof HTMLScriptElement) return element.src;
  return element instanceof HTMLLinkElement && element.rel === 'stylesheet' ? element.href : undefined;
}

function toLocation({ filename, lineno, colno }: Happening['event']): string {
  return `${filename}:${lineno}:${colno}`;
}

function isObject(value: unknown): value is WeakKey {
  return Object(value) === value;
}

function toHex(part: number): string {
  return part.toString(16).padStart(8, '0');
}

/** React's message of development has the tree below a link to its documentation. */
const TREE = /^https:\/\/react\.dev\/link\/\S+\n+(.*)/ms;
/** So that a line of each side fits (UTF-16 code units). */
const MAX_ROW_LENGTH = 100;

/**
 * Shortens React's message about a mismatch to the lines that differ, and as many of the elements and components around
 * them as fit. Returns any other message as it is.
 */
function toDifference(said: string): string {
  const lines = TREE.exec(said)?.[1]?.split('\n') ?? [];
  const first = lines.findIndex((line) => /^[+-] /.test(line));
  if (first < 0) return said;
  const end = lines.findIndex((line, index) => index > first && !/^[+-] /.test(line));
  let rows = lines.slice(first, end < 0 ? undefined : end);
  let shown = toRows(rows);
  for (const line of lines.slice(0, first).reverse()) {
    if (toIndent(line) >= toIndent(rows[0] ?? '')) continue; // next to it, not around it
    rows = [line, ...rows];
    const more = toRows(rows);
    if (more.length > MAX_VALUE_LENGTH) break;
    shown = more;
  }
  return shown;
}

/** Removes the common indentation. The first column is the mark of a side. */
function toRows(lines: readonly string[]): string {
  const least = Math.min(...lines.map(toIndent));
  return lines.map((line) => (line.slice(0, 1) + line.slice(least)).slice(0, MAX_ROW_LENGTH)).join('\n');
}

function toIndent(line: string): number {
  return line.replace(/^[+-]/, ' ').search(/\S|$/);
}
