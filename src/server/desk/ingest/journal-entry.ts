import type { Failure, FailureKind } from '../../engine/errors/failure.ts';
import type { Feedback } from '../../reports/feedback/feedback.ts';
import type { Salt } from '../../reports/tunnel/visitors.ts';

/** A summary of an occurrence, kept when many failures are alike. It is enough to find it by its address. */
export interface ThinOccurrence {
  readonly digest: string;
  readonly occurrence: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly side: Failure['side'];
  readonly build: string;
  readonly release: string;
  readonly route?: string | undefined;
  readonly requestId?: string | undefined;
  readonly traceId?: string | undefined;
  readonly visitor?: string | undefined;
}

/** The number of occurrences, when there are too many to keep even their summaries. */
export interface CountRecord {
  readonly digest: string;
  readonly side: Failure['side'];
  readonly kind: FailureKind;
  readonly title: string;
  readonly build: string;
  readonly release: string;
  /** The first and last occurrence (ms since 1970), in the same hour. */
  readonly firstAt: number;
  readonly lastAt: number;
  readonly count: number;
}

/**
 * A line of a journal. `sameVisitor` lists the visitor's other hashes since yesterday, because salts change.
 * It is for the rule that two visitors must have reported a failure that only browsers saw. It is never
 * stored, because it would link two days.
 */
export type JournalEntry =
  | { readonly entry: 'whole'; readonly failure: Failure; readonly sameVisitor?: readonly string[] }
  | { readonly entry: 'thin'; readonly thin: ThinOccurrence; readonly sameVisitor?: readonly string[] }
  | { readonly entry: 'count'; readonly record: CountRecord }
  | { readonly entry: 'feedback'; readonly feedback: Feedback }
  /** A salt that the process created itself, before the first line that uses it. */
  | { readonly entry: 'salt'; readonly salt: Salt };

export function toThin(failure: Failure): ThinOccurrence {
  const { digest, occurrence, at, side, build, release, route, requestId, traceId, visitor } = failure;
  return { digest, occurrence, at, side, build, release, route, requestId, traceId, visitor };
}

/**
 * Parses one line of a journal, or returns undefined if it is not a complete entry. The writer may have been
 * an older release, or killed in the middle of a line.
 */
export function parseJournalLine(line: string): JournalEntry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  return isJournalEntry(value) ? value : undefined;
}

function isJournalEntry(value: unknown): value is JournalEntry {
  if (!isObject(value)) return false;
  if (value.entry === 'whole') return isFailure(value.failure);
  if (value.entry === 'thin') return hasAddress(value.thin) && typeof value.thin.occurrence === 'string';
  if (value.entry === 'feedback') return isFeedback(value.feedback);
  if (value.entry === 'salt') return isSalt(value.salt);
  return value.entry === 'count' && isObject(value.record) && hasCount(value.record);
}

function isFailure(value: unknown): boolean {
  return hasAddress(value) && typeof value.occurrence === 'string' && Array.isArray(value.errors);
}

function isFeedback(value: unknown): boolean {
  return isObject(value) && typeof value.id === 'string' && typeof value.text === 'string' && isNumber(value.at);
}

function isSalt(value: unknown): boolean {
  return isObject(value) && typeof value.salt === 'string' && Number.isSafeInteger(value.day);
}

function hasCount(record: Record<string, unknown>): boolean {
  return typeof record.digest === 'string' && isNumber(record.count) && isNumber(record.firstAt);
}

function hasAddress(value: unknown): value is Record<string, unknown> {
  return isObject(value) && typeof value.digest === 'string' && isNumber(value.at);
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
