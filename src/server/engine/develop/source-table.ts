import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { toFrameFile } from '../errors/digest/frame-file.ts';
import {
  emptyLocationTable,
  isSource,
  type LocationTable,
  parseLocationTable,
} from '../errors/digest/location-table.ts';
import type { StackFrame } from '../errors/failure.ts';
import { createClientMaps } from './client-maps.ts';
import { readSourceText } from './read-source-text.ts';

type CreateLocations = (root: string, dist: string, path: string, text: string) => string;

/**
 * The table under `npm run dev`. It reads source files when a failure needs them, so that digests are those of
 * production.
 *
 * @param dist the folder of the build
 */
export function createSourceTable(dist: string): LocationTable {
  const root = dirname(dist);
  const toSource = createClientMaps(dist);
  const tables = new Map<string, { readonly text: string; readonly table: LocationTable }>();

  function tableOf(file: string): LocationTable {
    if (!isSource(file)) return emptyLocationTable;
    try {
      const text = readSourceText(dist, file);
      const known = tables.get(file);
      if (known?.text === text) return known.table;
      // Not part of the server's bundle, and loaded synchronously, because React needs an address immediately.
      const { createSourceLocations } = createRequire(import.meta.url)(
        join(root, 'build/develop/source-locations.mjs'),
      ) as { createSourceLocations: CreateLocations };
      const table = parseLocationTable(createSourceLocations(root, dist, file, text));
      tables.set(file, { text, table });
      return table;
    } catch {
      return emptyLocationTable; // a file that is being edited can be invalid or gone
    }
  }

  function toSourceFrame(frame: StackFrame): StackFrame {
    if (!frame.file.startsWith('client/')) return frame;
    const place = toSource(frame.file.slice('client'.length), frame.line, frame.column);
    return place ? { ...frame, ...place, file: toFrameFile(place.file, { dist }) } : frame;
  }

  return {
    find(frame) {
      const source = toSourceFrame(frame);
      return tableOf(source.file).find(source);
    },
    has: () => true,
    isWritten: (path, property) => tableOf(path).isWritten(path, property),
  };
}
