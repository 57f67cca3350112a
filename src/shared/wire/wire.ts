import type { PageError } from './payload.ts';

/**
 * The format of all values sent to the browser, in the document and as page data.
 *
 * A value is one *frame*. Plain JSON is `{"d":<value>}`, written and read by the JSON built-ins without a replacer or a
 * reviver, which would cost several times as much (react/react#35776). For other types, `d` has JSON stand-ins, and `p`
 * lists their meaning:
 *
 *     {"d":{"rows":[{"when":0}],"late":1},"p":[["date",0,"rows",0,"when"],["promise",0,"late"]]}
 *
 * A patch is `[type, keep, ...segments]`. Its path is the first `keep` segments of the previous patch, followed by
 * `segments`. Inner patches precede outer ones, so a path always leads through stand-ins.
 *
 * Each promise has an id. The first line is a frame, the head. Each promise that settles adds a line: `[id,0,<frame>]`,
 * or `[id,1,<frame of a PageError>]` if it was rejected. The id of a hole is its path, so that lines of `encodeHoles` fit
 * every head of the same page.
 */
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

/** Keys and indexes from the encoded value to one inside it. */
export type Path = readonly Segment[];

/** A promise with the fields from which React's `use()` reads a settled value without suspending. */
export interface LatePromise extends Promise<unknown> {
  status?: 'pending' | 'fulfilled' | 'rejected';
  value?: unknown;
  reason?: unknown;
}

export interface Decoder {
  /** Reads the first line. */
  head(line: string): unknown;
  /** Reads a further line, and settles its promise. */
  late(line: string): void;
  /** Rejects all pending and future promises, because no more lines will arrive. */
  abort(error: unknown): void;
  /** Number of promises without their line. */
  readonly pending: number;
}

/** Thrown if the data of a loader or an action cannot be sent. The message has its path and what to do. */
export class WireError extends TypeError {
  override readonly name = 'WireError';
}

/** In the browser: an error from the server, or the rejection of a deferred value. */
export class WireFailure extends Error {
  override readonly name = 'WireFailure';
  readonly pageError: PageError;
  readonly digest: string | undefined;

  constructor(pageError: PageError) {
    super('This part of the page failed on the server.');
    this.pageError = pageError;
    this.digest = pageError.digest;
  }
}

type Segment = string | number;
/** A hole's is its path. */
type Id = string | number;
type Patch = readonly [type: string, keep: number, ...segments: Segment[]];
type Fields = Record<string, unknown>;

interface Frame {
  d: unknown;
  p?: readonly Patch[];
}

/** Nesting levels of arrays and objects: far more than real data has, far fewer than fit on the stack. */
const MAX_DEPTH = 1000;

const VIEWS: Readonly<Record<string, new (buffer: ArrayBuffer) => ArrayBufferView>> = {
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
};

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
 * Adds a rejection handler to every promise inside a value. Without it, a promise that rejects before it is encoded (the
 * page waits for another loader, or cannot be sent) would end the process.
 */
export function holdRejections(value: unknown): void {
  if (isPlain(value, 0)) return;
  const seen = new Set<unknown>();
  const queue = [value];
  for (const item of queue) {
    if (typeof item !== 'object' || item === null || seen.has(item)) continue;
    seen.add(item);
    if (item instanceof Promise) item.catch(noop);
    else if (item instanceof Map) queue.push(...item.keys(), ...item.values());
    else if (item instanceof Set) queue.push(...item);
    else if (Array.isArray(item) || isPlainObject(item)) {
      for (const key of Object.keys(item)) {
        const field = (item as unknown as Fields)[key];
        if (typeof field === 'object') queue.push(field);
      }
    }
  }
}

/**
 * Escapes JSON for a `<script type="application/json">` block. In JSON, `<` occurs only inside strings. Without it, no
 * `</script` ends the block and no `<!--` changes its parsing
 * (https://html.spec.whatwg.org/multipage/scripting.html#restrictions-for-contents-of-script-elements).
 */
