import { readNumber, type Sql, type SqlDriver } from '../sql.ts';

/** Tables that share one part of the size limit. */
export interface TableGroup {
  readonly name: 'occurrences' | 'incidents' | 'feedback' | 'records';
  /**
   * The group's part of `DESK_MAX_SIZE`. A group can use more as long as there is room. Once all groups
   * together exceed the limit, those over their share shrink.
   */
  readonly share: number;
  readonly tables: readonly string[];
}

/** All tables except the build tables, which have a separate limit (`MAX_BUILD_BYTES`). */
export const TABLE_GROUPS: readonly TableGroup[] = [
  { name: 'occurrences', share: 0.6, tables: ['desk_occurrences', 'desk_wholes', 'desk_dictionaries'] },
  {
    name: 'incidents',
    share: 0.22,
    tables: [
      ...['desk_incidents', 'desk_hours', 'desk_releases', 'desk_environments'],
      ...['desk_visitors', 'desk_search', 'desk_aliases'],
    ],
  },
  { name: 'feedback', share: 0.04, tables: ['desk_feedback'] },
  {
    name: 'records',
    share: 0.04,
    tables: [
      ...['desk_changes', 'desk_notes', 'desk_notices', 'desk_targets', 'desk_runs', 'desk_journals', 'desk_routes'],
      ...['desk_secrets', 'desk_forgotten', 'desk_sessions', 'desk_links', 'desk_attempts', 'desk_meta'],
    ],
  },
];

export const BUILD_TABLES: readonly string[] = ['desk_builds', 'desk_deployments', 'desk_build_files', 'desk_blobs'];

interface TableSize {
  readonly rows: number;
  /** Includes the table's indexes. */
  readonly bytes: number;
}

/** By table. */
export type TableSizes = ReadonlyMap<string, TableSize>;

/** Measures all tables by reading them, which takes about 1 ms per megabyte. */
export async function measureTables(driver: SqlDriver): Promise<TableSizes> {
  const sizes = new Map<string, TableSize>();
  for (const table of [...TABLE_GROUPS.flatMap(({ tables }) => tables), ...BUILD_TABLES]) {
    sizes.set(
      table,
      driver.dialect.name === 'sqlite' ? await measureSqlite(driver, table) : await measurePostgres(driver, table),
    );
  }
  return sizes;
}

/** SQLite's search index is a virtual table that is stored in several others. */
const SEARCH_INDEX = { table: 'desk_search', start: 'desk_search_index_' };

async function measureSqlite(sql: Sql, table: string): Promise<TableSize> {
  const search = table === SEARCH_INDEX.table ? SEARCH_INDEX.start : '-';
  const names = await sql.all<{ name: string }>(
    'SELECT name FROM sqlite_master WHERE tbl_name = ? OR substr(name, 1, ?) = ?',
    [table, search.length, search],
  );
  let bytes = 0;
  for (const { name } of names) {
    bytes += await readNumber(sql, 'SELECT SUM(pgsize) AS value FROM dbstat WHERE aggregate = TRUE AND name = ?', [
      name,
    ]);
  }
  return { rows: await readNumber(sql, `SELECT COUNT(*) AS value FROM ${table}`), bytes };
}

/** The approximate overhead of a row, and of each of its index entries (bytes). */
const ROW_BYTES = 32;
const INDEX_ENTRY_BYTES = 40;

/** Adds up the sizes of rows, because PostgreSQL's files keep the space of deleted rows for some time. */
async function measurePostgres(sql: Sql, table: string): Promise<TableSize> {
  const columns = await sql.all<{ name: string }>(
    'SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped',
    [table],
  );
  const indexes = await readNumber(sql, 'SELECT COUNT(*) AS value FROM pg_index WHERE indrelid = to_regclass(?)', [
    table,
  ]);
  const sum = columns.map(({ name }) => `COALESCE(SUM(pg_column_size(${name})), 0)`).join(' + ');
  const [row] = await sql.all<{ rows: number; bytes: number }>(
    `SELECT COUNT(*) AS rows, ${sum || '0'} AS bytes FROM ${table}`,
  );
  const { rows = 0, bytes = 0 } = row ?? {};
  return { rows, bytes: bytes + rows * (ROW_BYTES + indexes * INDEX_ENTRY_BYTES) };
}
