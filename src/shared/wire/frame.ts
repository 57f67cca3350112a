import { type Fields, type Id, type Patch, type Path, type Segment, toPathText, VIEWS, WireError } from './format.ts';
import type { PageError } from './payload.ts';
import { isPlain, isPlainNumber, isPlainObject, isThenable, MAX_DATA_DEPTH } from './plain.ts';

/** Takes what a value has that is not sent with it. */
interface DeferredValues {
  /** Returns what the visitor can see of an error. */
  presentError(error: Error): PageError;
  /** Returns the id of the line that a promise gets. */
  idOf(promise: PromiseLike<unknown>, path: Path): Id;
}

/** @param base path of the value, for error messages: a deferred value is nested in another value */
export function toFrame(root: unknown, base: Path, deferred: DeferredValues): object {
  return isPlain(root, 0) ? { d: root } : new Frame(base, deferred).make(root);
}

/** One value that JSON cannot represent: it gets stand-ins, and a patch for each of them. */
class Frame {
  readonly #base: Path;
  readonly #deferred: DeferredValues;
  readonly #path: Segment[] = [];
  readonly #ancestors: object[] = [];
  readonly #patches: Patch[] = [];
  #patched: Path = [];

  constructor(base: Path, deferred: DeferredValues) {
    this.#base = base;
    this.#deferred = deferred;
  }

  make(root: unknown): object {
    const data = this.#visit(root);
    return this.#patches.length > 0 ? { d: data, p: this.#patches } : { d: data };
  }

  #patch<StandIn>(type: string, standIn: StandIn): StandIn {
    let keep = 0;
    while (keep < this.#path.length && keep < this.#patched.length && this.#path[keep] === this.#patched[keep]) keep++;
    this.#patches.push([type, keep, ...this.#path.slice(keep)]);
    this.#patched = this.#path.slice();
    return standIn;
  }

  #refuse(what: string, advice: string): never {
    throw new WireError(
      `${toPathText([...this.#base, ...this.#path])} is ${what}, which cannot be sent to the browser. ${advice}`,
    );
  }

  #visitAt(segment: Segment, value: unknown): unknown {
    this.#path.push(segment);
    const standIn = this.#visit(value);
    this.#path.pop();
    return standIn;
  }

  #visit(value: unknown): unknown {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        return isPlainNumber(value) ? value : this.#patch('number', Object.is(value, -0) ? '-0' : String(value));
      case 'undefined':
        return this.#patch('undefined', null);
      case 'bigint':
        return this.#patch('bigint', String(value));
      case 'object':
        return value === null ? null : this.#visitObject(value);
      default:
        return this.#refuse(`a ${typeof value}`, 'Leave it out, or return the data that it stands for.');
    }
  }

  #visitObject(value: object): unknown {
    if (Object.getPrototypeOf(value) === Object.prototype || Array.isArray(value)) return this.#visitNested(value);
    if (value instanceof Date) return this.#patch('date', Number.isNaN(value.getTime()) ? null : value.getTime());
    if (value instanceof Error) return this.#patch('error', this.#deferred.presentError(value));
    if (value instanceof URL) return this.#patch('url', value.href);
    if (value instanceof ArrayBuffer) return this.#patch('ArrayBuffer', toBase64(new Uint8Array(value)));
    if (ArrayBuffer.isView(value)) return this.#visitView(value);
    return this.#visitNested(value);
  }

  #visitNested(value: object): unknown {
    if (isThenable(value)) return this.#patch('promise', this.#deferred.idOf(value, [...this.#base, ...this.#path]));
    if (this.#ancestors.includes(value))
      this.#refuse('part of itself', 'Return data without cycles: an id in place of the object.');
    if (this.#ancestors.length >= MAX_DATA_DEPTH)
      this.#refuse(`more than ${MAX_DATA_DEPTH} levels deep`, 'Return flatter data.');
    this.#ancestors.push(value);
    const standIn = this.#visitContainer(value);
    this.#ancestors.pop();
    return standIn;
  }

  #visitContainer(value: object): unknown {
    // Visits the content before it adds the patch, because inner patches precede outer ones.
    if (value instanceof Map) return this.#patch('map', this.#visitArray(Array.from(value)));
    if (value instanceof Set) return this.#patch('set', this.#visitArray(Array.from(value)));
    if ('toJSON' in value && typeof value.toJSON === 'function')
      return this.#visit(value.toJSON(String(this.#path.at(-1) ?? '')));
    // Most lists are plain, which takes a fraction of the time of a visit. If one is not, its first item usually shows it.
    if (Array.isArray(value)) return isPlain(value, this.#ancestors.length) ? value : this.#visitArray(value);
    if (isPlainObject(value)) return this.#visitFields(value);
    const name = value.constructor?.name || 'a class';
    return this.#refuse(
      `an instance of ${name}`,
      'Return a plain object with the fields that the page needs, or give the class a toJSON().',
    );
  }

  #visitView(value: ArrayBufferView): unknown {
    const type = Object.prototype.toString.call(value).slice('[object '.length, -1);
    if (!Object.hasOwn(VIEWS, type)) this.#refuse(`a ${type}`, 'Return it as a Uint8Array.');
    return this.#patch(type, toBase64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)));
  }

  /** Copies only if an item has a stand-in. */
  #visitArray(items: readonly unknown[]): readonly unknown[] {
    let copy: unknown[] | undefined;
    for (let i = 0; i < items.length; i++) {
      const item = items[i];
      if (item === undefined && !(i in items)) return this.#visitSparse(items);
    }
    for (let i = 0; i < items.length; i++) {
      const item = items[i];
      if (typeof item === 'string') continue;
      const standIn = this.#visitAt(i, item);
      if (standIn === item) continue;
      copy ??= Array.from(items);
      copy[i] = standIn;
    }
    return copy ?? items;
  }

  /** Lists items with their index, because `new Array(1e9)` is a small value. */
  #visitSparse(items: readonly unknown[]): readonly unknown[] {
    const standIn: unknown[] = [items.length];
    for (const key of Object.keys(items)) {
      const index = Number(key);
      if (String(index >>> 0) !== key || index >= items.length) continue; // a named property of the array
      standIn.push(index, this.#visitAt(standIn.length + 1, items[index]));
    }
    return this.#patch('sparse', standIn);
  }

  #visitFields(fields: Fields): Fields {
    let copy: Fields | undefined;
    for (const key of Object.keys(fields)) {
      const field = fields[key];
      if (typeof field === 'string') continue;
      const standIn = this.#visitAt(key, field);
      if (standIn === field) continue;
      // A spread makes every key an own property, even `__proto__`, so that assigning to it is then harmless.
      copy ??= { ...fields };
      copy[key] = standIn;
    }
    return copy ?? fields;
  }
}

/** Arguments to one call of `String.fromCharCode`: engines limit their number. */
const CHUNK = 0x2000;

// `Uint8Array.prototype.toBase64` is missing in the oldest supported versions of Node and browsers.
function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let i = 0; i < bytes.length; i += CHUNK) binary += String.fromCharCode(...bytes.subarray(i, i + CHUNK));
  return btoa(binary);
}
