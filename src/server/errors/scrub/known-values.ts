import { REDACTED } from './secret-patterns.ts';

/** Shorter values also occur in harmless words, so only their names identify them (UTF-16 code units). */
const MIN_LENGTH = 8;

/** The part of a value that identifies it (UTF-16 code units). What follows in a text is redacted as far as it is the same. */
const START_LENGTH = 64;

/** Values of one request (count). A browser sends at most 180 cookies, and few of them have as many characters. */
const MAX_VALUES = 128;

/** Secret values that are recognized in any place. */
export interface KnownValues {
  redact(text: string): string;
  with(values: readonly string[]): KnownValues;
  /** Strangers choose these values, so only the longest 128 are added. */
  withRequest(values: readonly string[]): KnownValues;
}

/** @param values secrets as they are; they are also recognized encoded in a URL, and in JSON */
export function createKnownValues(values: readonly string[]): KnownValues {
  return build(toSpellings(values));
}

function build(spellings: readonly string[]): KnownValues {
  const redact = createRedact(spellings);
  function add(more: readonly string[]): KnownValues {
    const added = toSpellings(more);
    return added.length === 0 ? known : build([...spellings, ...added]);
  }
  const known: KnownValues = {
    redact,
    with: add,
    withRequest: (values) => add(longestFirst([...new Set(values)]).slice(0, MAX_VALUES)),
  };
  return known;
}

/**
 * Finds all values in one pass. A loop over them would multiply two numbers that strangers choose: values of a request
 * and texts of a report.
 */
function createRedact(spellings: readonly string[]): (text: string) => string {
  if (spellings.length === 0) return (text) => text;
  const byStart = Map.groupBy(spellings.toSorted(), (spelling) => spelling.slice(0, START_LENGTH));
  const starts = longestFirst([...byStart.keys()]).map(RegExp.escape);
  const start = new RegExp(starts.join('|'), 'g');
  return function redact(text) {
    let result = '';
    let copied = 0;
    start.lastIndex = 0;
    for (let match = start.exec(text); match; match = start.exec(text)) {
      result += text.slice(copied, match.index) + REDACTED;
      copied = match.index + measureKnown(text, match.index, byStart.get(match[0]) ?? []);
      start.lastIndex = copied;
    }
    return copied === 0 ? text : result + text.slice(copied);
  };
}

/** Returns how much of a text, from `index` on, is the same as one of these values, which have the same start. */
function measureKnown(text: string, index: number, sorted: readonly string[]): number {
  const rest = text.slice(index);
  let low = 0;
  for (let high = sorted.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < rest) low = middle + 1;
    else high = middle;
  }
  // The one with the longest same part is next to where the text would be in the list.
  return Math.max(countSame(rest, sorted[low - 1] ?? ''), countSame(rest, sorted[low] ?? ''));
}

function countSame(one: string, other: string): number {
  let count = 0;
  while (count < other.length && one.charCodeAt(count) === other.charCodeAt(count)) count += 1;
  return count;
}

function toSpellings(values: readonly string[]): string[] {
  const spellings = values
    .map((value) => value.trim())
    .filter((value) => value.length >= MIN_LENGTH && !REDACTED.includes(value))
    .flatMap((value) => [value, encode(value), JSON.stringify(value).slice(1, -1)]);
  return [...new Set(spellings)];
}

/** Sorts so that no rest of a longer value remains. */
function longestFirst(texts: readonly string[]): string[] {
  return texts.toSorted((one, other) => other.length - one.length);
}

/** A lone surrogate cannot be encoded in a URL. */
export function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
