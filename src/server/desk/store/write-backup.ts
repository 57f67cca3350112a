import { BACKUP_FORMAT, BACKUP_VERSION, type BackupLine } from './backup-lines.ts';
import { BACKUP_TABLES, type BackupTable } from './backup-tables.ts';
import { readMeta } from './migrations.ts';
import { placeholders, type Sql, type SqlDriver, type SqlValue } from './sql.ts';

/**
 * Hands over all that the store holds at one moment, line by line, while others write to it.
 *
 * @param onLine waited for, so that no more is read than can be written
 */
export function writeBackup(driver: SqlDriver, onLine: (line: BackupLine) => Promise<void>): Promise<void> {
  return driver.snapshot(async (sql) => {
    const { schema } = await readMeta(sql);
    await onLine({
      is: 'header',
      header: { format: BACKUP_FORMAT, version: BACKUP_VERSION, schema: Number(schema), at: Date.now() },
    });
    const counts: Record<string, number> = {};
    for (const table of BACKUP_TABLES) counts[table.name] = await writeTable(sql, table, onLine);
    await onLine({ is: 'end', counts });
  });
}

/** @returns how many rows there were */
async function writeTable(sql: Sql, table: BackupTable, onLine: (line: BackupLine) => Promise<void>): Promise<number> {
  let count = 0;
  let last: readonly SqlValue[] | undefined;
  for (;;) {
    const rows = await readPage(sql, table, last);
    const [first] = rows;
    if (first && count === 0) await onLine({ is: 'table', table: table.name, columns: Object.keys(first) });
    for (const row of rows) await onLine({ is: 'row', row: Object.values(row) });
    count += rows.length;
    const end = rows.at(-1);
    if (!end || rows.length < table.page) return count;
    last = table.key.map((name) => end[name] ?? null);
  }
}

/** @param after the key of the last row before it */
function readPage(
  sql: Sql,
  { name, key, page }: BackupTable,
  after: readonly SqlValue[] | undefined,
): Promise<Record<string, SqlValue>[]> {
  const keys = key.join(', ');
  const where = after ? `WHERE (${keys}) > (${placeholders(key)})` : '';
  return sql.all(`SELECT * FROM ${name} ${where} ORDER BY ${keys} LIMIT ${page}`, after);
}
