import type { Logger } from 'pino';

/** Logs a sentence only the first time, because a line for each request would fill a disk. */
export function sayOnce(
  log: Pick<Logger, 'warn'>,
  sentence: string,
): (fields: Readonly<Record<string, unknown>>) => void {
  let isSaid = false;
  return (fields) => {
    if (isSaid) return;
    isSaid = true;
    log.warn(fields, sentence);
  };
}
