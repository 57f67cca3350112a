import type { Logger } from 'pino';
import type { Drain } from './drain.ts';

export interface StopOptions {
  readonly drain: Drain;
  /** Ends what must outlive the last reply, such as the desk. */
  readonly close?: () => Promise<void>;
  /** When the process ends whatever happens (ms). */
  readonly within: number;
  readonly log: Logger;
  /** Writes out what the log still holds. */
  readonly flush: () => void;
  readonly exit?: (code: number) => void;
}

/** Drains and ends the process. */
export type Stop = (code: number, signal?: NodeJS.Signals) => void;

/** A second signal ends the process at once: whoever sends it has waited long enough. */
export function createStop({ drain, close, within, log, flush, exit = process.exit }: StopOptions): Stop {
  let stopping = false;
  let exitCode = 0;

  function end(code: number): void {
    flush();
    exit(code);
  }

  async function finish(): Promise<void> {
    const { cut, owed } = await drain.start();
    if (owed > 0) {
      log.error(
        { cut, owed },
        'The deadline (DRAIN_DEADLINE) passed before every reply was complete: what was left was cut.',
      );
      exitCode = 1;
    } else if (cut > 0) {
      log.warn({ cut }, 'Connections were cut at the deadline: their peers had not sent, or not taken, what was due.');
    }
    await close?.();
  }

  return function stop(code, signal) {
    exitCode = Math.max(exitCode, code);
    if (stopping) {
      if (signal) end(1);
      return;
    }
    stopping = true;
    log.info({ signal }, 'The server finishes what is in flight, then ends.');
    // Not taken from the loop: with nothing else in it, the process would end well in the middle of its end.
    setTimeout(() => {
      log.error({ within }, 'The server did not come to its end in time, so it ends as it is.');
      end(1);
    }, within);
    finish().then(
      () => end(exitCode),
      (error: unknown) => {
        log.error(error, 'The drain failed.');
        end(1);
      },
    );
  };
}
