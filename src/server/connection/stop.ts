import type { Logger } from 'pino';
import type { Drain } from './drain.ts';

interface StopOptions {
  readonly drain: Drain;
  /** Closes what must outlive the last reply. */
  readonly close?: () => Promise<void>;
  /** Time after which the process ends in any case (ms). */
  readonly within: number;
  readonly log: Logger;
  /** Ends the process, after what must be written before. */
  readonly exit: (code: number) => void;
}

/** Drains and ends the process. */
export type Stop = (code: number, signal?: NodeJS.Signals) => void;

/**
 * Signals within this time are one (ms). In a terminal, Ctrl+C reaches the server and npm, which passes it on, and the end
 * of npm counts as a signal too.
 */
const SAME_SIGNAL = 500;

/** Creates the function that stops the process. A later signal ends the process immediately. */
export function createStop({ drain, close, within, log, exit }: StopOptions): Stop {
  let stoppingSince: number | undefined;
  let exitCode = 0;

  async function finish(): Promise<void> {
    const { cut, owed } = await drain();
    if (owed > 0) {
      log.error(
        { cut, owed },
        'The deadline (DRAIN_DEADLINE) passed before every reply was complete: the rest were cut.',
      );
      exitCode = 1;
    } else if (cut > 0) {
      log.warn({ cut }, 'Connections were cut at the deadline: their peers were too slow to send or to read.');
    }
    await close?.();
  }

  return function stop(code, signal) {
    exitCode = Math.max(exitCode, code);
    if (stoppingSince !== undefined) {
      if (!signal || performance.now() - stoppingSince <= SAME_SIGNAL) return;
      log.error({ signal }, 'A second signal came, so the process exits now. Responses in flight are cut.');
      exit(1);
      return;
    }
    stoppingSince = performance.now();
    log.info({ signal }, 'Stopping. The server finishes the requests in flight, then exits.');
    // Keeps the event loop alive: without it, the process could exit in the middle of stopping.
    setTimeout(() => {
      log.error({ within }, 'The server did not stop in time, so the process exits now.');
      exit(1);
    }, within);
    finish().then(
      () => exit(exitCode),
      (error: unknown) => {
        log.error(error, 'The drain failed.');
        exit(1);
      },
    );
  };
}

const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** How often a server that npm started checks that npm is still running (ms). */
const PARENT_INTERVAL = 500;

let onSignal: ((signal: NodeJS.Signals) => void) | undefined;

/**
 * Passes on the signals that ask this process to stop. Only the last listener is called. Call it as early as possible:
 * as process 1 of a container, a process without a listener does not receive these signals at all.
 */
export function onStopSignal(listener: (signal: NodeJS.Signals) => void): void {
  if (!onSignal) listenToSignals();
  onSignal = listener;
}

/**
 * npm starts scripts in a shell, and a signal can end both without reaching this process, which would then hold its
 * port forever. So the end of the parent counts as a signal, unless one has arrived.
 */
function listenToSignals(): void {
  const parent = process.ppid;
  const lookForParent = (): void => {
    if (process.ppid !== parent) pass('SIGTERM');
  };
  const timer = process.env.npm_lifecycle_event ? setInterval(lookForParent, PARENT_INTERVAL).unref() : undefined;
  const pass = (signal: NodeJS.Signals): void => {
    clearInterval(timer);
    onSignal?.(signal);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, pass);
}
