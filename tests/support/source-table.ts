import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOwnersBuild } from '../../build/owner.mjs';
import { lineEnd } from '../../build/sites/line-end.mjs';
import { toVlq } from '../../build/sites/mappings.mjs';
import { createLocations } from '../../build/sites.mjs';
import {
  emptyLocationTable,
  type LocationTable,
  parseLocationTable,
} from '../../src/server/engine/errors/digest/location-table.ts';

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
    const contents = JSON.stringify({ sources: [file], sourcesContent: [text], mappings: toIdentity(text) });
    return parseLocationTable(createLocations(root, [{ path: `maps/${path}.map`, contents }], owner));
  }

  return {
    // Production knows no code of tests, such as fakes.
    find: (frame) => (frame.file.startsWith('tests/') ? undefined : tableOf(frame.file).find(frame)),
    has: () => true,
    isWritten: (path, property) => tableOf(path).isWritten(path, property),
  };
}

/** A source map that maps each character of a text to itself. */
function toIdentity(text: string): string {
  let last = 0; // the column of the last segment, which the next line's first one refers to
  const lines = text.split(lineEnd).map((line, index) => {
    const first = `AA${index === 0 ? 'A' : 'C'}${toVlq(-last)}`;
    last = line.length;
    return [first, ...Array.from({ length: line.length }, () => 'CAAC')].join(',');
  });
  return lines.join(';');
}
