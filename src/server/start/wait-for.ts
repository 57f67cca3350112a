import { Second } from '../../shared/units.ts';

/** The time after which a part of the start is named (ms). */
const SLOW = 10 * Second;

/**
 * Waits for a part of the start, which can hang, such as a database pool. Says so on stderr.
 *
 * @param overdue what has not happened, such as "The product's services have not opened"
 */
export async function waitFor<T>(overdue: string, part: Promise<T> | T): Promise<T> {
  const timer = setTimeout(() => process.stderr.write(`${overdue} for ${SLOW / Second} s.\n`), SLOW);
  try {
    return await part;
  } finally {
    clearTimeout(timer);
  }
}
