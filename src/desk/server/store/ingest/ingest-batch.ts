import type { LogPosition } from '../../ingest/segments.ts';
import { type Alias, storeAliases } from '../alias-table.ts';
import { toIncidentKey } from '../incident-key.ts';
import { queueNotifications } from '../notification-table.ts';
import { storeRevalidations } from '../revalidation-table.ts';
import { storeSearch } from '../search-text.ts';
import { noteChange, QueryFailedError, type Sql, StoreAwayError } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { groupByIncident, type NewOccurrence } from './batch.ts';
import { reopenIncidents } from './reopen-incidents.ts';
import { storeIncidents } from './store-incidents.ts';
import { storeOccurrences } from './store-occurrences.ts';

/** Occurrences of a journal that are stored together. */
export interface Batch {
  readonly occurrences: readonly NewOccurrence[];
  /** The server's `SENTRY_ENVIRONMENT`. The default is the environment that the store was opened for. */
  readonly environment?: string | undefined;
  /** The pages that replicas have to render again. */
  readonly revalidations?: readonly string[];
  /** The journal that the batch is from, where it starts there, and the position after it. */
  readonly from?: { readonly process: string; readonly start: LogPosition; readonly next: LogPosition };
}

/** An occurrence that the database does not accept, and its message. */
interface Refused {
  readonly occurrence: NewOccurrence;
  readonly reason: string;
}

/** The journals of the processes, and how far each is stored. */
export function createJournalTable(context: StoreContext) {
  const { driver } = context;
  return {
    /**
     * Stores a batch together with its journal position, so that each line counts once even if the process dies.
     *
     * @throws QueryFailedError also if the journal is stored up to another position
     */
    ingest: (batch: Batch): Promise<void> =>
      driver.transaction(async (sql) => {
        await storePosition(sql, batch.from);
        await storeBatch(sql, context, batch);
      }),

    /**
     * Stores the occurrences of a batch that the database accepts, and the journal position.
     *
     * @param options `isLast`: leaves out what the database refuses for other reasons than values, if it accepts others
     * @returns the refused ones
     * @throws QueryFailedError if the batch must be tried again
     */
    ingestEach: (batch: Batch, { isLast = false } = {}): Promise<Refused[]> =>
      driver.transaction(async (sql) => {
        await storePosition(sql, batch.from);
        const refused: (Refused & { readonly error: QueryFailedError })[] = [];
        for (const occurrence of batch.occurrences) {
          await sql.run('SAVEPOINT entry');
          try {
            await storeBatch(sql, context, { occurrences: [occurrence], environment: batch.environment });
          } catch (error) {
            if (error instanceof StoreAwayError) throw error;
            const failed = toQueryFailure(error);
            if (failed.reason !== 'value' && !isLast) throw failed;
            await sql.run('ROLLBACK TO SAVEPOINT entry');
            refused.push({ occurrence, reason: failed.message, error: failed });
          }
          await sql.run('RELEASE SAVEPOINT entry'); // otherwise the next one is inside it
        }
        const [first] = refused;
        const isGeneral =
          refused.length === batch.occurrences.length && refused.some(({ error }) => error.reason !== 'value');
        if (first && isGeneral) throw first.error;
        await storeBatch(sql, context, { ...batch, occurrences: [] });
        return refused.map(({ occurrence, reason }) => ({ occurrence, reason }));
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
function toQueryFailure(error: unknown): QueryFailedError {
  if (error instanceof QueryFailedError) return error;
  return new QueryFailedError('value', error instanceof Error ? error.message : String(error), { cause: error });
}

/** Stores a batch in a transaction. */
export async function storeBatch(sql: Sql, context: StoreContext, batch: Batch): Promise<void> {
  const { occurrences, environment = context.environment, revalidations = [] } = batch;
  const incidents = groupByIncident(occurrences, environment);
  if (incidents.length > 0) {
    const counted = await storeIncidents(sql, incidents, environment);
    await storeSearch(sql, await storeOccurrences(sql, incidents));
    await reopenIncidents(sql, incidents, counted);
    await queueNotifications(
      sql,
      incidents.map(({ key }) => key),
      context.rules,
    );
  }
  await storeAliases(
    sql,
    occurrences.flatMap((occurrence) => toAlias(occurrence, environment) ?? []),
  );
  if (occurrences.length > 0) await noteChange(sql);
  // After the wait for other replicas, so that they find them by their time.
  await storeRevalidations(sql, revalidations);
}

/** Returns the alias of a failure that was shown under another digest than it has now, or of an echo. */
function toAlias({ digest, occurrence, at, shownAs, full }: NewOccurrence, environment: string): Alias | undefined {
  const key = toIncidentKey(shownAs ?? digest, environment);
  if (full?.echoOf !== undefined) {
    const [target = '', name = ''] = full.echoOf.split('-');
    return {
      key,
      occurrence,
      target: { key: toIncidentKey(target, environment), occurrence: name },
      reason: 'echo',
      at,
    };
  }
  if (shownAs === undefined) return undefined;
  return { key, occurrence, target: { key: toIncidentKey(digest, environment), occurrence }, reason: 'resolved', at };
}

/**
 * Moves the position of a journal, in a transaction before anything else. A commit whose answer was lost can still arrive:
 * this waits for it, and finds that the batch is already stored.
 */
async function storePosition(sql: Sql, from: Batch['from']): Promise<void> {
  if (!from) return;
  const { process, start, next } = from;
  const moved = await sql.run(
    `INSERT INTO desk_journals (process, segment, position, at) VALUES (?, ?, ?, ${sql.dialect.now})
      ON CONFLICT (process) DO UPDATE SET segment = excluded.segment, position = excluded.position, at = excluded.at
      WHERE desk_journals.segment = ? AND desk_journals.position = ?`,
    [process, next.segment, next.offset, start.segment, start.offset],
  );
  if (moved === 0) throw new QueryFailedError('slow', 'This part of the journal was stored by an earlier try.');
}
