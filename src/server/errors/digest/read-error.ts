import { inspect } from 'node:util';
import { MAX_REPORTED_ERRORS } from '../../../shared/limits.ts';
import { KiB } from '../../../shared/units.ts';
import { MAX_CLASS_LENGTH, MAX_MESSAGE_LENGTH } from '../../limits.ts';
import { isError, read } from '../../request/http-error.ts';
import type { ErrorRecord } from '../failure.ts';
import { cutAtWord } from '../trim.ts';
import { type FramePaths, parseStack } from './parse-stack.ts';

/** The part of a stack's frames that is logged (UTF-16 code units). */
const MAX_FRAMES_LENGTH = 16 * KiB;
/** How far a cut can move back to the end of a word (UTF-16 code units): digests read less than what is left. */
const MAX_WORD_LENGTH = MAX_MESSAGE_LENGTH - 300;
/** Errors of an `AggregateError` that are read (count). */
const MAX_MEMBERS = 100;

/** What a thrown object without a message is called. Its content follows, which digests do not read. */
export const OBJECT = 'an object that is no Error';
/** The part of such an object that is shown. */
const BRIEF = { depth: 1, maxArrayLength: 10, maxStringLength: 100 };

/** The text of a thrown value, for the log. */
interface ErrorText {
  readonly message: string;
  /** Class, message and frames as the engine wrote them, shortened. */
  readonly stack: string;
}

/** Never throws, not even for a Proxy, a throwing getter or a stack of a megabyte. */
export function readError(error: unknown): ErrorText {
  if (!isError(error)) {
    const message = describe(error);
    return { message, stack: message };
  }
  const message = cutMessage(readString(error, 'message'));
  const stack = readString(error, 'stack');
  const start = stack.indexOf('\n    at ');
  const frames = start < 0 ? '' : stack.slice(start + 1, start + 1 + MAX_FRAMES_LENGTH);
  return { message, stack: `${readClass(error)}: ${message}\n${frames}` };
}

/** Reads a thrown value and its causes, outermost first. Never throws, and always returns at least one entry. */
export function readErrors(thrown: unknown, paths: FramePaths): ErrorRecord[] {
  const [first, ...causes] = causesOf(thrown);
  return [toRecord(first, paths), ...causes.map((cause) => toRecord(cause, paths))];
}

function toRecord(value: unknown, paths: FramePaths): ErrorRecord {
  if (!isError(value)) return { class: 'NonError', message: describe(value), ...readCode(value), frames: [] };
  const message = readString(value, 'message');
  return {
    class: readClass(value),
    message: cutMessage(message),
    ...readCode(value),
    frames: parseStack(readString(value, 'stack'), paths, message),
    ...readMembers(value),
  };
}

function readClass(error: unknown): string {
  return readString(error, 'name').slice(0, MAX_CLASS_LENGTH) || 'Error';
}

/** Reads a code of a system, Node or SQL: `ECONNREFUSED`, `ERR_INVALID_URL`, `23505`. Anything else can be data. */
function readCode(value: unknown): { code?: string } {
  const code = readString(value, 'code');
  return /^(?:[A-Z][A-Z0-9_]{2,59}|[0-9A-Z]{5})$/.test(code) ? { code } : {};
}

function readMembers(error: unknown): { members?: string[] } {
  const members = read(error, 'errors');
  try {
    if (readClass(error) !== 'AggregateError' || !Array.isArray(members)) return {};
    const classes = members.slice(0, MAX_MEMBERS).map((one) => (isError(one) ? readClass(one) : 'NonError'));
    return { members: [...new Set(classes)].sort() };
  } catch {
    return {}; // a Proxy around an array
  }
}

/** Lists the error and its causes, outermost first. Any value can be thrown, also `undefined`. Stops at a cycle. */
export function causesOf(error: unknown): unknown[] {
  const chain = [error];
  while (chain.length < MAX_REPORTED_ERRORS) {
    const last = chain.at(-1);
    const cause = isError(last) ? read(last, 'cause') : undefined;
    if (cause === undefined || cause === null || chain.includes(cause)) break;
    chain.push(cause);
  }
  return chain;
}

function readString(value: unknown, key: string): string {
  const text = read(value, key);
  return typeof text === 'string' ? text : '';
}

function describe(value: unknown): string {
  if (typeof value === 'string') return cutMessage(value);
  if (typeof value === 'object' && value !== null) {
    return cutMessage(readString(value, 'message') || `${OBJECT}${toLine(value)}`);
  }
  return typeof value === 'function' ? 'a function' : cutMessage(String(value));
}

/** Never runs code of the object. */
function toLine(value: object): string {
  try {
    return `: ${inspect(value, { ...BRIEF, breakLength: Number.POSITIVE_INFINITY, customInspect: false })}`;
  } catch {
    return '';
  }
}

function cutMessage(message: string): string {
  return cutAtWord(message, MAX_MESSAGE_LENGTH, MAX_WORD_LENGTH);
}
