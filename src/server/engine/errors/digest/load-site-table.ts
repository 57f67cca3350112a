import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
