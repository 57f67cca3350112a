import type { LogPosition } from '../../ingest/segments.ts';
import { type Alias, listFoundedEchoes, storeAliases } from '../alias-table.ts';
import { toKey as keyOf } from '../incident-key.ts';
import { queueNotifications } from '../notification-table.ts';
import { claimDead } from '../process-table.ts';
import { storeSearch } from '../search-table.ts';
import { noteChange, QueryFailedError, type Sql, StoreAwayError } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { withoutForgotten } from '../visitor-table.ts';
import { settleStates } from './settle-states.ts';
import { storeIncidents } from './store-incidents.ts';
import { storeOccurrences } from './store-occurrences.ts';
import { type PreparedEntry, tallyBatch } from './tally.ts';

/** Entries of a journal that are stored together. */
export interface Batch {
  readonly entries: readonly PreparedEntry[];
  /** The server's `SENTRY_ENVIRONMENT`. The default is the environment that the store was opened for. */
  readonly environment?: string | undefined;
  /** The pages that replicas have to render again. */
  readonly revalidations?: readonly string[];
  /** The journal that the batch is from, and the position after it. */
  readonly from?: { readonly process: string; readonly next: LogPosition };
}

/** An entry that the database does not accept, and its message. */
interface RefusedEntry {
  readonly entry: PreparedEntry;
  readonly reason: string;
}

/** What the desk worker stores. */
export function createIngest(context: StoreContext) {
  const { driver } = context;
  return {
    /** Stores a batch together with its journal position, so that each line counts once even if the process dies. */
    ingest: (batch: Batch): Promise<void> => driver.transaction((sql) => storeBatch(sql, context, batch)),

    /**
     * Stores the entries of a batch that the database accepts, and the journal position.
     *
     * @returns the refused entries
     * @throws QueryFailedError if it refuses all of them for another reason than their values
     */
    ingestEach: (batch: Batch): Promise<RefusedEntry[]> =>
      driver.transaction(async (sql) => {
        const refused: (RefusedEntry & { readonly error: QueryFailedError })[] = [];
        for (const entry of batch.entries) {
          await sql.run('SAVEPOINT entry');
          try {
            await storeBatch(sql, context, { entries: [entry], environment: batch.environment });
          } catch (error) {
            if (error instanceof StoreAwayError) throw error;
            const failed = toRefusal(error);
            await sql.run('ROLLBACK TO SAVEPOINT entry');
            refused.push({ entry, reason: failed.message, error: failed });
          }
        }
        const [first] = refused;
        const isGeneral =
          refused.length === batch.entries.length && refused.some(({ error }) => error.reason !== 'value');
        if (first && isGeneral) throw first.error;
        await storeBatch(sql, context, { ...batch, entries: [] });
        return refused.map(({ entry, reason }) => ({ entry, reason }));
      }),

    /**
     * Records the death of a process, together with its incident.
     *
     * @returns false if the process has ended cleanly, or another process recorded its death
     */
    recordDeath: (process: string, incident: PreparedEntry, environment: string): Promise<boolean> =>
      driver.transaction(async (sql) => {
        if (!(await claimDead(sql, process))) return false;
        await storeBatch(sql, context, { entries: [incident], environment });
        return true;
      }),

    /** Returns the position up to which a journal is stored. */
    async readPosition(process: string): Promise<LogPosition> {
      const [row] = await driver.all<LogPosition>(
        'SELECT segment, position AS "offset" FROM desk_journals WHERE process = ?',
        [process],
      );
      return row ?? { segment: 0, offset: 0 };
    },

    async forgetJournal(process: string): Promise<void> {
      await driver.run('DELETE FROM desk_journals WHERE process = ?', [process]);
    },
  };
}

/** Treats an unexpected error as a refused value, because it would happen again with the same entry. */
function toRefusal(error: unknown): QueryFailedError {
  if (error instanceof QueryFailedError) return error;
  return new QueryFailedError('value', error instanceof Error ? error.message : String(error), { cause: error });
}

async function storeBatch(sql: Sql, context: StoreContext, batch: Batch): Promise<void> {
  const { environment = context.environment, revalidations = [] } = batch;
  const toKey = (digest: string) => keyOf(digest, environment);
  const entries = await withoutForgotten(sql, batch.entries);
  const tallies = tallyBatch(entries, toKey);
  if (tallies.length > 0) {
    const incidents = await storeIncidents(sql, tallies, environment);
    const full = await storeOccurrences(sql, tallies);
    await storeSearch(sql, full);
    await settleStates(sql, tallies, incidents);
    await queueNotifications(sql, tallies, context.rules);
  }
  await storeAliases(sql, await listAliases(sql, entries, toKey));
  await storeRevalidations(sql, revalidations);
  if (batch.from) await storePosition(sql, batch.from);
  if (entries.length > 0) await noteChange(sql);
}

/** Lists the aliases of failures that were shown under another digest than they have now, and of echoes. */
async function listAliases(
  sql: Sql,
  entries: readonly PreparedEntry[],
  toKey: (digest: string) => string,
): Promise<readonly Alias[]> {
  const fulls = entries.filter((entry) => entry.entry === 'full');
  const resolved = fulls.flatMap(({ failure, shownAs }): Alias[] => {
    const { digest, occurrence, at, echoOf } = failure;
    if (shownAs === undefined || echoOf !== undefined) return [];
    return [{ key: toKey(shownAs), occurrence, target: { key: toKey(digest), occurrence }, reason: 'resolved', at }];
  });
  const echoes = fulls.flatMap(({ failure, shownAs }): Alias[] => {
    const { digest, occurrence, at, echoOf } = failure;
    const [target = '', name = ''] = echoOf?.split('-') ?? [];
    if (echoOf === undefined) return [];
    const key = toKey(shownAs ?? digest);
    return [{ key, occurrence, target: { key: toKey(target), occurrence: name }, reason: 'echo', at }];
  });
  const ofServers = fulls.flatMap(({ failure: { side, digest, occurrence } }) =>
    side === 'server' ? [{ key: toKey(digest), occurrence }] : [],
  );
  return [...resolved, ...(await listFoundedEchoes(sql, echoes, ofServers))];
}

async function storeRevalidations(sql: Sql, paths: readonly string[]): Promise<void> {
  for (const path of new Set(paths)) {
    await sql.run(
      `INSERT INTO desk_revalidations (path, at) VALUES (?, ${sql.dialect.now})
        ON CONFLICT (path) DO UPDATE SET at = excluded.at`,
      [path],
    );
  }
}

async function storePosition(sql: Sql, { process, next }: NonNullable<Batch['from']>): Promise<void> {
  await sql.run(
    `INSERT INTO desk_journals (process, segment, position, at) VALUES (?, ?, ?, ${sql.dialect.now})
      ON CONFLICT (process) DO UPDATE SET segment = excluded.segment, position = excluded.position, at = excluded.at`,
    [process, next.segment, next.offset],
  );
}
