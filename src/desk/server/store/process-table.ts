import type { Failure, InFlightRequest } from '#engine/tracker';
import { toNewOccurrence } from './ingest/batch.ts';
import { storeBatch } from './ingest/ingest-batch.ts';
import type { StoreContext } from './store-context.ts';

export interface ProcessStart {
  readonly id: string;
  readonly build: string;
  readonly release: string;
  readonly environment: string;
  readonly startedAt: number;
}

/** The state of a process, which is written once a second. */
export interface Heartbeat {
  readonly inFlight: readonly InFlightRequest[];
  /** Resident memory (bytes). */
  readonly memory: number;
  /** Of its main thread, at the last pulse (bytes). */
  readonly heap: { readonly used: number; readonly limit: number };
  /** How long its main thread has been blocked (ms), or 0. */
  readonly blockedMs: number;
}

/** The record of a dead process. Of one that never reached the store, nothing else is known, and it has no requests. */
export interface DeadProcess extends ProcessStart, Partial<Omit<Heartbeat, 'inFlight'>> {
  readonly inFlight: Heartbeat['inFlight'];
  /** When it sent its last heartbeat (ms since 1970, by the store's clock). */
  readonly heartbeatAt: number;
}

export function createProcessTable(context: StoreContext) {
  const { driver } = context;

  /** @param heartbeatAt an expression. @param onConflict what to do if the process is known */
  async function store(
    { id, build, release, environment, startedAt }: ProcessStart,
    state: Pick<Heartbeat, 'inFlight'>,
    { heartbeatAt, onConflict }: { readonly heartbeatAt: string; readonly onConflict: string },
  ): Promise<void> {
    await driver.run(
      `INSERT INTO desk_processes (id, build, release, environment, started_at, state, beat_at)
        VALUES (?, ?, ?, ?, ?, ?, ${heartbeatAt}) ON CONFLICT (id) ${onConflict}`,
      [id, build, release, environment, startedAt, JSON.stringify(state)],
    );
  }

  return {
    /**
     * Stores a heartbeat. A process that was recorded as dead is alive again: it had only lost the store. A clean end is
     * final, because a database that hung can run the last heartbeat after it.
     */
    storeHeartbeat: (start: ProcessStart, heartbeat: Heartbeat): Promise<void> =>
      store(start, heartbeat, {
        heartbeatAt: driver.dialect.now,
        onConflict: `DO UPDATE SET state = excluded.state, beat_at = excluded.beat_at, ended = NULL, ended_at = NULL
          WHERE desk_processes.ended IS NULL OR desk_processes.ended <> 'clean'`,
      }),

    /** Records a process that left a journal but never reached the store. */
    storeUnknown: (start: ProcessStart): Promise<void> =>
      store(start, { inFlight: [] }, { heartbeatAt: String(start.startedAt), onConflict: 'DO NOTHING' }),

    async storeEnd(id: string): Promise<void> {
      await driver.run(
        `UPDATE desk_processes SET ended = 'clean', ended_at = ${driver.dialect.now}, state = '' WHERE id = ?`,
        [id],
      );
    },

    /** Lists processes that did not record their end, and sent no heartbeat for this long (ms). */
    async listSilent(forMs: number): Promise<string[]> {
      const rows = await driver.all<{ id: string }>(
        `SELECT id FROM desk_processes WHERE ended IS NULL AND beat_at <= ${driver.dialect.now} - ? ORDER BY id`,
        [forMs],
      );
      return rows.map(({ id }) => id);
    },

    /** @returns undefined if the process has ended or is unknown */
    async readUnended(id: string): Promise<DeadProcess | undefined> {
      const [row] = await driver.all<Omit<DeadProcess, keyof Heartbeat> & { state: string }>(
        `SELECT id, build, release, environment, started_at AS "startedAt", beat_at AS "heartbeatAt", state
          FROM desk_processes WHERE id = ? AND ended IS NULL`,
        [id],
      );
      if (!row) return undefined;
      const { state, ...start } = row;
      return { ...start, ...(JSON.parse(state) as Heartbeat) }; // from `store`
    },

    /**
     * Records the death of a process, together with its incident.
     *
     * @returns false if the process has ended cleanly, or another process recorded its death
     */
    recordDeath: (id: string, full: Failure, environment: string): Promise<boolean> =>
      driver.transaction(async (sql) => {
        const claimed = await sql.run(
          // The incident has its state.
          "UPDATE desk_processes SET ended = 'unclean', ended_at = beat_at, state = '' WHERE id = ? AND ended IS NULL",
          [id],
        );
        if (claimed === 0) return false;
        await storeBatch(sql, context, { occurrences: [toNewOccurrence(full)], environment });
        return true;
      }),

    /** Returns the environment of a process, or undefined if it is unknown. */
    async readEnvironment(id: string): Promise<string | undefined> {
      const [row] = await driver.all<{ environment: string }>('SELECT environment FROM desk_processes WHERE id = ?', [
        id,
      ]);
      return row?.environment;
    },
  };
}
