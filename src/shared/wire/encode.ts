import type { Id, Path } from './format.ts';
import { toFrame } from './frame.ts';
import type { PageError } from './payload.ts';
import { holdRejections, toPromise } from './plain.ts';

export interface Encoded {
  /** One line, without its line break. */
  readonly head: string;
  /** A line per promise, in the order in which they settle; undefined without promises. Can be read once. */
  readonly deferred: AsyncIterable<string> | undefined;
}

export interface EncodeOptions {
  /** Returns what the visitor can see of an error. Called for every `Error` value and every rejection. */
  readonly toError: (error: unknown) => PageError;
  /**
   * Sets the listener that ends `deferred` and rejects its pending promises with the reason. Called if there are
   * promises, and with `undefined` when `deferred` has ended. Not an `AbortSignal`, which costs as much as ten
   * components.
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
  const deferred = new DeferredLines(options);
  try {
    const head = JSON.stringify(toFrame(value, [], deferred));
    return { head, deferred: deferred.isUsed ? deferred.lines() : undefined };
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
  const deferred = new DeferredLines(options, '~'); // the head has its own numbers
  for (const [id, promise] of holes) deferred.add(id, promise, [id]);
  return deferred.lines();
}

/**
 * The deferred values of one encoded value. A class, because a generator function that is made for each request gets a
 * new shape each time it is called. Only a full collection frees shapes, together with all that their function holds.
 */
class DeferredLines {
  readonly #options: EncodeOptions;
  readonly #prefix: string;
  readonly #ids = new Map<PromiseLike<unknown>, Id>();
  readonly #pending = new Set<Id>();
  readonly #ready: string[] = [];
  /** Promises that got an id so far (count). */
  #count = 0;
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
    const id = this.#prefix ? `${this.#prefix}${this.#count}` : this.#count;
    this.add(id, promise, path);
    return id;
  }

  add(id: Id, promise: PromiseLike<unknown>, path: Path): void {
    this.#ids.set(promise, id);
    this.#count += 1;
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

  /** The browser knows no promise of a value that was not sent, and refuses its line. */
  #forgetSince(known: number): void {
    for (const [promise, id] of [...this.#ids].slice(known)) {
      this.#ids.delete(promise);
      this.#pending.delete(id);
    }
  }

  #addRejected(id: Id, error: unknown): void {
    this.#addLine(id, JSON.stringify([id, 1, { d: this.presentError(error) }]));
  }

  #addResolved(id: Id, value: unknown, path: Path): void {
    if (!this.#pending.has(id)) {
      holdRejections(value);
      return;
    }
    const known = this.#ids.size;
    try {
      this.#addLine(id, JSON.stringify([id, 0, toFrame(value, path, this)]));
    } catch (error) {
      holdRejections(value);
      this.#forgetSince(known);
      this.#addRejected(id, error);
    }
  }
}

function noop(): void {}
