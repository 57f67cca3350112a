import { BACKUP_VERSION, type BackupHeader, type BackupLine } from './backup-lines.ts';
import { BACKUP_TABLES, NOT_BACKED_UP } from './backup-tables.ts';
import { forgetMarked } from './forget-visitor.ts';
import { type ForgottenMark, listForgotten, putMarks } from './forgotten-table.ts';
import { applyMigrations, lockSchema, readMeta, SCHEMA_VERSION, writeMeta } from './migrations.ts';
import { adoptOldSalt, listSecrets, putSecrets, type Secret } from './secret-table.ts';
import { insertRows, type Sql, type SqlDialect, type SqlDriver, type SqlValue } from './sql.ts';

/** A file that is no whole backup, or that this release cannot read. */
export class BackupError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BackupError';
  }
}

/** Rows of one statement (a count): the widest table has 36 columns, and SQLite takes 32,766 values. */
const ROWS_AT_ONCE = 100;
/** What is put in at once (bytes of blobs and texts, roughly). */
const BYTES_AT_ONCE = 4 * 1024 * 1024;

/**
 * Reads a backup from its first line to its last.
 *
 * @throws BackupError where a part of it is missing or wrong, or a newer release made it
 */
export async function checkBackup(lines: AsyncIterable<BackupLine | undefined>): Promise<BackupHeader> {
  let header: BackupHeader | undefined;
  let table = '';
  let columns = 0;
  let end: Readonly<Record<string, number>> | undefined;
  const counts = new Map<string, number>();
  for await (const line of lines) {
    if (!header) {
      if (line?.is !== 'header') throw new BackupError(NO_BACKUP);
      header = line.header;
      requireReadable(header);
    } else if (!line || end) {
      throw new BackupError(BROKEN);
    } else if (line.is === 'table') {
      if (!isKnown(line.table) || counts.has(line.table)) throw new BackupError(BROKEN);
      table = line.table;
      columns = line.columns.length;
      counts.set(table, 0);
    } else if (line.is === 'row') {
      if (line.row.length !== columns || columns === 0) throw new BackupError(BROKEN);
      counts.set(table, (counts.get(table) ?? 0) + 1);
    } else if (line.is === 'end') end = line.counts;
    else throw new BackupError(BROKEN);
  }
  if (!header) throw new BackupError(NO_BACKUP);
  if (!end || Object.entries(end).some(([name, count]) => (counts.get(name) ?? 0) !== count)) {
    throw new BackupError(BROKEN);
  }
  return header;
}

export const NO_BACKUP = 'This is no backup of a desk.';
const BROKEN = 'The backup is not whole: a part of it is missing or was changed. Nothing was restored.';

function requireReadable({ version, schema }: BackupHeader): void {
  if (version <= BACKUP_VERSION && schema <= SCHEMA_VERSION && schema >= 1) return;
  throw new BackupError(
    `The backup was made by a newer release (schema ${schema}; this one knows ${SCHEMA_VERSION}). Restore it with that release.`,
  );
}

function isKnown(table: string): boolean {
  return BACKUP_TABLES.some(({ name }) => name === table);
}

/** Rows that a restore takes over from the store that it replaces: backups lack them, or have older ones. */
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
    secrets: Number(schema) >= SECRETS_SINCE ? await listSecrets(sql) : [],
    ...(salt !== undefined && { salt }),
  };
}

/** The first schemas that have these tables. */
const FORGOTTEN_SINCE = 4;
const SECRETS_SINCE = 10;

/**
 * Puts a backup that was checked in the place of whatever there is, in one transaction.
 *
 * @param again makes a fresh reading of it: PostgreSQL may have to begin anew
 * @param takenOver of the store that is replaced
 */
export function restoreBackup(
  driver: SqlDriver,
  again: () => AsyncIterable<BackupLine | undefined>,
  { takenOver }: { readonly takenOver: TakenOver },
): Promise<void> {
  const { dialect } = driver;
  return driver.migration(async (sql) => {
    await lockSchema(sql, dialect);
    // SQLite's index of what is searched is made anew behind it.
    for (const table of [...BACKUP_TABLES.map(({ name }) => name), ...NOT_BACKED_UP, 'desk_search_index']) {
      await sql.run(`DROP TABLE IF EXISTS ${table}`);
    }
    await fill(sql, dialect, again());
    await applyMigrations(sql, dialect);
    await countOn(sql, dialect);
    // How they ended is not known, and they did not die of what was restored.
    await sql.run("UPDATE desk_runs SET ended = 'clean', ended_at = beat_at, in_flight = '[]' WHERE ended IS NULL");
    await takeOver(sql, dialect, takenOver);
    await forgetMarked(sql, dialect);
    // More than it ever was, so that nobody takes what they saw before for what is there now.
    await writeMeta(sql, 'changes', String(Date.now()));
  });
}

async function takeOver(sql: Sql, dialect: SqlDialect, { marks, secrets, salt }: TakenOver): Promise<void> {
  // Backups of releases before schema 10 have a salt, and only that one finds the visitors in them.
  await adoptOldSalt(sql, dialect);
  if (salt !== undefined) await writeMeta(sql, 'salt', salt);
  await putSecrets(sql, secrets);
  await putMarks(sql, marks);
}

async function fill(sql: Sql, dialect: SqlDialect, lines: AsyncIterable<BackupLine | undefined>): Promise<void> {
  let into: Extract<BackupLine, { is: 'table' }> | undefined;
  let rows: (readonly SqlValue[])[] = [];
  let bytes = 0;
  const put = async () => {
    if (into && rows.length > 0) await insertRows(sql, into.table, into.columns, rows);
    rows = [];
    bytes = 0;
  };
  for await (const line of lines) {
    if (line?.is === 'header') {
      await applyMigrations(sql, dialect, line.header.schema);
      await sql.run('DELETE FROM desk_meta');
    } else if (line?.is === 'table') {
      await put();
      into = line;
    } else if (line?.is === 'row') {
      rows.push(line.row);
      bytes += line.row.reduce<number>((sum, cell) => sum + toSize(cell), 0);
      if (rows.length >= ROWS_AT_ONCE || bytes > BYTES_AT_ONCE) await put();
    }
  }
  await put();
}

function toSize(cell: SqlValue): number {
  return typeof cell === 'string' || cell instanceof Uint8Array ? cell.length : 8;
}

/** PostgreSQL does not see what numbers were put in. */
async function countOn(sql: Sql, dialect: SqlDialect): Promise<void> {
  if (dialect.name !== 'postgres') return;
  for (const { name, isSerial } of BACKUP_TABLES) {
    if (!isSerial) continue;
    await sql.all(
      `SELECT setval(pg_get_serial_sequence('${name}', 'id'), (SELECT COALESCE(MAX(id), 0) + 1 FROM ${name}), false)`,
    );
  }
}
