import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { waitUntilBuilt } from '../../assets/unfinished-build.ts';
import { emptyLocationTable, type LocationTable, parseLocationTable } from './location-table.ts';

/**
 * Loads the table of the running build. There is none in tests, where stacks name the source files themselves.
 *
 * @param dist the folder of the build
 * @throws Error if the table is from another release
 */
export function loadLocationTable(dist: string): LocationTable {
  let json: string;
  waitUntilBuilt(dist);
  try {
    json = readFileSync(join(dist, 'sites.json'), 'utf8');
  } catch {
    return emptyLocationTable;
  }
  return parseLocationTable(json);
}

/**
 * Loads the table of the running build for the first failure. It reads synchronously, because React needs the address
 * of a failure immediately. If the table cannot be read, digests are made from messages.
 *
 * @param dist the folder of the build
 */
export function createTableLoader(dist: string, log: Pick<Logger, 'warn'>): () => LocationTable {
  let table: LocationTable | undefined;

  function load(): LocationTable {
    try {
      return loadLocationTable(dist);
    } catch (error) {
      log.warn({ err: error }, 'The table of source positions (dist/sites.json) cannot be read. Build again.');
      return emptyLocationTable;
    }
  }

  return function getLocationTable() {
    table ??= load();
    return table;
  };
}
