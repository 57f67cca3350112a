import type { Logger } from 'pino';
import { currentRequest } from '../request/request-info.ts';
import type { Funnel } from './funnel.ts';

interface ProcessFaultsOptions {
  readonly funnel: Funnel;
  readonly log: Logger;
  /** Drains and ends the process with this code. */
  readonly stop: (code: number) => void;
  /** Writes out buffered failures synchronously, because the process can end before the next write. */
  readonly flushSync?: () => void;
}

/**
 * Handles errors that nothing else caught. An unhandled rejection with a request in its context is that request's
 * failure, and the process continues. Everything else leaves the process in an unknown state, so it drains and exits.
 * Requests in flight are finished. If the product or an existing app has a handler too, that handler decides whether the
 * process continues, as it does in Node. The failure is recorded before, because such a handler can exit.
 *
 * @returns a function that removes the handlers
 */
export function watchProcess({ funnel, log, stop, flushSync }: ProcessFaultsOptions): () => void {
  function handleRejection(reason: unknown): void {
    const info = currentRequest();
    if (info) funnel.fail(reason, { origin: 'request', info });
    else if (process.listenerCount('unhandledRejection') > 1) funnel.fail(reason, { origin: 'process' });
    else process.emit('uncaughtException', reason as Error, 'unhandledRejection');
  }

  function handleException(error: unknown): void {
    const disposition = funnel.fail(error, { origin: 'process' });
    if (disposition.kind === 'visitor-gone') return;
    flushSync?.();
    if (process.listenerCount('uncaughtException') > 1) return;
    log.fatal('An error occurred outside any request. The server finishes the requests in flight, then exits.');
    stop(1);
  }

  process.prependListener('unhandledRejection', handleRejection);
  process.prependListener('uncaughtException', handleException);
  return () => {
    process.off('unhandledRejection', handleRejection);
    process.off('uncaughtException', handleException);
  };
}
