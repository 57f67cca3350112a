import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { Millisecond, Second } from '../../../shared/units.ts';
import type { ProductReporting } from '../product.ts';
import { requestInfo } from '../request/request-info.ts';
import type { Step } from '../request/step.ts';

/** Longer ids are cut before they are hashed, so that a caller cannot make the server hash long texts (characters). */
const MAX_ID_LENGTH = 200;

/** How long the function can block (ms), and for how long it is not called after it took longer (ms). */
const PATIENCE = 20 * Millisecond;
const REST = 60 * Second;

interface VisitorIdOptions {
  readonly visitorId: NonNullable<ProductReporting['visitorId']>;
  readonly log: Pick<Logger, 'warn'>;
}

/** Lets failures ask the product which visitor a request belongs to. Problems are logged once a minute. */
export function visitorId({ visitorId: find, log }: VisitorIdOptions): Step {
  let restsUntil = 0;

  function ask(req: IncomingMessage): string | undefined {
    const startedAt = performance.now();
    if (startedAt < restsUntil) return undefined;
    try {
      const id: unknown = find(req);
      const ms = performance.now() - startedAt;
      if (ms > PATIENCE)
        rest(
          `visitorId() in reporting.ts blocked the server for ${Math.round(ms)} ms. It is not called again for one minute. Use only data that the request already has.`,
        );
      if (id === undefined || (typeof id === 'string' && id !== '')) return id?.slice(0, MAX_ID_LENGTH);
      if (id instanceof Promise) id.catch(() => undefined);
      rest(
        'visitorId() in reporting.ts did not return a non-empty string. It is not called again for one minute. Return a string or undefined, not a promise.',
      );
    } catch (error) {
      rest('visitorId() in reporting.ts failed. It is not called again for one minute.', error);
    }
    return undefined;
  }

  function rest(sentence: string, err?: unknown): void {
    restsUntil = performance.now() + REST;
    log.warn(err === undefined ? {} : { err }, sentence);
  }

  return function visitorId(req, _res, next) {
    // A weak reference, because work that continues after the reply must not keep the whole request in memory.
    const seen = new WeakRef(req);
    requestInfo(req).askVisitorId = () => {
      const request = seen.deref();
      return request && ask(request);
    };
    next();
  };
}