export function toScriptText(line: string): string {
  return line.replace(/[<\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Whether `JSON.stringify` loses nothing. False beyond `MAX_DEPTH`, which also ends cycles. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === 'string' || value === null || typeof value === 'boolean') return true;
  if (typeof value === 'number') return isPlainNumber(value);
  if (typeof value !== 'object' || depth >= MAX_DEPTH) return false;
  if (Array.isArray(value)) {
    if (Object.getPrototypeOf(value) !== Array.prototype) return false;
    for (let i = 0; i < value.length; i++) {
      if (!isPlain(value[i], depth + 1)) return false;
    }
    return true;
  }
  if (!isPlainObject(value)) return false;
  // `for in` is the fastest loop. It also visits keys of a polluted prototype, which at worst cause the slower walk.
  for (const key in value) {
    const field = value[key];
    if (typeof field !== 'string' && !isPlain(field, depth + 1)) return false;
  }
  return true;
}

function isPlainNumber(value: number): boolean {
  return value === 0 ? 1 / value > 0 : Number.isFinite(value);
}

/** Also true for objects from another realm. */
function isPlainObject(value: object): value is Fields {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

function isThenable(value: object): value is PromiseLike<unknown> {
  return 'then' in value && typeof value.then === 'function';
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
  #wake = noop;

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
    Promise.resolve(promise).then(
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
  if (isPlain(root, 0)) return JSON.stringify({ d: root });
  const path: Segment[] = [];
  const ancestors: object[] = [];
  const patches: Patch[] = [];
  let patched: Path = [];

  function patch<StandIn>(type: string, standIn: StandIn): StandIn {
    let keep = 0;
    while (keep < path.length && keep < patched.length && path[keep] === patched[keep]) keep++;
    patches.push([type, keep, ...path.slice(keep)]);
    patched = path.slice();
    return standIn;
  }

  function refuse(what: string, advice: string): never {
    throw new WireError(`${toPathText([...base, ...path])} is ${what}, which cannot be sent to the browser. ${advice}`);
  }

  function visitAt(segment: Segment, value: unknown): unknown {
    path.push(segment);
    const standIn = visit(value);
    path.pop();
    return standIn;
  }

  function visit(value: unknown): unknown {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        return isPlainNumber(value) ? value : patch('number', Object.is(value, -0) ? '-0' : String(value));
      case 'undefined':
        return patch('undefined', null);
      case 'bigint':
        return patch('bigint', String(value));
      case 'object':
        return value === null ? null : visitObject(value);
      default:
        return refuse(`a ${typeof value}`, 'Leave it out, or return the data that it stands for.');
    }
  }

  function visitObject(value: object): unknown {
    if (Object.getPrototypeOf(value) === Object.prototype || Array.isArray(value)) return visitNested(value);
    if (value instanceof Date) return patch('date', Number.isNaN(value.getTime()) ? null : value.getTime());
    if (value instanceof Error) return patch('error', late.presentError(value));
    if (value instanceof URL) return patch('url', value.href);
    if (value instanceof ArrayBuffer) return patch('ArrayBuffer', toBase64(new Uint8Array(value)));
    if (ArrayBuffer.isView(value)) return visitView(value);
    return visitNested(value);
  }

  function visitNested(value: object): unknown {
    if (isThenable(value)) return patch('promise', late.idOf(value, [...base, ...path]));
    if (ancestors.includes(value))
      refuse('part of itself', 'Return data without cycles: an id in place of the object.');
    if (ancestors.length >= MAX_DEPTH) refuse(`more than ${MAX_DEPTH} levels deep`, 'Return flatter data.');
    ancestors.push(value);
    const standIn = visitContainer(value);
    ancestors.pop();
    return standIn;
  }

  function visitContainer(value: object): unknown {
    // Visits the content before it adds the patch, because inner patches precede outer ones.
    if (value instanceof Map) return patch('map', visitArray(Array.from(value)));
    if (value instanceof Set) return patch('set', visitArray(Array.from(value)));
    if ('toJSON' in value && typeof value.toJSON === 'function') return visit(value.toJSON(String(path.at(-1) ?? '')));
    // Most lists are plain, which takes a fraction of the time of a visit. If one is not, its first item usually shows it.
    if (Array.isArray(value)) return isPlain(value, ancestors.length) ? value : visitArray(value);
    if (isPlainObject(value)) return visitFields(value);
    const name = value.constructor?.name || 'a class';
    return refuse(
      `an instance of ${name}`,
      'Return a plain object with the fields that the page needs, or give the class a toJSON().',
    );
  }

  function visitView(value: ArrayBufferView): unknown {
    const type = Object.prototype.toString.call(value).slice('[object '.length, -1);
    if (!Object.hasOwn(VIEWS, type)) refuse(`a ${type}`, 'Return it as a Uint8Array.');
    return patch(type, toBase64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)));
  }

  /** Copies only if an item has a stand-in. */
  function visitArray(items: readonly unknown[]): readonly unknown[] {
    let copy: unknown[] | undefined;
    for (let i = 0; i < items.length; i++) {
      const item = items[i];
      if (item === undefined && !(i in items)) return visitSparse(items);
    }
    for (let i = 0; i < items.length; i++) {
      const item = items[i];
      if (typeof item === 'string') continue;
      const standIn = visitAt(i, item);
      if (standIn === item) continue;
      copy ??= Array.from(items);
      copy[i] = standIn;
    }
    return copy ?? items;
  }

  /** Lists items with their index, because `new Array(1e9)` is a small value. */
  function visitSparse(items: readonly unknown[]): readonly unknown[] {
    const standIn: unknown[] = [items.length];
    for (const key of Object.keys(items)) {
      const index = Number(key);
      if (String(index >>> 0) !== key || index >= items.length) continue; // a named property of the array
      standIn.push(index, visitAt(standIn.length + 1, items[index]));
    }
    return patch('sparse', standIn);
  }

  function visitFields(fields: Fields): Fields {
    let copy: Fields | undefined;
    for (const key of Object.keys(fields)) {
      const field = fields[key];
      if (typeof field === 'string') continue;
      const standIn = visitAt(key, field);
      if (standIn === field) continue;
      // A spread makes every key an own property, even `__proto__`, so that assigning to it is then harmless.
      copy ??= { ...fields };
      copy[key] = standIn;
    }
    return copy ?? fields;
  }

  const data = visit(root);
  return JSON.stringify(patches.length > 0 ? { d: data, p: patches } : { d: data });
}

