import type { Database } from './tables.ts';

/**
 * Changes of your tables, in the order in which they run, once each. Never change one that has run: add a new one. The
 * tables of better-auth are not here, because it adds what it needs at each start.
 */
export const migrations: Readonly<Record<string, (db: Database) => Promise<unknown>>> = {
  'create-note': (db) =>
    db.schema
      .createTable('note')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('userId', 'text', (column) => column.notNull().references('user.id').onDelete('cascade'))
      .addColumn('text', 'text', (column) => column.notNull())
      .addColumn('createdAt', 'text', (column) => column.notNull())
      .execute(),
  'index-note': (db) => db.schema.createIndex('note_user').on('note').columns(['userId', 'createdAt']).execute(),
};
