import type { Logger } from 'pino';
import { currentRequest } from '../request/request-info.ts';
import type { Funnel } from './funnel.ts';

export interface ProcessFaultsOptions {
  readonly funnel: Funnel;
  readonly log: Logger;
  /** Drains and ends the process with this code. */
  readonly stop: (code: number) => void;
  /** Moves what was kept to where others look for it, standing still meanwhile: there may be no time later. */
  readonly flushSync?: () => void;
}

/**
 * A rejection that nobody handled, with a request in its context, is that request's failure and the
 * process lives. Everything else leaves the process in a state that nobody knows, so it drains and
 * ends; what is in flight finishes.
 *
 * @returns takes the handlers off again
 */
export function watchProcess({ funnel, log, stop, flushSync }: ProcessFaultsOptions): () => void {
  function handleRejection(reason: unknown): void {
    const info = currentRequest();
    if (info) funnel.fail(reason, { origin: 'request', info });
    // If the product or an existing app has a handler too, that handler decides whether the process goes on.
    else if (process.listenerCount('unhandledRejection') > 1) funnel.fail(reason, { origin: 'process' });
    else handleException(reason);
  }

  function handleException(error: unknown): void {
    const disposition = funnel.fail(error, { origin: 'process' });
    if (disposition.kind === 'visitor-gone') return;
    flushSync?.();
    log.fatal('Something failed outside any request. The server finishes what is in flight and ends.');
    stop(1);
  }

  process.on('unhandledRejection', handleRejection);
  process.on('uncaughtException', handleException);
  return () => {
    process.off('unhandledRejection', handleRejection);
    process.off('uncaughtException', handleException);
  };
}
