import type { DeskLog } from '../desk-log.ts';
import { StoreError } from '../store/sql.ts';

export type Tasks = ReturnType<typeof createTasks>;

/** Runs work that is repeated, and logs each of its problems once while it lasts. */
export function createTasks(log: DeskLog) {
  /** The sentences of the problems that last. */
  const logged = new Set<string>();

  function logOnce(isProblem: boolean, sentence: string, write: () => void): void {
    if (isProblem && !logged.has(sentence)) write();
    if (isProblem) logged.add(sentence);
    else logged.delete(sentence);
  }

  return {
    /**
     * Does some work, and logs an error only once until the work succeeds. Errors of the store are already logged.
     *
     * @returns whether it succeeded
     */
    async run(sentence: string, work: () => Promise<void>): Promise<boolean> {
      try {
        await work();
        logged.delete(sentence);
        return true;
      } catch (error) {
        logOnce(!(error instanceof StoreError), sentence, () => log.error({ err: error }, sentence));
        return false;
      }
    },
    /** Logs a warning once, until it no longer applies. */
    warnWhile(applies: boolean, sentence: string, fields: object): void {
      logOnce(applies, sentence, () => log.warn(fields, sentence));
    },
  };
}
