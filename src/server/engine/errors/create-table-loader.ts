import type { Logger } from 'pino';
import { loadSiteTable } from './digest/load-site-table.ts';
import { emptySiteTable, type SiteTable } from './digest/site-table.ts';

/**
 * The table of the build that runs, read when the first failure asks: synchronously, because React
 * wants the address of a failure at once. Where it cannot be read, digests rest on words.
 *
 * @param dist the folder of the build
 */
export function createTableLoader(dist: string, log: Pick<Logger, 'warn'>): () => SiteTable {
  let table: SiteTable | undefined;

  function load(): SiteTable {
    try {
      return loadSiteTable(dist);
    } catch (error) {
      log.warn({ err: error }, 'The table of places in the source (dist/sites.json) cannot be read. Build again.');
      return emptySiteTable;
    }
  }

  return function getSiteTable() {
    table ??= load();
    return table;
  };
}
