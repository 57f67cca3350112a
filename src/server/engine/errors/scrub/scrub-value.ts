import { types } from 'node:util';
import { KiB } from '../../../../shared/units.ts';
import { REDACTED } from './secret-patterns.ts';

/** Levels of nesting (a count). */
const MAX_DEPTH = 12;
/** Values in all (a count). */
const MAX_NODES = 5000;
/** A bigint past this is not spelled out: that takes longer than anything else here. */
const MAX_BIGINT = 10n ** 40n;
/** Text in all (UTF-16 code units): more than a report can hold. */
const MAX_TEXT = 256 * KiB;

/** What scrubbing asks of a scrubber. */
interface ValueScrubber {
  text(text: string): string;
  hides(key: string): boolean;
}

/**
 * A copy of anything as plain JSON data, with what `scrubber` hides taken out, by name and by text.
 * Never throws: what cannot be read is `[unreadable]`, what leads back to itself `[circular]`, and
 * what is past depth or size `[cut]`.
 */
export function scrubValue(value: unknown, scrubber: ValueScrubber): unknown {
  return new Walk(scrubber).visit(value, 0);
}

class Walk {
  readonly #scrubber: ValueScrubber;
  readonly #path = new Set<object>();
  #nodes = 0;
  #text = 0;

  constructor(scrubber: ValueScrubber) {
    this.#scrubber = scrubber;
  }

  visit(value: unknown, depth: number): unknown {
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES || this.#text > MAX_TEXT) return '[cut]';
    if (typeof value === 'object' && value !== null) return this.#visitObject(value, depth);
    return this.#visitPrimitive(value);
  }

  #visitPrimitive(value: unknown): unknown {
    switch (typeof value) {
      case 'string':
        return this.#toText(value);
      case 'number':
        return Number.isFinite(value) ? this.#toNumber(value) : String(value);
      case 'bigint':
        return -MAX_BIGINT < value && value < MAX_BIGINT ? `${this.#toText(String(value))}n` : '[bigint]';
      case 'symbol':
        return this.#toText(String(value));
      case 'function':
        return '[function]';
      default:
        return value; // a boolean, null, undefined
    }
  }

  /** A card's number is one as a number too. */
  #toNumber(value: number): number | string {
    if (!Number.isSafeInteger(value) || Math.abs(value) < 1e12) return value;
    const text = String(value);
    const scrubbed = this.#scrubber.text(text);
    return scrubbed === text ? value : scrubbed;
  }

  #toText(text: string): string {
    this.#text += Math.min(text.length, 16 * KiB);
    return this.#scrubber.text(text);
  }

  #visitObject(value: object, depth: number): unknown {
    if (this.#path.has(value)) return '[circular]';
    if (depth >= MAX_DEPTH) return '[cut]';
    this.#path.add(value);
    try {
      return this.#copy(value, depth + 1);
    } catch {
      return '[unreadable]';
    } finally {
      this.#path.delete(value);
    }
  }

  #copy(value: object, depth: number): unknown {
    if (types.isProxy(value)) return this.#copyFields(value, depth);
    if (Array.isArray(value)) return this.#copyArray(value, depth);
    if (types.isDate(value)) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
    if (types.isNativeError(value)) return this.#copyError(value, depth);
    if (types.isMap(value)) return this.#copyEntries(Map.prototype.entries.call(value), depth);
    if (types.isSet(value)) return this.#copyItems(Set.prototype.values.call(value), depth);
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (types.isAnyArrayBuffer(value)) return `[${value.byteLength} bytes]`;
    if (types.isRegExp(value) || value instanceof URL) return this.#toText(String(value));
    if (types.isBoxedPrimitive(value)) return this.visit(value.valueOf(), depth);
    return this.#copyFields(value, depth);
  }

  #copyArray(value: readonly unknown[], depth: number): unknown[] {
    const [name, second] = value;
    // An entry of a list of headers or fields.
    if (value.length === 2 && typeof name === 'string' && this.#scrubber.hides(name)) {
      return [this.#toText(name), this.#hide(second)];
    }
    return this.#copyItems(value, depth);
  }

  #copyItems(items: Iterable<unknown>, depth: number): unknown[] {
    const copies: unknown[] = [];
    for (const item of items) {
      copies.push(this.visit(item, depth));
      if (this.#nodes > MAX_NODES) break;
    }
    return copies;
  }

  /** What a built-in error carries is not listed among its fields. */
  #copyError(error: Error, depth: number): object {
    const own = ['name', 'message', 'cause'].map((key) => [key, read(error, key)] as const);
    return { ...this.#copyEntries(own, depth), ...this.#copyFields(error, depth) };
  }

  #copyFields(value: object, depth: number): object {
    return this.#copyEntries(ownEntries(value), depth);
  }

  #copyEntries(entries: Iterable<readonly [unknown, unknown]>, depth: number): object {
    const copies: [string, unknown][] = [];
    let name: unknown;
    for (const [key, field] of entries) {
      const text = typeof key === 'string' ? key : typeof key === 'object' ? '[object]' : String(key);
      if (text === 'name' || text === 'key') name = field;
      const hidden =
        this.#scrubber.hides(text) || (text === 'value' && typeof name === 'string' && this.#scrubber.hides(name));
      copies.push([this.#toText(text), hidden ? this.#hide(field) : this.visit(field, depth)]);
      if (this.#nodes > MAX_NODES) break;
    }
    // Unlike an assignment it makes `__proto__` a field like any other.
    return Object.fromEntries(copies);
  }

  /** That there is none, or whether there is one, is no secret. */
  #hide(value: unknown): unknown {
    this.#nodes += 1;
    return value === undefined || value === null || typeof value === 'boolean' || value === '' ? value : REDACTED;
  }
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
