import { type Fields, type Frame, type Id, type Segment, VIEWS } from './format.ts';
import type { PageError } from './payload.ts';

/** A promise with the fields from which React's `use()` reads a settled value without suspending. */
export interface DeferredPromise extends Promise<unknown> {
  status?: 'pending' | 'fulfilled' | 'rejected';
  value?: unknown;
  reason?: unknown;
}

export interface Decoder {
  /** Reads the first line. */
  head(line: string): unknown;
  /** Reads a further line, and settles its promise. */
  deferred(line: string): void;
  /** Rejects all pending and future promises, because no more lines will arrive. */
  abort(error: unknown): void;
  /** Number of promises without their line. */
  readonly pending: number;
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

interface Deferred {
  readonly promise: DeferredPromise;
  /** Has no effect after the first call. */
  settle(status: 'fulfilled' | 'rejected', outcome: unknown): void;
}

/**
 * Decodes the output of `encode`. It evaluates no code and never sets a prototype.
 *
 * `head` and `deferred` throw an `Error` for a truncated or invalid line: call `abort` then.
 */
export function createDecoder(): Decoder {
  const deferreds = new Map<Id, Deferred>();
  let aborted: { readonly error: unknown } | undefined;

  const listPending = () => [...deferreds.values()].filter(({ promise }) => promise.status === 'pending');

  function toPromise(id: Id): DeferredPromise {
    const known = deferreds.get(id);
    if (known) return known.promise;
    const deferred = createDeferred();
    deferreds.set(id, deferred);
    if (aborted) deferred.settle('rejected', aborted.error);
    return deferred.promise;
  }

  function readDeferred(line: string): void {
    const [id, failed, frame] = JSON.parse(line) as [Id, 0 | 1, Frame];
    const deferred = deferreds.get(id);
    if (!deferred || (failed !== 0 && failed !== 1)) throw new Error(`unknown promise ${id}`);
    const value = toValue(frame, toPromise);
    if (failed) deferred.settle('rejected', new WireFailure(toPageError(value)));
    else deferred.settle('fulfilled', value);
  }

  return {
    head: (line) => guard(() => toValue(JSON.parse(line) as Frame, toPromise)),
    deferred: (line) => guard(() => readDeferred(line)),
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
  const promise: DeferredPromise = new Promise((onValue, onError) => {
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

type ToPromise = (id: Id) => DeferredPromise;

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

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

function noop(): void {}
