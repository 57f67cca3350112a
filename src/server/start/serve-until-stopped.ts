import { setFlagsFromString } from 'node:v8';
import { Second } from '../../shared/units.ts';
import type { Config } from '../config.ts';
import type { Drain } from '../connection/drain.ts';
import { createStop, onStopSignal } from '../connection/stop.ts';
import type { Funnel } from '../errors/funnel.ts';
import { watchProcess } from '../errors/process-faults.ts';
import type { Destination } from './destination.ts';
import type { ServerLog } from './logger.ts';

/** How long a crashing process can block to store its last failures (ms). */
const FLUSH_TIME = 1 * Second;

/** The time for closing after the last response (ms). */
const CLOSE_TIME = 6 * Second;

interface ServedParts extends ServerLog {
  readonly config: Pick<Config, 'drainLag' | 'drainDeadline'>;
  readonly drain: Drain;
  readonly destination: Pick<Destination, 'flushSync'>;
  readonly funnel: Funnel;
  /** Closes what the last response still needs. */
  readonly close: () => Promise<void>;
}

/** From here on, a signal or an uncaught exception drains the server and ends the process. */
export function serveUntilStopped({ config, drain, destination, funnel, close, log, flush }: ServedParts): void {
  const within = config.drainLag + config.drainDeadline + CLOSE_TIME;
  const stop = createStop({ drain, close, within, log, flush });
  watchProcess({ funnel, log, stop, flushSync: () => destination.flushSync(FLUSH_TIME) });
  onStopSignal((signal) => stop(0, signal));
}

/** Prints the URL at any log level and at once, because tools wait for this line. */
export function announce(url: string, log: ServerLog['log']): void {
  if (log.isLevelEnabled('info')) log.info(`Listening on ${url}`);
  else process.stdout.write(`Listening on ${url}\n`);
  log.flush(); // not the flush for the end of a process, which waits while the output is blocked
}

/**
 * Lets V8 allocate all parts of requests in the young generation. At the start, when it is small, most of them survive its
 * collections. From that, V8 would conclude to allocate such objects in the old generation, where each keeps its page until
 * the next full collection. Call it once the server listens: afterwards, Node loads its own modules three times slower.
 */
export function keepRequestsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
