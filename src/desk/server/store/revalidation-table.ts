import { Second } from '../../../shared/units.ts';
import { readClock, type Sql } from './sql.ts';
import type { StoreContext } from './store-context.ts';

/** A page that replicas have to render again. */
interface RevalidatedPage {
  readonly path: string;
  /** Milliseconds since 1970, by the store's clock. */
  readonly at: number;
}

/** The pages that have changed, and the time of the store's clock when they were read. */
interface ChangedPages {
  readonly now: number;
  readonly found: readonly RevalidatedPage[];
}

/** Longer than a transaction can take from its revalidations to its end: a wait for the row, and a slow commit (ms). */
const OVERLAP = 30 * Second;

/** Records that these pages have to be rendered again. */
export async function storeRevalidations(sql: Sql, paths: readonly string[]): Promise<void> {
  for (const path of new Set(paths)) {
    await sql.run(
      `INSERT INTO desk_revalidations (path, at) VALUES (?, ${sql.dialect.now})
        ON CONFLICT (path) DO UPDATE SET at = excluded.at`,
      [path],
    );
  }
}

export function createRevalidationTable({ driver }: StoreContext) {
  return {
    async listRevalidations(since: number): Promise<ChangedPages> {
      const now = await readClock(driver); // first, so that nothing falls between two calls
      const found = await driver.all<RevalidatedPage>('SELECT path, at FROM desk_revalidations WHERE at > ?', [
        since - OVERLAP,
      ]);
      return { now, found };
    },
  };
}
