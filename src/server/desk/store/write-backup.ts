import { BACKUP_FORMAT, BACKUP_VERSION, type BackupLine } from './backup-lines.ts';
import { BACKUP_TABLES, type BackupTable } from './backup-tables.ts';
import { readMeta } from './migrations.ts';
import { readPages } from './read-pages.ts';
import type { Sql, SqlDriver, SqlValue } from './sql.ts';

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
async function writeTable(
  sql: Sql,
  { name: table, ...query }: BackupTable,
  onLine: (line: BackupLine) => Promise<void>,
): Promise<number> {
  let count = 0;
  for await (const rows of readPages<Record<string, SqlValue>>(sql, { table, ...query })) {
    if (count === 0) await onLine({ is: 'table', table, columns: Object.keys(rows[0] ?? {}) });
    for (const row of rows) await onLine({ is: 'row', row: Object.values(row) });
    count += rows.length;
  }
  return count;
}
