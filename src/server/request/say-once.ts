import type { Logger } from 'pino';

/**
 * Logs a sentence only the first time, because a line for each request would fill a disk.
 *
 * @param interval after which it is logged again (ms)
 */
export function sayOnce(
  log: Pick<Logger, 'warn'>,
  sentence: string,
  interval = Number.POSITIVE_INFINITY,
): (fields: Readonly<Record<string, unknown>>) => void {
  let next = 0;
  return (fields) => {
    const now = performance.now();
    if (now < next) return;
    next = now + interval;
    log.warn(fields, sentence);
  };
}
