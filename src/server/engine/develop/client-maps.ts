import { readFileSync, statSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join, resolve } from 'node:path';

interface Place {
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
  return function toSource(path: string, line: number, column: number): Place | undefined {
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
