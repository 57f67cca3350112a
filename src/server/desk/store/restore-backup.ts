import { applyMigrations, lockSchema, readMeta, writeMeta } from './migrations.ts';
import type { Sql, SqlDriver } from './sql.ts';
import { forgetMarked } from './visitors/forget-visitor.ts';
import { type ForgottenMark, listForgotten, putMarks } from './visitors/forgotten-table.ts';
import { adoptOldSalt, listSecrets, putSecrets, type Secret } from './visitors/secret-table.ts';

/** Rows that a restore copies from the replaced store, because backups lack them or have older ones. */
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

/** The first schemas with these tables. */
const FORGOTTEN_SINCE = 4;
const SECRETS_SINCE = 10;

/**
 * Turns a restored copy into a working store, in one transaction. It upgrades the schema, marks the recorded
 * processes as ended, and deletes the visitors who were deleted after the backup.
 *
 * @param takenOver rows of the replaced store. Without them, the copy keeps its own
 */
export function finishRestore(driver: SqlDriver, takenOver?: TakenOver): Promise<void> {
  return driver.migration(async (sql) => {
    await lockSchema(sql);
    await applyMigrations(sql);
    await adoptOldSalt(sql);
    // It is unknown how they ended. `clean` keeps them from being reported as dead.
    await sql.run("UPDATE desk_runs SET ended = 'clean', ended_at = beat_at, in_flight = '[]' WHERE ended IS NULL");
    if (takenOver) {
      // Only the old salt matches visitors that releases before schema 10 hashed.
      if (takenOver.salt !== undefined) await writeMeta(sql, 'salt', takenOver.salt);
      await putSecrets(sql, takenOver.secrets);
      await putMarks(sql, takenOver.marks);
    }
    await forgetMarked(sql);
    // Higher than any earlier value, so that open pages notice the change.
    await writeMeta(sql, 'changes', String(Date.now()));
  });
}
