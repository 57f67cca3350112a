import { type Salt, toVisitorHash } from '../ingest/visitors.ts';
import { deleteAliasesOf, type KeyAddress } from './alias-table.ts';
import { deleteOccurrences, forEachIncident } from './occurrence-table.ts';
import { noteChange } from './sql.ts';
import type { StoreContext } from './store-context.ts';

export function createVisitorTable({ driver, reader }: StoreContext) {
  async function deleteVisitor(visitor: string): Promise<number> {
    const rows = await driver.all<KeyAddress>(
      'SELECT key, occurrence FROM desk_occurrences WHERE visitor = ? ORDER BY key',
      [visitor],
    );
    await forEachIncident(driver, rows, async (sql, key, part) => {
      await deleteAliasesOf(sql, key, part);
      await deleteOccurrences(sql, key, part);
      await noteChange(sql);
    });
    return rows.length;
  }

  return {
    /**
     * Returns the salts that all replicas use for these days. A salt makes it possible to find the visitor behind a hash by
     * trial, so the salts of past days are deleted.
     *
     * @param used other salts that this process has used, so that visitors can be found by them
     */
    async readSalts(offers: readonly Salt[], used: readonly Salt[] = []): Promise<Salt[]> {
      for (const { day, salt } of used) {
        await driver.run('INSERT INTO desk_local_salts (day, salt) VALUES (?, ?) ON CONFLICT DO NOTHING', [day, salt]);
      }
      for (const { day, salt } of offers) {
        await driver.run('INSERT INTO desk_salts (day, salt) VALUES (?, ?) ON CONFLICT DO NOTHING', [day, salt]);
      }
      return driver.all<Salt>('SELECT day, salt FROM desk_salts');
    },

    /**
     * Deletes a visitor's occurrences, and rebuilds the texts of their incidents. Counts stay. If the deletion is
     * interrupted, or entries of the visitor were still in a journal, repeat it.
     *
     * @param visitor the hash that the desk shows, the product's own id, or an IP address, which finds failures of today
     *   and yesterday: the salts of other days are gone
     * @returns the number of occurrences
     */
    async forgetVisitor(visitor: string): Promise<number> {
      // There are several for a day if a process had to use its own.
      const salts = await reader.all<Salt>(
        'SELECT day, salt FROM desk_salts UNION SELECT day, salt FROM desk_local_salts',
      );
      let deleted = 0;
      for (const hash of [visitor, ...salts.map((salt) => toVisitorHash(salt, visitor))]) {
        deleted += await deleteVisitor(hash);
      }
      await driver.overwriteDeleted();
      return deleted;
    },
  };
}
