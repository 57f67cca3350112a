import { isDeepStrictEqual } from 'node:util';
import { MAX_BREADCRUMBS, MAX_REPORTED_ERRORS, MAX_VALUE_LENGTH } from '../../shared/shared-limits.ts';
import { KiB } from '../../shared/units.ts';
import { MAX_COMPONENT_STACK_LENGTH, MAX_EVENT_BYTES, MAX_REPORTED_FRAMES } from '../limits.ts';
import type { ErrorRecord, Failure } from './failure.ts';

/** Marks a text that was cut. It counts toward the length. */
const MARK = '…';

/** Maximum length of a title, which is one line of a list (UTF-16 code units). */
const MAX_TITLE_LENGTH = 200;

/** Classes of an `AggregateError` that are kept (count). */
const MAX_STORED_MEMBERS = 50;

/** Tags that are kept (count), and the length of each name and value (bytes). */
const MAX_TAGS = 20;
const MAX_TAG_BYTES = 64;

/** Levels of `extra` that remain if an event is too large (count). */
const TRIMMED_DEPTH = 3;

/**
 * Cuts a failure to 100 breadcrumbs, 20 tags, 250 characters per value, and 100 KB of JSON in UTF-8. `cut` names the
 * parts that were cut: `values`, `errors`, `frames`, `componentStack`, `breadcrumbs`, `extra`, `tags`,
 * `request`. Id, digest, occurrence and title are always kept. A component stack has up to 8 KiB.
 *
 * @param maxBytes of the JSON; a stub can be larger if this is less than 64 KiB
 */
export function trimFailure(failure: Failure, maxBytes = MAX_EVENT_BYTES): Failure {
  const cut = new Set(failure.cut);

  function apply(given: Failure, [part, shorten]: Stage): Failure {
    const shorter = shorten(given);
    if (shorter !== given) cut.add(part);
    return shorter;
  }

  let trimmed = cutValues(LIMITS.reduce(apply, failure), cut);
  for (const stage of STAGES) {
    if (byteLengthOf(trimmed, cut) <= maxBytes) break;
    trimmed = apply(trimmed, stage);
  }
  return cut.size === 0 ? trimmed : { ...trimmed, cut: [...cut] };
}

export function cutTitle(title: string): string {
  return cutText(title, MAX_TITLE_LENGTH);
}

/** Returns at most `length` UTF-16 code units, including the mark, and never half a surrogate pair. */
export function cutText(text: string, length = MAX_VALUE_LENGTH): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 2);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? length - 2 : length - 1) + MARK;
}

/** Returns the same failure if there is nothing to shorten. */
type Stage = readonly [part: string, shorten: (failure: Failure) => Failure];

/** Applied to every failure. */
const LIMITS: readonly Stage[] = [
  ['errors', withErrors],
  ['frames', (failure) => withFrames(failure, MAX_REPORTED_FRAMES)],
  ['breadcrumbs', (failure) => withBreadcrumbs(failure, MAX_BREADCRUMBS)],
  ['tags', withShortTags],
  ['componentStack', (failure) => withComponentStack(failure, MAX_COMPONENT_STACK_LENGTH)],
];

/** Applied to a failure that is still too large, starting with the least useful part. */
const STAGES: readonly Stage[] = [
  ['extra', withFlatExtra],
  ...[50, 25, 10].map((count): Stage => ['breadcrumbs', (failure) => withBreadcrumbs(failure, count)]),
  ['extra', (failure) => without(failure, 'extra')],
  ['breadcrumbs', (failure) => without(failure, 'breadcrumbs')],
  ...[50, 20, 5].map((count): Stage => ['frames', (failure) => withFrames(failure, count)]),
  ['componentStack', (failure) => withComponentStack(failure, KiB)],
  ['tags', (failure) => without(failure, 'tags')],
  ['request', withBareRequest],
  ['errors', toStub],
];

interface CopyOptions {
  /** Levels of objects and arrays (count). */
  readonly depth: number;
  readonly toText: (text: string) => string;
  /** Called if something is replaced by `[cut]`. */
  readonly onCut: () => void;
}

/** Copies a value as plain data. Scrubbing has limited its size. */
function copyPlain(value: unknown, { depth, toText, onCut }: CopyOptions): unknown {
  function visit(inner: unknown, left: number): unknown {
    if (typeof inner === 'string') return toText(inner);
    if (typeof inner === 'number' || typeof inner === 'boolean' || inner === null) return inner;
    if (typeof inner !== 'object') return undefined;
    if (left === 0) {
      onCut();
      return '[cut]';
    }
    if (Array.isArray(inner)) return inner.map((item) => visit(item, left - 1));
    return Object.fromEntries(Object.entries(inner).map(([key, field]) => [toText(key), visit(field, left - 1)]));
  }
  return visit(value, depth);
}

