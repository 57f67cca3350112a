import { placeholders, type Sql, type SqlValue } from './sql.ts';

interface PagesQuery {
  readonly table: string;
  /** The columns of the primary key, which is the order of the rows. */
  readonly key: readonly string[];
  /** Must include the key. All columns by default. */
  readonly columns?: readonly string[];
  /** A condition, with its values. */
  readonly where?: string;
  readonly values?: readonly SqlValue[];
  /** The number of rows in a page. */
  readonly page: number;
}

/** Reads a table page by page, to limit memory. The caller can change rows of pages that it has read. */
export async function* readPages<Row extends object>(
  sql: Sql,
  { table, key, columns = ['*'], where = '1 = 1', values = [], page }: PagesQuery,
): AsyncGenerator<Row[]> {
  const keys = key.join(', ');
  let last: readonly SqlValue[] = [];
  for (;;) {
    const after = last.length > 0 ? `AND (${keys}) > (${placeholders(key)})` : '';
    const rows = await sql.all<Row>(
      `SELECT ${columns.join(', ')} FROM ${table} WHERE ${where} ${after} ORDER BY ${keys} LIMIT ${page}`,
      [...values, ...last],
    );
    if (rows.length > 0) yield rows;
    const end = rows.at(-1) as Record<string, SqlValue> | undefined; // the columns of our own schema
    if (!end || rows.length < page) return;
    last = key.map((name) => end[name] ?? null);
  }
}
