import { Day } from '../../../shared/units.ts';
import { NO_DAY, type Salt, toVisitorHash } from '../../reports/tunnel/visitors.ts';
import { deleteAliasesOf } from './alias-table.ts';
import type { IncidentKey } from './incident-key.ts';
import { lockIncident } from './incident-table.ts';
import type { PreparedEntry } from './ingest/tally.ts';
import { deleteOccurrences } from './occurrence-table.ts';
import { exists, inParts, noteChange, placeholders, type Sql } from './sql.ts';
import type { StoreContext } from './store-context.ts';

export function createVisitorTable({ driver, reader }: StoreContext) {
  /** Deletes the occurrences of a visitor. Each incident has its own transaction, so that other writers wait less. */
  async function deleteVisitor(visitor: string): Promise<number> {
    const rows = await driver.all<{ key: IncidentKey; occurrence: string }>(
      'SELECT key, occurrence FROM desk_occurrences WHERE visitor = ? ORDER BY key',
      [visitor],
    );
    for (const [key, group] of Map.groupBy(rows, (row) => row.key)) {
      for (const part of inParts(group.map(({ occurrence }) => occurrence))) {
        await driver.transaction(async (sql) => {
          await lockIncident(sql, key);
          await deleteAliasesOf(sql, key, part);
          await deleteOccurrences(sql, key, part);
          await noteChange(sql);
        });
      }
    }
    return rows.length;
  }

  return {
    /**
     * Returns the salts that all replicas use for these days. A salt makes it possible to find the visitor behind a hash by
     * trial, so the salts of past days are deleted.
     */
    async readSalts(offers: readonly Salt[]): Promise<Salt[]> {
      await dropOldSalts(driver);
      for (const { day, salt } of offers) {
        await driver.run('INSERT INTO desk_salts (day, salt) VALUES (?, ?) ON CONFLICT DO NOTHING', [day, salt]);
      }
      return driver.all<Salt>('SELECT day, salt FROM desk_salts');
    },

    /**
     * Deletes a visitor's occurrences, and rebuilds the texts of their incidents. Counts stay. Journal entries of the
     * visitor that are not stored yet are reduced to counts too. If the deletion is interrupted, repeat it.
     *
     * @param visitor the hash that the desk shows, or the product's own id
     * @returns the number of occurrences
     */
    async forgetVisitor(visitor: string): Promise<number> {
      const [own] = await reader.all<Salt>('SELECT day, salt FROM desk_salts WHERE day = ?', [NO_DAY]);
      let deleted = 0;
      for (const hash of [visitor, ...(own ? [toVisitorHash(own.salt, visitor)] : [])]) {
        await driver.run(
          `INSERT INTO desk_forgotten (visitor, at) VALUES (?, ${driver.dialect.now})
            ON CONFLICT (visitor) DO UPDATE SET at = excluded.at`,
          [hash],
        );
        deleted += await deleteVisitor(hash);
      }
      await driver.overwriteDeleted();
      return deleted;
    },
  };
}

export async function dropOldSalts(sql: Sql): Promise<void> {
  // A replica with a wrong clock can have asked for a day far in the future.
  await sql.run(
    `DELETE FROM desk_salts WHERE day <> ${NO_DAY}
      AND (day < ${sql.dialect.now} / ${Day} - 1 OR day > ${sql.dialect.now} / ${Day} + 1)`,
  );
}

/** Reduces failures of deleted visitors to counts. Later failures of a visitor who returns are stored. */
export async function withoutForgotten(sql: Sql, entries: readonly PreparedEntry[]): Promise<readonly PreparedEntry[]> {
  if (!(await exists(sql, 'SELECT 1 FROM desk_forgotten'))) return entries;
  const visitors = [
    ...new Set(entries.flatMap((entry) => (entry.entry === 'count' ? [] : (readVisitor(entry).visitor ?? [])))),
  ];
  const forgotten = new Map<string, number>();
  for (const part of inParts(visitors)) {
    const rows = await sql.all<{ visitor: string; at: number }>(
      `SELECT visitor, at FROM desk_forgotten WHERE visitor IN (${placeholders(part)})`,
      part,
    );
    for (const { visitor, at } of rows) forgotten.set(visitor, at);
  }
  return entries.flatMap((entry) => {
    if (entry.entry === 'count') return [entry];
    const { visitor, at } = readVisitor(entry);
    return visitor !== undefined && at <= (forgotten.get(visitor) ?? -1) ? toCount(entry) : [entry];
  });
}

type Visited = Exclude<PreparedEntry, { entry: 'count' }>;

function readVisitor(entry: Visited): { readonly visitor?: string | undefined; readonly at: number } {
  return entry.entry === 'full' ? entry.failure : entry.summary;
}

/** Turns an entry into a count, without the title, which contains the message. */
function toCount(entry: Visited): PreparedEntry[] {
  // An echo is not counted.
  if (entry.entry === 'full' && entry.failure.echoOf !== undefined) return [];
  const { digest, side, build, release, at } = entry.entry === 'full' ? entry.failure : entry.summary;
  const kind = entry.entry === 'full' ? entry.failure.kind : 'exception';
  const record = { digest, side, kind, title: '', build, release, firstAt: at, lastAt: at, count: 1 };
  return [{ entry: 'count', record }];
}
