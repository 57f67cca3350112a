import {
  MAX_BREADCRUMBS,
  MAX_COMPONENT_STACK_LENGTH,
  MAX_EVENT_BYTES,
  MAX_REPORTED_ERRORS,
  MAX_REPORTED_FRAMES,
  MAX_VALUE_LENGTH,
} from '../../../shared/engine/limits.ts';
import { KiB } from '../../../shared/units.ts';
import type { ErrorRecord, Failure } from './failure.ts';

/** Marks a text that was cut. It is counted in the length. */
const MARK = '…';

/** Nesting and number of values in each field of a failure (counts): more than scrubbing leaves. Past them it says `[cut]`. */
const MAX_DEPTH = 16;
const MAX_NODES = 20_000;

/** A title is one line of a list (UTF-16 code units). */
export const MAX_TITLE_LENGTH = 200;

/** Classes that are named of an `AggregateError` (a count). */
const MAX_MEMBERS = 50;

/** Levels of `extra` that stay where an event is too large (a count). */
const TRIMMED_DEPTH = 3;

/**
 * Cuts a failure to the limits of F13 to F15: 100 breadcrumbs, 250 characters a value, 100 KB of JSON
 * in UTF-8. `cut` names what was cut, in words of the record: `values`, `errors`, `frames`,
 * `componentStack`, `breadcrumbs`, `extra`, `tags`, `request`. Id, digest, occurrence and title are
 * always kept. A component stack has 8 KiB.
 *
 * @param maxBytes of the JSON; a stub may be larger where it is less than 64 KiB
 */
export function trimFailure(failure: Failure, maxBytes = MAX_EVENT_BYTES): Failure {
  const cut = new Set(failure.cut);
  let trimmed = cutValues(cutCounts(failure, cut), cut);
  let bytes = byteLengthOf(trimmed, cut);
  for (const [part, shorten] of STAGES) {
    if (bytes <= maxBytes) break;
    const shorter = shorten(trimmed);
    if (shorter === trimmed) continue;
    cut.add(part);
    trimmed = shorter;
    bytes = byteLengthOf(trimmed, cut);
  }
  return cut.size === 0 ? trimmed : { ...trimmed, cut: [...cut] };
}

/** At most `length` UTF-16 code units, the mark included, and no half of a surrogate pair. */
export function cutText(text: string, length = MAX_VALUE_LENGTH): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 2);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? length - 2 : length - 1) + MARK;
}

type Stage = readonly [part: string, shorten: (failure: Failure) => Failure];

/** From what is missed least. Each returns the same failure where it has nothing to take. */
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

/** A copy as plain data in which every text has its length: also what an owner or a browser added. */
function cutValues(failure: Failure, cut: Set<string>): Failure {
  let nodes = 0;

  function visit(value: unknown, depth: number): unknown {
    nodes += 1;
    if (typeof value === 'string') return shorten(value);
    if (typeof value !== 'object' || value === null) return isJson(value) ? value : undefined;
    if (depth > MAX_DEPTH || nodes > MAX_NODES) {
      cut.add('values');
      return '[cut]';
    }
    if (Array.isArray(value)) return value.map((item) => visit(item, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [shorten(key), visit(field, depth + 1)]));
  }

  function shorten(text: string): string {
    if (text.length > MAX_VALUE_LENGTH) cut.add('values');
    return cutText(text);
  }

  const { componentStack, cut: named, ...rest } = failure;
  const fields = Object.entries(rest).map(([name, field]) => {
    nodes = 0;
    return [name, visit(field, 0)];
  });
  const copy = Object.fromEntries([...fields, ['title', cutText(failure.title, MAX_TITLE_LENGTH)]]) as Failure; // the same fields, with shorter texts
  if (componentStack === undefined) return copy;
  const stack = cutLines(componentStack, MAX_COMPONENT_STACK_LENGTH);
  if (stack !== componentStack) cut.add('componentStack');
  return { ...copy, componentStack: stack };
}

function isJson(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'boolean' || value === null;
}

function cutCounts(failure: Failure, cut: Set<string>): Failure {
  const fewerErrors = withErrors(failure);
  if (fewerErrors !== failure) cut.add('errors');
  const fewerFrames = withFrames(fewerErrors, MAX_REPORTED_FRAMES);
  if (fewerFrames !== fewerErrors) cut.add('frames');
  const fewerBreadcrumbs = withBreadcrumbs(fewerFrames, MAX_BREADCRUMBS);
  if (fewerBreadcrumbs !== fewerFrames) cut.add('breadcrumbs');
  return fewerBreadcrumbs;
}

function withErrors(failure: Failure): Failure {
  const { errors } = failure;
  const hasMany = errors.some(({ members = [] }) => members.length > MAX_MEMBERS);
  if (errors.length <= MAX_REPORTED_ERRORS && !hasMany) return failure;
  const fewer = errors.slice(0, MAX_REPORTED_ERRORS).map((error) => {
    return error.members ? { ...error, members: error.members.slice(0, MAX_MEMBERS) } : error;
  });
  return { ...failure, errors: fewer };
}

/** The newest stay. */
function withBreadcrumbs(failure: Failure, count: number): Failure {
  if (!failure.breadcrumbs || failure.breadcrumbs.length <= count) return failure;
  return { ...failure, breadcrumbs: failure.breadcrumbs.slice(-count) };
}

/** Those next to the throw stay. */
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
  if (!failure.extra || depthOf(failure.extra) <= TRIMMED_DEPTH) return failure;
  return { ...failure, extra: flatten(failure.extra, TRIMMED_DEPTH) as Record<string, unknown> };
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Object.values(value).reduce((deepest: number, field) => Math.max(deepest, depthOf(field)), 0);
}

function flatten(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '[cut]';
  if (Array.isArray(value)) return value.map((item) => flatten(item, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, flatten(field, depth - 1)]));
}

function withComponentStack(failure: Failure, length: number): Failure {
  if (!failure.componentStack || failure.componentStack.length <= length) return failure;
  return { ...failure, componentStack: cutLines(failure.componentStack, length) };
}

/** Whole lines, from the innermost component on. */
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

/** What always fits, because each of its texts does. */
function toStub(failure: Failure): Failure {
  const { id, digest, occurrence, rule, weak, unresolved, kind, side, origin, at, build, release, title } = failure;
  const { site, route, routeId, requestId, traceId, spanId, request, visitor, echoOf, errors } = failure;
  const first = errors[0];
  return {
    ...{ id, digest, occurrence, rule, weak, unresolved, kind, side, origin, at, build, release, title },
    ...{ site, route, routeId, requestId, traceId, spanId, request, visitor, echoOf },
    errors: first ? [{ class: first.class, message: first.message, frames: [] }] : [],
  } as Failure; // fields that are undefined stand for missing ones, as in JSON
}

/** With the list of what was cut: that has to fit too. */
function byteLengthOf(failure: Failure, cut: ReadonlySet<string>): number {
  return Buffer.byteLength(JSON.stringify(failure)) + (cut.size + 1) * 20;
}
