import { DELETE_BATCH, MAX_STORE_BYTES, OCCURRENCE_AGE, RUN_AGE } from '../limits.ts';
import { dropOldBuilds } from './build-table.ts';
import { dropOldNotices } from './notice-table.ts';
import { dropOldSecrets } from './secret-table.ts';
import { dropOldSessions } from './session-table.ts';
import type { SqlDriver } from './sql.ts';
import type { WholeRole } from './take-in.ts';

export interface RetentionOptions {
  /** Its files are never deleted. */
  readonly build: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly maxBytes?: number;
  readonly maxAge?: number;
}

/**
 * Deletes what is too old and what is too much, in batches, so that what comes in waits for none of
 * it. Incidents and their counts stay: a digest on somebody's screenshot must lead somewhere.
 */
export async function retain(driver: SqlDriver, options: RetentionOptions): Promise<void> {
  const { now, maxAge = OCCURRENCE_AGE } = options;
  await dropOldBuilds(driver, options.build);
  await deleteBatches(driver, 'desk_wholes', now - maxAge);
  await deleteBatches(driver, 'desk_occurrences', now - maxAge);
  await driver.run('DELETE FROM desk_feedback WHERE at < ?', [now - maxAge]);
  await driver.run('DELETE FROM desk_runs WHERE ended_at < ?', [now - RUN_AGE]);
  await driver.run('DELETE FROM desk_journals WHERE at < ?', [now - maxAge]);
  // What it would keep out is as old.
  await driver.run('DELETE FROM desk_forgotten WHERE at < ?', [now - maxAge]);
  await dropOldSecrets(driver, driver.dialect, maxAge);
  await dropOldSessions(driver, driver.dialect);
  await dropOldNotices(driver, driver.dialect);
  await shrink(driver, options);
  await driver.reclaim();
}

type Table = 'desk_wholes' | 'desk_occurrences';

async function deleteBatches(driver: SqlDriver, table: Table, before: number): Promise<void> {
  let deleted: number;
  do {
    deleted = await deleteOldest(driver, { table, before });
  } while (deleted === DELETE_BATCH);
}

interface Oldest {
  readonly table: Table;
  /** Milliseconds since 1970. */
  readonly before?: number;
  readonly role?: WholeRole;
}

function deleteOldest(driver: SqlDriver, { table, before = Number.MAX_SAFE_INTEGER, role }: Oldest): Promise<number> {
  return driver.run(
    `DELETE FROM ${table} WHERE (digest, occurrence) IN
      (SELECT digest, occurrence FROM ${table} WHERE at < ?${role ? ' AND role = ?' : ''} ORDER BY at LIMIT ${DELETE_BATCH})`,
    [before, ...(role ? [role] : [])],
  );
}

/** What goes first where there is too much: of an incident, its first and its latest tell most. */
const SHRINKING: readonly Oldest[] = [
  { table: 'desk_wholes', role: 'spread' },
  { table: 'desk_wholes' },
  { table: 'desk_occurrences' },
];

/** The oldest first: what is whole, then the rest of it, until a tenth below the bound. */
async function shrink(driver: SqlDriver, { maxBytes = MAX_STORE_BYTES }: RetentionOptions): Promise<void> {
  if ((await driver.usedBytes()) <= maxBytes) return;
  const enough = maxBytes * 0.9;
  for (const oldest of SHRINKING) {
    while ((await driver.usedBytes()) > enough) {
      if ((await deleteOldest(driver, oldest)) === 0) break;
      await driver.reclaim();
    }
  }
}