/** Copies as plain data with all texts at most at their maximum length, including those of a product or a browser. */
function cutValues(failure: Failure, cut: Set<string>): Failure {
  const onCut = () => void cut.add('values');
  function toText(text: string): string {
    if (text.length > MAX_VALUE_LENGTH) onCut();
    return cutText(text);
  }
  const { title, componentStack, cut: _, ...rest } = failure;
  const fields = Object.entries(rest).map(([name, field]) => {
    return [name, copyPlain(field, { depth: Number.POSITIVE_INFINITY, toText, onCut })];
  });
  return {
    ...(Object.fromEntries(fields) as typeof rest), // the same fields, with shorter texts
    title: cutTitle(title),
    ...(componentStack !== undefined && { componentStack }),
  };
}

function withErrors(failure: Failure): Failure {
  const { errors } = failure;
  const hasMany = errors.some(({ members = [] }) => members.length > MAX_STORED_MEMBERS);
  if (errors.length <= MAX_REPORTED_ERRORS && !hasMany) return failure;
  const fewer = errors.slice(0, MAX_REPORTED_ERRORS).map((error) => {
    return error.members ? { ...error, members: error.members.slice(0, MAX_STORED_MEMBERS) } : error;
  });
  return { ...failure, errors: fewer };
}

/** Keeps the newest. */
function withBreadcrumbs(failure: Failure, count: number): Failure {
  if (!failure.breadcrumbs || failure.breadcrumbs.length <= count) return failure;
  return { ...failure, breadcrumbs: failure.breadcrumbs.slice(-count) };
}

function withShortTags(failure: Failure): Failure {
  const tags = Object.entries(failure.tags ?? {});
  const short = tags.slice(0, MAX_TAGS).map((tag) => tag.map(cutBytes) as typeof tag);
  if (isDeepStrictEqual(short, tags)) return failure;
  return { ...failure, tags: Object.fromEntries(short) };
}

/** Cuts between characters. */
function cutBytes(text: string): string {
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(MAX_TAG_BYTES)).read);
}

/** Keeps the frames next to the throw. */
function withFrames(failure: Failure, count: number): Failure {
  if (!failure.errors.some(({ frames }) => frames.length > count)) return failure;
  const errors = failure.errors.map((error): ErrorRecord => ({ ...error, frames: error.frames.slice(0, count) }));
  return { ...failure, errors };
}

function without(failure: Failure, part: 'extra' | 'breadcrumbs' | 'tags'): Failure {
  if (failure[part] === undefined) return failure;
  const { [part]: _, ...rest } = failure;
  return rest;
}

function withFlatExtra(failure: Failure): Failure {
  let isFlatter = false;
  const onCut = () => {
    isFlatter = true;
  };
  const extra = copyPlain(failure.extra, { depth: TRIMMED_DEPTH, toText: (text) => text, onCut });
  return isFlatter ? { ...failure, extra: extra as Record<string, unknown> } : failure;
}

function withComponentStack(failure: Failure, length: number): Failure {
  if (!failure.componentStack || failure.componentStack.length <= length) return failure;
  return { ...failure, componentStack: cutLines(failure.componentStack, length) };
}

/** Keeps whole lines, starting with the innermost component. */
function cutLines(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = text.lastIndexOf('\n', length - 2);
  return end > 0 ? `${text.slice(0, end)}\n${MARK}` : cutText(text, length);
}

function withBareRequest(failure: Failure): Failure {
  if (!failure.request?.headers) return failure;
  const { method, url } = failure.request;
  return { ...failure, request: { method, url } };
}

/** The last stage: a record that always fits, because each of its texts is limited. */
function toStub({ componentStack: _, ...failure }: Failure): Failure {
  const [first] = failure.errors;
  return { ...failure, errors: first ? [{ class: first.class, message: first.message, frames: [] }] : [] };
}

/** Includes the list of cut parts, which has to fit too. */
function byteLengthOf(failure: Failure, cut: ReadonlySet<string>): number {
  return Buffer.byteLength(JSON.stringify(failure)) + (cut.size + 1) * 20;
}

/**
 * Cuts a text at the end of a word, because half a secret cannot be recognized by its value or its shape. A word that
 * is longer than `maxWord` is cut anyway. Lengths are UTF-16 code units.
 */
export function cutAtWord(text: string, length: number, maxWord: number): string {
  if (text.length <= length) return text;
  let end = length;
  while (end > length - maxWord && /\S/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