/** Writes a path as in code: `data.cart.items[0]`. */
export function toPathText(path: Path): string {
  const text = path.map((part) => {
    if (typeof part === 'number') return `[${part}]`;
    return /^[\w$@-]+$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`;
  });
  return text.join('').replace(/^\./, '') || 'The value itself';
}

interface Deferred {
  readonly promise: LatePromise;
  /** Has no effect after the first call. */
  settle(status: 'fulfilled' | 'rejected', outcome: unknown): void;
}

/**
 * Decodes the output of `encode`. It evaluates no code and never sets a prototype.
 *
 * `head` and `late` throw an `Error` for a truncated or invalid line: call `abort` then.
 */
export function createDecoder(): Decoder {
  const deferreds = new Map<Id, Deferred>();
  let aborted: { readonly error: unknown } | undefined;

  const listPending = () => [...deferreds.values()].filter(({ promise }) => promise.status === 'pending');

  function toPromise(id: Id): LatePromise {
    const known = deferreds.get(id);
    if (known) return known.promise;
    const deferred = createDeferred();
    deferreds.set(id, deferred);
    if (aborted) deferred.settle('rejected', aborted.error);
    return deferred.promise;
  }

  function readLate(line: string): void {
    const [id, failed, frame] = JSON.parse(line) as [Id, 0 | 1, Frame];
    const deferred = deferreds.get(id);
    if (!deferred || (failed !== 0 && failed !== 1)) throw new Error(`unknown promise ${id}`);
    const value = toValue(frame, toPromise);
    if (failed) deferred.settle('rejected', new WireFailure(toPageError(value)));
    else deferred.settle('fulfilled', value);
  }

  return {
    head: (line) => guard(() => toValue(JSON.parse(line) as Frame, toPromise)),
    late: (line) => guard(() => readLate(line)),
    abort(error) {
      aborted ??= { error };
      for (const deferred of listPending()) deferred.settle('rejected', error);
    },
    get pending() {
      return listPending().length;
    },
  };
}

function guard<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error('A line from the server is truncated or is not in the wire format.', { cause });
  }
}

function createDeferred(): Deferred {
  let resolve = noop as (value: unknown) => void;
  let reject = noop as (error: unknown) => void;
  const promise: LatePromise = new Promise((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  promise.status = 'pending';
  promise.catch(noop); // a value that is never rendered must not become an unhandled rejection
  return {
    promise,
    settle(status, outcome) {
      if (promise.status !== 'pending') return;
      promise.status = status;
      promise[status === 'fulfilled' ? 'value' : 'reason'] = outcome;
      (status === 'fulfilled' ? resolve : reject)(outcome);
    },
  };
}

type ToPromise = (id: Id) => LatePromise;

function toValue(frame: Frame, toPromise: ToPromise): unknown {
  if (!Object.hasOwn(frame, 'd')) throw new Error('no data');
  if (frame.p === undefined) return frame.d;
  const path: Segment[] = ['d'];
  for (const [type, keep, ...segments] of frame.p) {
    if (!(keep >= 0)) throw new Error('no path');
    path.length = Math.min(path.length, keep + 1);
    path.push(...segments);
    let parent: unknown = frame;
    for (let i = 0; i < path.length - 1; i++) parent = ownField(parent, path[i]);
    const last = path[path.length - 1];
    // The stand-in is an own property, so the assignment never reaches the `__proto__` setter.
    (parent as Fields)[last as string] = revive(type, ownField(parent, last), toPromise);
  }
  return frame.d;
}

function ownField(parent: unknown, key: Segment | undefined): unknown {
  if (typeof parent !== 'object' || parent === null || key === undefined || !Object.hasOwn(parent, key)) {
    throw new Error('a patch leads nowhere');
  }
  return (parent as Fields)[key];
}

function revive(type: string, standIn: unknown, toPromise: ToPromise): unknown {
  switch (type) {
    case 'undefined':
      return undefined;
    case 'number':
      return Number(standIn);
    case 'bigint':
      return BigInt(standIn as string);
    case 'date':
      return new Date((standIn as number | null) ?? Number.NaN);
    case 'url':
      return new URL(standIn as string);
    case 'map':
      return new Map(standIn as [unknown, unknown][]);
    case 'set':
      return new Set(standIn as unknown[]);
    case 'sparse':
      return toSparse(standIn as [number, ...unknown[]]);
    case 'error':
      return new WireFailure(toPageError(standIn));
    case 'promise':
      return toPromise(standIn as Id);
    case 'ArrayBuffer':
      return fromBase64(standIn as string).buffer;
    default: {
      const View = Object.hasOwn(VIEWS, type) ? VIEWS[type] : undefined;
      if (!View) throw new Error('an unknown type');
      return new View(fromBase64(standIn as string).buffer);
    }
  }
}

function toSparse([length, ...entries]: readonly [number, ...unknown[]]): unknown[] {
  const items: unknown[] = new Array(length);
  for (let i = 0; i < entries.length; i += 2) items[entries[i] as number] = entries[i + 1];
  return items;
}

function toPageError(value: unknown): PageError {
  if (typeof value === 'object' && value !== null && 'kind' in value && 'status' in value) return value as PageError;
  throw new Error('no page error');
}

/** Arguments to one call of `String.fromCharCode`: engines limit their number. */
const CHUNK = 0x2000;

// `Uint8Array.prototype.toBase64` is missing in the oldest supported versions of Node and browsers.
function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let i = 0; i < bytes.length; i += CHUNK) binary += String.fromCharCode(...bytes.subarray(i, i + CHUNK));
  return btoa(binary);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

function noop(): void {}
