import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { emptySiteTable, parseSiteTable, type SiteTable } from './digest/site-table.ts';

/**
 * The table of the build that runs, read when the first failure asks: synchronously, because React
 * wants the address of a failure at once. Without a table digests rest on words.
 *
 * @param file `dist/sites.json`; under `npm run dev` there is none
 */
export function createTableLoader(file: string, log: Pick<Logger, 'warn'>): () => SiteTable {
  let table: SiteTable | undefined;
  return function loadSiteTable() {
    table ??= read(file, log);
    return table;
  };
}

function read(file: string, log: Pick<Logger, 'warn'>): SiteTable {
  try {
    return parseSiteTable(readFileSync(file, 'utf8'));
  } catch (error) {
    if (process.env.SPILLWAY_DEV) return emptySiteTable;
    log.warn(
      { reason: error instanceof Error ? error.message : String(error) },
      'The table of places in the source (dist/sites.json) cannot be read, so digests rest on words. Build again.',
    );
    return emptySiteTable;
  }
}
