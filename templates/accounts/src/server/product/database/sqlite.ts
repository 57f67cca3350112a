import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { SqliteDatabase } from 'kysely';

/** Lets Kysely use Node's SQLite. Columns of the type `boolean` are true or false, as in PostgreSQL. */
export function toKyselySqlite(sqlite: DatabaseSync): SqliteDatabase {
  return {
    close: () => sqlite.close(),
    prepare(text) {
      const statement = sqlite.prepare(text);
      const columns = statement.columns();
      const booleans = columns.filter(({ type }) => type?.toLowerCase() === 'boolean').map(({ name }) => name);

      function toRow(row: Record<string, unknown>): Record<string, unknown> {
        const read = { ...row };
        for (const name of booleans) if (read[name] !== null) read[name] = read[name] === 1;
        return read;
      }

      return {
        reader: columns.length > 0,
        all: (values) => statement.all(...values.map(toSqlite)).map(toRow),
        run: (values) => statement.run(...values.map(toSqlite)),
        *iterate(values) {
          for (const row of statement.iterate(...values.map(toSqlite))) yield toRow(row);
        },
      };
    },
  };
}

function toSqlite(value: unknown): SQLInputValue {
  return typeof value === 'boolean' ? Number(value) : (value as SQLInputValue); // SQLite refuses any other type
}
