import { placeholders, type Sql, type SqlValue } from './sql.ts';

export interface PagesQuery {
  readonly table: string;
  /** What its rows are told apart by, and the order in which they are read. */
  readonly key: readonly string[];
  /** All of them where it is left out. The key must be among them. */
  readonly columns?: readonly string[];
  /** A condition, with its values. */
  readonly where?: string;
  readonly values?: readonly SqlValue[];
  /** Rows that are read at once (a count). */
  readonly page: number;
}

/** Reads a table a page at a time, so that no more of it is in memory. Rows of earlier pages may be changed in between. */
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
