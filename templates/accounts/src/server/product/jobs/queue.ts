import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { inFuture, now } from '../accounts/tokens.ts';
import type { Database } from '../database/tables.ts';

/** The handlers of jobs, by name. */
export type Handlers = Readonly<Record<string, (input: never, id: string) => Promise<void>>>;

type InputOf<Handler> = Handler extends (input: infer Input, id: string) => Promise<void> ? Input : never;

export interface Queue<Known extends Handlers> {
  /**
   * Stores a job, which runs soon after.
   *
   * @param db a transaction, if the job must not run without its other queries
   */
  add<Name extends keyof Known & string>(name: Name, input: InputOf<Known[Name]>, db?: Database): Promise<void>;
  /** Runs all jobs that are due. */
  runDue(): Promise<void>;
  /** Runs jobs when they are due, until the queue is stopped. */
  start(): void;
  /** Waits for the job that runs. */
  stop(): Promise<void>;
}

interface QueueOptions<Known extends Handlers> {
  readonly db: Database;
  readonly handlers: Known;
  /** Reports a failure. @returns its address */
  readonly report: (error: unknown) => string | undefined;
}

const SECOND = 1000;
/** How often due jobs are looked for (ms). */
const INTERVAL = SECOND;
/** The same after the database failed (ms). */
const AWAY_INTERVAL = 30 * SECOND;
/** A job of a process that died runs again after this time (ms). So does a job that takes longer. */
const CLAIM_TIME = 5 * 60 * SECOND;
/** Waits before the next attempts (ms). After the last one, the job stays in the table with the address of its failure. */
const WAITS = [10 * SECOND, 60 * SECOND, 10 * 60 * SECOND, 60 * 60 * SECOND];

/** Runs jobs one after the other. A job can run twice, so its handler must allow that. */
export function createQueue<Known extends Handlers>({ db, handlers, report }: QueueOptions<Known>): Queue<Known> {
  const stopping = new AbortController();
  /** The pause after the jobs that run. */
  let running = Promise.resolve(INTERVAL);

  /** Claims a job by postponing it. If two processes choose the same one, the second finds it postponed. */
  function claim() {
    return db
      .updateTable('jobs')
      .set(({ eb }) => ({ runAt: inFuture(CLAIM_TIME), attempts: eb('attempts', '+', 1) }))
      .where('id', '=', ({ selectFrom }) =>
        selectFrom('jobs').select('id').where('runAt', '<=', now()).orderBy('runAt').limit(1),
      )
      .where('runAt', '<=', now())
      .returningAll()
      .executeTakeFirst();
  }

  async function runDue(): Promise<void> {
    for (let job = await claim(); job; job = stopping.signal.aborted ? undefined : await claim()) {
      const { id, name, input, attempts } = job;
      try {
        const handler = handlers[name];
        if (!handler) throw new Error(`There is no handler for the job "${name}". Add it in jobs/handlers.ts.`);
        await handler(JSON.parse(input) as never, id); // `add` has checked its type
        await db.deleteFrom('jobs').where('id', '=', id).execute();
      } catch (error) {
        const failure = report(error) ?? String(error);
        const pause = WAITS[attempts - 1];
        const runAt = pause === undefined ? null : inFuture(pause);
        await db.updateTable('jobs').set({ failure, runAt }).where('id', '=', id).execute();
      }
    }
  }

  async function watch(): Promise<void> {
    for (;;) {
      const pause = await running;
      await wait(pause, undefined, { ref: false, signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      running = runDue().then(
        () => INTERVAL,
        (error) => {
          report(error);
          return AWAY_INTERVAL;
        },
      );
    }
  }

  return {
    async add(name, input, into = db) {
      const job = { id: randomUUID(), name, input: JSON.stringify(input), attempts: 0, runAt: now() };
      await into.insertInto('jobs').values(job).execute();
    },
    runDue,
    start: () => void watch(),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
