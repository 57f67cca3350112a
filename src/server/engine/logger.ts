import pino, { type Logger } from 'pino';
import { MiB } from '../../shared/units.ts';

export interface LoggerOptions {
  readonly level: string;
  /** Somebody reads along: pretty lines instead of JSON. */
  readonly terminal: boolean;
}

export interface ServerLog {
  readonly log: Logger;
  /** Writes out what is still held back; to be called before the process ends. */
  flush(): void;
}

/** Lines kept for an output that does not take them (bytes); more are dropped rather than held. */
const MAX_HELD = 4 * MiB;

/** Standard output, never in the way of a request: where a pipe is full, lines wait in memory and are then dropped. */
export async function createLogger({ level, terminal }: LoggerOptions): Promise<ServerLog> {
  if (terminal) {
    const { default: pretty } = await import('pino-pretty');
    return { log: pino({ level, base: null }, pretty({ sync: true, ignore: 'pid,hostname' })), flush: () => undefined };
  }
  const destination = pino.destination({ dest: 1, sync: false, maxLength: MAX_HELD });
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  return { log, flush: () => flushQuietly(destination) };
}

function flushQuietly(destination: { flushSync(): void }): void {
  try {
    destination.flushSync();
  } catch {
    // Whoever read the log has gone, and there is nobody left to tell.
  }
}
