import type { Fields } from './format.ts';

/** Nesting levels of arrays and objects: far more than real data has, far fewer than fit on the stack. */
export const MAX_DATA_DEPTH = 1000;

/** Whether `JSON.stringify` loses nothing. False beyond `MAX_DATA_DEPTH`, which also ends cycles. */
export function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === 'string' || value === null || typeof value === 'boolean') return true;
  if (typeof value === 'number') return isPlainNumber(value);
  if (typeof value !== 'object' || depth >= MAX_DATA_DEPTH) return false;
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

export function isPlainNumber(value: number): boolean {
  return value === 0 ? 1 / value > 0 : Number.isFinite(value);
}

/** Also true for objects from another realm. */
export function isPlainObject(value: object): value is Fields {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

export function isThenable(value: object): value is PromiseLike<unknown> {
  return 'then' in value && typeof value.then === 'function';
}

const ran = new WeakMap<PromiseLike<unknown>, Promise<unknown>>();

/**
 * Returns a promise of a value that arrives later. A query of some libraries runs each time its `then` is called, so it
 * gets the same promise whenever it is asked for.
 */
export function toPromise<Value>(later: PromiseLike<Value>): Promise<Value> {
  if (later instanceof Promise) return later;
  const promise = ran.get(later) ?? Promise.resolve(later);
  ran.set(later, promise);
  return promise as Promise<Value>; // set here, for the same value
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
    if (item instanceof Promise) item.catch(() => {});
    else if (item instanceof Map) for (const entry of item) queue.push(...entry);
    else if (item instanceof Set) for (const one of item) queue.push(one);
    else if (Array.isArray(item) || isPlainObject(item)) {
      for (const key of Object.keys(item)) {
        const field = (item as unknown as Fields)[key];
        if (typeof field === 'object') queue.push(field);
      }
    }
  }
}
