import type { Response } from 'express';

/** Everything that changes the head of a response ends here, such as Express's `cookie()`, `status()` and `redirect()`. */
const CHANGES = new Set<string | symbol>([
  'setHeader',
  'setHeaders',
  'appendHeader',
  'removeHeader',
  'writeHead',
  'statusCode',
  'statusMessage',
]);

/**
 * Returns the response for a page's context. It refuses changes to status and headers once the head is fixed, also where
 * the head was not sent yet, so that personal values fail in the same way for crawlers and everyone else.
 */
export function withFixedHead(response: Response, isFixed: () => boolean): Response {
  function check(key: string | symbol): void {
    if (CHANGES.has(key) && isFixed()) throw new FixedHeadError(String(key));
  }
  return new Proxy(response, {
    get(target, key, proxy) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      check(key);
      return (...args: unknown[]) => Reflect.apply(value, isFixed() ? proxy : target, args);
    },
    set(target, key, value) {
      check(key);
      return Reflect.set(target, key, value, target);
    },
  });
}

/** A personal value changed the status or a header. */
class FixedHeadError extends Error {
  constructor(key: string) {
    super(
      `A personal value changed the response (${key}). Its status and headers, such as cookies, are sent with the shell, before personal values are loaded. Set them in a guard, an action or a step.`,
    );
    this.name = 'FixedHeadError';
  }
}
