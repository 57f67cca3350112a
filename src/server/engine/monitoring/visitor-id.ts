import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { Millisecond, Second } from '../../../shared/units.ts';
import type { ProductReporting } from '../product.ts';
import { requestInfo } from '../request/request-info.ts';
import type { Step } from '../request/step.ts';

/** Longer ids are cut before they are hashed, so that nobody has much of them hashed (characters). */
const MAX_ID_LENGTH = 200;

/** What it may stand still for (ms), and how long it is not asked after it took longer (ms). */
const PATIENCE = 20 * Millisecond;
const REST = 60 * Second;

export interface VisitorIdOptions {
  readonly visitorId: NonNullable<ProductReporting['visitorId']>;
  readonly log: Pick<Logger, 'warn'>;
}

/** Lets whoever records a failure ask the owner whose request it was. What is wrong with the answer is logged, once a minute. */
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
          `visitorId() in reporting.ts took ${Math.round(ms)} ms, for which the server stood still. It is not asked for a minute. Let it read what the request has at hand.`,
        );
      if (id === undefined || (typeof id === 'string' && id !== '')) return id?.slice(0, MAX_ID_LENGTH);
      if (id instanceof Promise) id.catch(() => undefined);
      rest(
        'visitorId() in reporting.ts answered something that is no text. It is not asked for a minute. Let it return a string, not a promise of one, or undefined.',
      );
    } catch (error) {
      rest('visitorId() in reporting.ts failed. It is not asked for a minute.', error);
    }
    return undefined;
  }

  function rest(sentence: string, err?: unknown): void {
    restsUntil = performance.now() + REST;
    log.warn(err === undefined ? {} : { err }, sentence);
  }

  return function visitorId(req, _res, next) {
    // Weakly: what goes on behind a reply must not keep the whole request.
    const seen = new WeakRef(req);
    requestInfo(req).askVisitorId = () => {
      const request = seen.deref();
      return request && ask(request);
    };
    next();
  };
}
