import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { emptySiteTable, parseSiteTable, type SiteTable } from './site-table.ts';

/**
 * The table of the build that runs. There is none in development, where stacks name the source files
 * themselves.
 *
 * @param dist the folder of the build
 * @throws Error where the table is one of another release's
 */
export function loadSiteTable(dist: string): SiteTable {
  let json: string;
  try {
    json = readFileSync(join(dist, 'sites.json'), 'utf8');
  } catch {
    return emptySiteTable;
  }
  return parseSiteTable(json);
}

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
