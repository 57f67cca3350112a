import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOwnersBuild } from '../../build/owner.mjs';
import { lineEnd } from '../../build/sites/line-end.mjs';
import { createLocations } from '../../build/sites.mjs';
import {
  emptyLocationTable,
  type LocationTable,
  parseLocationTable,
} from '../../src/server/errors/digest/location-table.ts';

/**
 * Creates a table for source files that run unbuilt, as in tests. It is made by the same code as the table of a build,
 * so a failure gets the same digest in a test as in production.
 *
 * @param root the project's folder
 */
export async function createSourceTable(root: string): Promise<LocationTable> {
  const owner = await readOwnersBuild(root);
  const tables = new Map<string, LocationTable>();

  function tableOf(path: string): LocationTable {
    const known = tables.get(path);
    if (known) return known;
    const made = read(path);
    tables.set(path, made);
    return made;
  }

  function read(path: string): LocationTable {
    const file = join(root, path);
    if (!/^(?!node_modules\/|\.\.\/)[^:]+\.[cm]?[jt]sx?$/.test(path) || !existsSync(file)) return emptyLocationTable;
    const text = readFileSync(file, 'utf8');
    // Maps each character of the text to itself.
    const mappings = text
      .split(lineEnd)
      .map((line, number) => Array.from({ length: line.length + 1 }, (_, column) => [column, 0, number, column]));
    const map = { version: 3, names: [], sources: [file], sourcesContent: [text], mappings };
    return parseLocationTable(
      createLocations(root, [{ path: `maps/${path}.map`, contents: JSON.stringify(map) }], owner),
    );
  }

  return {
    // Production knows no code of tests, such as fakes.
    find: (frame) => (frame.file.startsWith('tests/') ? undefined : tableOf(frame.file).find(frame)),
    has: () => true,
    isWritten: (path, property) => tableOf(path).isWritten(path, property),
  };
}
