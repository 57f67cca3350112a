import { types } from 'node:util';
import { KiB } from '../../../shared/units.ts';
import { MAX_SCRUBBED_LENGTH } from '../../limits.ts';
import { REDACTED } from './redact.ts';

/** Levels of nesting (count). */
const MAX_SCRUBBED_DEPTH = 12;
/** The longest flat list of headers (names and values). */
const MAX_FLAT = 200;
/** Values in total (count). */
const MAX_SCRUBBED_NODES = 5000;
/** Larger bigints are not written out: that takes longer than anything else here. */
const MAX_BIGINT = 10n ** 40n;
/** Text in total (UTF-16 code units): more than a report can hold. */
const MAX_SCRUBBED_TEXT = 256 * KiB;

/** The part of a scrubber that is needed here. */
interface ValueScrubber {
  text(text: string): string;
  hides(key: string): boolean;
}

/**
 * Copies any value as plain JSON data, without the values that `scrubber` hides by name or by text. Never throws. It
 * replaces unreadable values by `[unreadable]`, cycles by `[circular]`, and everything beyond the maximum depth or
 * size by `[cut]`.
 */
export function scrubValue(value: unknown, scrubber: ValueScrubber, maxNodes = MAX_SCRUBBED_NODES): unknown {
  const path = new Set<object>();
  let nodes = 0;
  let textLength = 0;

  function visit(value: unknown, depth: number): unknown {
    nodes += 1;
    if (nodes > maxNodes || textLength > MAX_SCRUBBED_TEXT) return '[cut]';
    if (typeof value === 'object' && value !== null) return visitObject(value, depth);
    return visitPrimitive(value);
  }

  function visitPrimitive(value: unknown): unknown {
    switch (typeof value) {
      case 'string':
        return toText(value);
      case 'number':
        return Number.isFinite(value) ? toNumber(value) : String(value);
      case 'bigint':
        return -MAX_BIGINT < value && value < MAX_BIGINT ? `${toText(String(value))}n` : '[bigint]';
      case 'symbol':
        return toText(String(value));
      case 'function':
        return '[function]';
      default:
        return value; // a boolean, null, undefined
    }
  }

  /** Scrubs card numbers that are stored as a number. */
  function toNumber(value: number): number | string {
    if (!Number.isSafeInteger(value) || Math.abs(value) < 1e12) return value;
    const text = String(value);
    const scrubbed = scrubber.text(text);
    return scrubbed === text ? value : scrubbed;
  }

  function toText(text: string): string {
    textLength += Math.min(text.length, MAX_SCRUBBED_LENGTH);
    return scrubber.text(text);
  }

  function visitObject(value: object, depth: number): unknown {
    if (path.has(value)) return '[circular]';
    if (depth >= MAX_SCRUBBED_DEPTH) return '[cut]';
    path.add(value);
    try {
      return copy(value, depth + 1);
    } catch {
      return '[unreadable]';
    } finally {
      path.delete(value);
    }
  }

  function copy(value: object, depth: number): unknown {
    if (types.isProxy(value)) return copyFields(value, depth);
    if (Array.isArray(value)) return copyArray(value, depth);
    if (types.isDate(value)) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
    if (types.isNativeError(value)) return copyError(value, depth);
    if (types.isMap(value)) return copyEntries(Map.prototype.entries.call(value), depth);
    if (types.isSet(value)) return copyItems(Set.prototype.values.call(value), depth);
    if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return `[${value.byteLength} bytes]`;
    if (types.isRegExp(value) || value instanceof URL) return toText(String(value));
    if (types.isBoxedPrimitive(value)) return visit(value.valueOf(), depth);
    return copyFields(value, depth);
  }

  function copyArray(value: readonly unknown[], depth: number): unknown[] {
    const isHidden = (index: number) => index % 2 === 1 && scrubber.hides(String(value[index - 1]));
    const isList = value.length === 2 || (value.length <= MAX_FLAT && value.every((item) => typeof item === 'string'));
    // An entry of a list of headers or fields, or a flat list of them, as Node's `rawHeaders` is.
    if (value.length % 2 === 0 && isList && typeof value[0] === 'string' && value.some((_, index) => isHidden(index))) {
      return value.map((item, index) => (isHidden(index) ? hide(item) : visit(item, depth)));
    }
    return copyItems(value, depth);
  }

  function copyItems(items: Iterable<unknown>, depth: number): unknown[] {
    const copies: unknown[] = [];
    for (const item of items) {
      copies.push(visit(item, depth));
      if (nodes > maxNodes) break;
    }
    return copies;
  }

  /** Adds the fields of a built-in error that are not enumerable. */
  function copyError(error: Error, depth: number): object {
    const own = ['name', 'message', 'cause'].map((key) => [key, read(error, key)] as const);
    return { ...copyEntries(own, depth), ...copyFields(error, depth) };
  }

  function copyFields(value: object, depth: number): object {
    return copyEntries(ownEntries(value), depth);
  }

  function copyEntries(entries: Iterable<readonly [unknown, unknown]>, depth: number): object {
    const copies: [string, unknown][] = [];
    let name: unknown;
    for (const [key, field] of entries) {
      const text = typeof key === 'string' ? key : typeof key === 'object' ? '[object]' : String(key);
      if (text === 'name' || text === 'key') name = field;
      const hidden = scrubber.hides(text) || (text === 'value' && typeof name === 'string' && scrubber.hides(name));
      copies.push([toText(text), hidden ? hide(field) : visit(field, depth)]);
      if (nodes > maxNodes) break;
    }
    // Unlike an assignment, it makes `__proto__` an ordinary field.
    return Object.fromEntries(copies);
  }

  /** Whether there is a value is not secret. */
  function hide(value: unknown): unknown {
    nodes += 1;
    return value === undefined || value === null || typeof value === 'boolean' || value === '' ? value : REDACTED;
  }

  return visit(value, 0);
}

function* ownEntries(value: object): Generator<readonly [string, unknown]> {
  for (const key in value) {
    if (Object.hasOwn(value, key)) yield [key, read(value, key)];
  }
}

function read(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return '[unreadable]';
  }
}
