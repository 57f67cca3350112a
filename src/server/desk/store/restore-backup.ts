import { applyMigrations, lockSchema, readMeta, writeMeta } from './migrations.ts';
import type { Sql, SqlDriver } from './sql.ts';
import { forgetMarked } from './visitors/forget-visitor.ts';
import { type ForgottenMark, listForgotten, putMarks } from './visitors/forgotten-table.ts';
import { adoptOldSalt, listSecrets, putSecrets, type Secret } from './visitors/secret-table.ts';

/** Rows that a restore takes over from the store that it replaces, because backups lack them or have older ones. */
export interface TakenOver {
  readonly marks: readonly ForgottenMark[];
  readonly secrets: readonly Secret[];
  /** The salt of releases before schema 10. */
  readonly salt?: string;
}

/** @param sql a store of any schema */
export async function readTakenOver(sql: Sql): Promise<TakenOver> {
  const { schema, salt } = await readMeta(sql);
  return {
    marks: Number(schema) >= FORGOTTEN_SINCE ? await listForgotten(sql) : [],
    secrets: Number(schema) >= SECRETS_SINCE ? await listSecrets({ driver: sql }) : [],
    ...(salt !== undefined && { salt }),
  };
}

/** The first schemas that have these tables. */
const FORGOTTEN_SINCE = 4;
const SECRETS_SINCE = 10;

/**
 * Makes a store of a restored copy, in one transaction: upgrades its schema, ends the processes that it had, and deletes
 * the visitors that were deleted after the backup.
 *
 * @param takenOver of the store that is replaced; without it, the copy keeps its own
 */
export function finishRestore(driver: SqlDriver, takenOver?: TakenOver): Promise<void> {
  return driver.migration(async (sql) => {
    await lockSchema(sql);
    await applyMigrations(sql);
    await adoptOldSalt(sql);
    // How they ended is not known, and they did not die of what was restored.
    await sql.run("UPDATE desk_runs SET ended = 'clean', ended_at = beat_at, in_flight = '[]' WHERE ended IS NULL");
    if (takenOver) {
      // Only the old salt finds visitors whom releases before schema 10 hashed.
      if (takenOver.salt !== undefined) await writeMeta(sql, 'salt', takenOver.salt);
      await putSecrets(sql, takenOver.secrets);
      await putMarks(sql, takenOver.marks);
    }
    await forgetMarked(sql);
    // Higher than before, so that open pages notice the change.
    await writeMeta(sql, 'changes', String(Date.now()));
  });
}
