import { readFileSync, statSync } from 'node:fs';
import { createRequire, SourceMap } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import {
  emptyLocationTable,
  isSource,
  type LocationTable,
  parseLocationTable,
} from '../errors/digest/location-table.ts';
import { toFrameFile, toSourcePath } from '../errors/digest/read-error.ts';
import type { StackFrame } from '../errors/failure.ts';

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
    const location = toSource(frame.file.slice('client'.length), frame.line, frame.column);
    return location ? { ...frame, ...location, file: toFrameFile(location.file, { dist }) } : frame;
  }

  return {
    find(frame) {
      const source = toSourceFrame(frame);
      return tableOf(source.file).find(source);
    },
    findFunction: (after, name) => tableOf(after.file).findFunction(after, name),
    has: () => true,
    isWritten: (path, property) => tableOf(path).isWritten(path, property),
  };
}

interface FrameLocation {
  /** Absolute. */
  readonly file: string;
  /** 1-based, like `column`. */
  readonly line: number;
  readonly column: number;
}

/**
 * Returns a function that finds the source of a position in a served script. It keeps maps until their files change.
 *
 * @param dist the folder of the build
 */
export function createClientMaps(dist: string) {
  const client = join(dist, 'client');
  const maps = new Map<string, { readonly changed: number; readonly map: SourceMap | undefined }>();

  function mapOf(file: string): SourceMap | undefined {
    const changed = statSync(`${file}.map`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const known = maps.get(file);
    if (known?.changed === changed) return known.map;
    const map = readMap(file);
    maps.set(file, { changed, map });
    return map;
  }

  /** @param path of the script's URL, such as `/assets/main-X7K2.js`; line and column are 1-based */
  return function toSource(path: string, line: number, column: number): FrameLocation | undefined {
    const file = join(client, path);
    if (!file.startsWith(client)) return undefined;
    const entry = mapOf(file)?.findEntry(line - 1, column - 1);
    if (!entry || !('originalSource' in entry)) return undefined;
    return {
      file: resolve(dirname(file), String(entry.originalSource)),
      line: entry.originalLine + 1,
      column: entry.originalColumn + 1,
    };
  };
}

function readMap(file: string): SourceMap | undefined {
  try {
    const { sourceRoot: _, ...map } = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
    return new SourceMap(map);
  } catch {
    return undefined; // scripts of other sites have no map here
  }
}

/**
 * @param dist the folder of the build
 * @param file of a frame
 * @throws if there is no such file
 */
export function readSourceText(dist: string, file: string): string {
  return readFileSync(toSourcePath(file, { dist }), 'utf8');
}
