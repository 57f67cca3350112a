import { type Fields, type Id, type Patch, type Path, type Segment, toPathText, VIEWS, WireError } from './format.ts';
import type { PageError } from './payload.ts';
import {
  holdRejections,
  isPlain,
  isPlainNumber,
  isPlainObject,
  isThenable,
  MAX_DATA_DEPTH,
  toPromise,
} from './plain.ts';

export interface Encoded {
  /** One line, without its line break. */
  readonly head: string;
  /** A line per promise, in the order in which they settle; undefined without promises. Can be read once. */
  readonly late: AsyncIterable<string> | undefined;
}

export interface EncodeOptions {
  /** Returns what the visitor can see of an error. Called for every `Error` value and every rejection. */
  readonly toError: (error: unknown) => PageError;
  /**
   * Sets the listener that ends `late` and rejects its pending promises with the reason. Called if there are promises,
   * and with `undefined` when `late` has ended. Not an `AbortSignal`, which costs as much as ten components.
   */
  readonly onAbort?: (listener: ((reason: unknown) => void) | undefined) => void;
  /** Returns the id of a hole, which gets no line here; undefined for any other promise. */
  readonly takeHole?: (promise: PromiseLike<unknown>, path: Path) => string | undefined;
}

/**
 * @throws WireError if the value contains something that cannot be sent: functions, symbols, cycles, class instances
 * without `toJSON`. In a deferred value, this becomes a rejection instead.
 */
export function encode(value: unknown, options: EncodeOptions): Encoded {
  const late = new LateLines(options);
  try {
    const head = toFrame(value, [], late);
    return { head, late: late.isUsed ? late.lines() : undefined };
  } catch (error) {
    holdRejections(value);
    throw error;
  }
}

/** Returns a line for each hole when it settles, and for each promise in its value. */
export function encodeHoles(
  holes: ReadonlyMap<string, PromiseLike<unknown>>,
  options: EncodeOptions,
): AsyncIterable<string> {
  const late = new LateLines(options, '~'); // the head has its own numbers
  for (const [id, promise] of holes) late.add(id, promise, [id]);
  return late.lines();
}

/**
 * The deferred values of one encoded value. A class, because a generator function that is made for each request gets a
 * new shape each time it is called. Only a full collection frees shapes, together with all that their function holds.
 */
class LateLines {
  readonly #options: EncodeOptions;
  readonly #prefix: string;
  readonly #ids = new Map<PromiseLike<unknown>, Id>();
  readonly #pending = new Set<Id>();
  readonly #ready: string[] = [];
  #wake: () => void = noop;

  constructor(options: EncodeOptions, prefix = '') {
    this.#options = options;
    this.#prefix = prefix;
  }

  get isUsed(): boolean {
    return this.#ids.size > 0;
  }

  /** A failed report must not cost the page its deferred values. */
  presentError(error: unknown): PageError {
    try {
      return this.#options.toError(error);
    } catch {
      return { kind: 'failure', status: 500 };
    }
  }

  /** Returns the id of a promise, which is stable. `path` is for error messages. */
  idOf(promise: PromiseLike<unknown>, path: Path): Id {
    const known = this.#ids.get(promise);
    if (known !== undefined) return known;
    const hole = this.#options.takeHole?.(promise, path);
    if (hole !== undefined) return hole;
    const id = this.#prefix ? `${this.#prefix}${this.#ids.size}` : this.#ids.size;
    this.add(id, promise, path);
    return id;
  }

  add(id: Id, promise: PromiseLike<unknown>, path: Path): void {
    this.#ids.set(promise, id);
    this.#pending.add(id);
    toPromise(promise).then(
      (value) => this.#addResolved(id, value, path),
      (error) => this.#addRejected(id, error),
    );
  }

  async *lines(): AsyncGenerator<string, void, undefined> {
    const { onAbort } = this.#options;
    // A microtask later, so that promises that have settled are sent.
    onAbort?.((reason) => queueMicrotask(() => this.#giveUp(reason)));
    try {
      while (this.#ready.length > 0 || this.#pending.size > 0) {
        const line = this.#ready.shift();
        if (line !== undefined) yield line;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      onAbort?.(undefined);
    }
  }

  #giveUp(reason: unknown): void {
    for (const id of this.#pending) this.#addRejected(id, reason);
  }

  #addLine(id: Id, line: string): void {
    if (!this.#pending.delete(id)) return; // already given up
    this.#ready.push(line);
    this.#wake();
  }

  #addRejected(id: Id, error: unknown): void {
    this.#addLine(id, `[${JSON.stringify(id)},1,{"d":${JSON.stringify(this.presentError(error))}}]`);
  }

  #addResolved(id: Id, value: unknown, path: Path): void {
    if (!this.#pending.has(id)) {
      holdRejections(value);
      return;
    }
    try {
      this.#addLine(id, `[${JSON.stringify(id)},0,${toFrame(value, path, this)}]`);
    } catch (error) {
      holdRejections(value);
      this.#addRejected(id, error);
    }
  }
}

/** @param base path of the value, for error messages: a deferred value is nested in another value */
function toFrame(root: unknown, base: Path, late: LateLines): string {
  return isPlain(root, 0) ? JSON.stringify({ d: root }) : new Frame(base, late).encode(root);
}

/** One value that JSON cannot represent: it gets stand-ins, and a patch for each of them. */
class Frame {
  readonly #base: Path;
  readonly #late: LateLines;
  readonly #path: Segment[] = [];
  readonly #ancestors: object[] = [];
  readonly #patches: Patch[] = [];
  #patched: Path = [];

  constructor(base: Path, late: LateLines) {
    this.#base = base;
    this.#late = late;
  }

  encode(root: unknown): string {
    const data = this.#visit(root);
    return JSON.stringify(this.#patches.length > 0 ? { d: data, p: this.#patches } : { d: data });
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
    if (value instanceof Error) return this.#patch('error', this.#late.presentError(value));
    if (value instanceof URL) return this.#patch('url', value.href);
    if (value instanceof ArrayBuffer) return this.#patch('ArrayBuffer', toBase64(new Uint8Array(value)));
    if (ArrayBuffer.isView(value)) return this.#visitView(value);
    return this.#visitNested(value);
  }

  #visitNested(value: object): unknown {
    if (isThenable(value)) return this.#patch('promise', this.#late.idOf(value, [...this.#base, ...this.#path]));
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

function noop(): void {}
