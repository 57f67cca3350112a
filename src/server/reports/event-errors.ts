import { MAX_REPORTED_ERRORS } from '../../shared/shared-limits.ts';
import type { ErrorRecord, StackFrame } from '../errors/failure.ts';
import {
  MAX_CLASS_LENGTH,
  MAX_COMPONENT_STACK_LENGTH,
  MAX_FUNCTION_LENGTH,
  MAX_MESSAGE_LENGTH,
  MAX_REPORTED_FRAMES,
} from '../limits.ts';
import { isRecord, type JsonRecord, toCleanText, toLine, toList, toPosition, toRecord } from './read-report.ts';
import { type ReportScrubber, type ReportSender, toScrubbed } from './report-parts.ts';

/** The longest name of a script (UTF-16 code units). */
const MAX_FILE_LENGTH = 500;

/** The cause that Sentry's React SDK appends: an error that was never thrown, with components as frames. */
const BOUNDARY = /^React ErrorBoundary /;

/**
 * Reads the errors of an event. SDKs write causes first, and frames from the outermost caller. This reverses
 * both. An event without an error (a message) becomes a `NonError`.
 */
export function readEventErrors(event: JsonRecord, sender: ReportSender) {
  const { scrubber } = sender;
  const values = toList(toRecord(event.exception).values).filter(isRecord);
  const chain = toChain(values.slice(-MAX_REPORTED_ERRORS * 5));
  const boundary = chain.find(isBoundary);
  const thrown = chain.filter((value) => !isBoundary(value)).slice(0, MAX_REPORTED_ERRORS);
  const errors = thrown.map((value) => toErrorRecord(value, membersOf(value, values, scrubber), sender));
  return {
    /** Outermost first. */
    errors: errors.length > 0 ? errors : [toMessageRecord(event, scrubber)],
    /** React's components, innermost first, if the event has them. */
    componentStack: findComponentStack(event, boundary),
  };
}

/** Returns a script's name in the build (`client/assets/home-X7K2QM2X.js`), or the origin and path of other scripts. */
export function toReportedFile(filename: unknown, sender: ReportSender): string {
  const given = toLine(filename, 2 * MAX_FILE_LENGTH);
  if (given === undefined || /^[<[]/.test(given)) return ''; // `<anonymous>`, `[native code]`
  const url = URL.canParse(given, sender.origin) ? new URL(given, sender.origin) : undefined;
  if (!url || url.protocol === 'data:' || url.protocol === 'blob:') return '';
  if (sender.isOurs(url.origin) && isServedScript(url.pathname)) return `client${url.pathname}`;
  const origin = url.origin === 'null' ? `${url.protocol}//${url.host}` : url.origin;
  return toScrubbed(origin + url.pathname, sender.scrubber, MAX_FILE_LENGTH);
}

/** Reports whether this server serves scripts at a URL's path. `npm run dev` serves the product's modules one by one. */
function isServedScript(path: string): boolean {
  return /^\/(?:assets|_dev\/modules)\//.test(path);
}

/** Returns the outermost error and its causes, without the errors of an `AggregateError`. */
function toChain(values: readonly JsonRecord[]): JsonRecord[] {
  const root = values.find((value) => toRecord(value.mechanism).exception_id === 0);
  if (!root) return [...values].reverse();
  const chain = [root];
  for (let next = causeOf(root, values); next && !chain.includes(next); next = causeOf(next, values)) chain.push(next);
  return chain;
}

function causeOf(value: JsonRecord, values: readonly JsonRecord[]): JsonRecord | undefined {
  return childrenOf(value, values).find((child) => toRecord(child.mechanism).source === 'cause');
}

function membersOf(value: JsonRecord, values: readonly JsonRecord[], scrubber: ReportScrubber): string[] | undefined {
  const members = childrenOf(value, values)
    .filter((child) => /^errors\[\d+\]$/.test(toLine(toRecord(child.mechanism).source, MAX_CLASS_LENGTH) ?? ''))
    .map((child) => toClass(child.type, scrubber));
  return members.length > 0 ? [...new Set(members)].sort() : undefined;
}

function childrenOf(value: JsonRecord, values: readonly JsonRecord[]): JsonRecord[] {
  const id = toRecord(value.mechanism).exception_id;
  if (typeof id !== 'number') return [];
  return values.filter((other) => other !== value && toRecord(other.mechanism).parent_id === id);
}

function isBoundary(value: JsonRecord): boolean {
  return typeof value.type === 'string' && BOUNDARY.test(value.type);
}

function toErrorRecord(value: JsonRecord, members: string[] | undefined, sender: ReportSender): ErrorRecord {
  const synthetic = toRecord(value.mechanism).synthetic === true;
  return {
    class: synthetic ? 'NonError' : toClass(value.type, sender.scrubber),
    message: toMessage(value.value, sender.scrubber),
    frames: toFrames(value.stacktrace, sender),
    members,
  };
}

function toMessageRecord({ message, logentry }: JsonRecord, scrubber: ReportScrubber): ErrorRecord {
  const text = message ?? toRecord(logentry).message;
  return { class: 'NonError', message: toMessage(text, scrubber), frames: [] };
}

function toClass(type: unknown, scrubber: ReportScrubber): string {
  return toScrubbed(toLine(type, 2 * MAX_CLASS_LENGTH) ?? 'Error', scrubber, MAX_CLASS_LENGTH);
}

function toMessage(value: unknown, scrubber: ReportScrubber): string {
  return toScrubbed(toCleanText(value, 2 * MAX_MESSAGE_LENGTH) ?? '', scrubber, MAX_MESSAGE_LENGTH);
}

function toFrames(stacktrace: unknown, sender: ReportSender): StackFrame[] {
  const frames = toList(toRecord(stacktrace).frames).slice(-MAX_REPORTED_FRAMES).reverse();
  return frames.filter(isRecord).map((frame) => toFrame(frame, sender));
}

function toFrame(frame: JsonRecord, sender: ReportSender): StackFrame {
  const name = toScrubbed(toLine(frame.function, 2 * MAX_FUNCTION_LENGTH) ?? '', sender.scrubber, MAX_FUNCTION_LENGTH);
  const isAsync = name.startsWith('async ');
  return {
    file: toReportedFile(frame.abs_path ?? frame.filename, sender),
    line: toPosition(frame.lineno),
    column: toPosition(frame.colno),
    function: name === '?' ? '' : name.replace(/^async /, ''),
    async: isAsync || undefined,
  };
}

function findComponentStack(event: JsonRecord, boundary: JsonRecord | undefined): string | undefined {
  const given = toRecord(toRecord(event.contexts).react).componentStack ?? toRecord(event.extra).componentStack;
  // Twice the length that is kept, because the text is cut after it is scrubbed.
  const stack = toCleanText(given, 2 * MAX_COMPONENT_STACK_LENGTH);
  if (stack !== undefined || !boundary) return stack;
  const names = toList(toRecord(boundary.stacktrace).frames)
    .slice(-MAX_REPORTED_FRAMES)
    .reverse()
    .map((frame) => toLine(toRecord(frame).function, MAX_FUNCTION_LENGTH))
    .filter((name) => name !== undefined && name !== '?');
  return names.length > 0 ? names.map((name) => `\n    at ${name}`).join('') : undefined;
}
