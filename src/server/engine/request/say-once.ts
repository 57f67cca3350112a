import type { Logger } from 'pino';

/** A line of the log that is written the first time alone: what each request would say fills a disk. */
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
