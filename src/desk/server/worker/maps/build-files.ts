import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  emptyLocationTable,
  isSource,
  type LocationTable,
  parseLocationTable,
  TABLE_FILE,
  toSourcePath,
  untilBuilt,
} from '#engine/tracker';
import type { WithStore } from '../../store/store-holder.ts';
import { DEVELOPMENT } from './publish-build.ts';

export interface MapText {
  /** The path in `dist`. Paths in the map are relative to it. */
  readonly path: string;
  readonly text: string;
}

interface BuildFilesOptions {
  /** The running build, and its folder. */
  readonly build: string;
  readonly dist: string;
  readonly withStore: WithStore;
}

export type BuildFiles = ReturnType<typeof createBuildFiles>;

/** Reads source maps and tables of locations. Those of this build are in its folder, and those of other builds in the store. */
export function createBuildFiles({ build, dist, withStore }: BuildFilesOptions) {
  /** The last table, because one failure needs it for each of its frames. */
  let locations: { readonly build: string; readonly table: LocationTable | undefined } | undefined;

  async function readBuilt(path: string): Promise<MapText | undefined> {
    await untilBuilt(dist);
    const text = await readFile(join(dist, path), 'utf8').catch(() => undefined);
    return text === undefined ? undefined : { path, text };
  }

  async function readStored(of: string, path: string): Promise<MapText | undefined> {
    const bytes = await withStore((store) => store.builds.readBuildFile(of, path));
    return bytes && { path, text: Buffer.from(bytes).toString('utf8') };
  }

  return {
    /** @param file the file of a frame, for example `server/main.js` */
    async readMap(of: string, file: string): Promise<MapText | undefined> {
      const path = `maps/${file}.map`;
      if (of !== build) return readStored(of, path);
      return (await readBuilt(path)) ?? (await readBuilt(`${file}.map`));
    },
    /** The text of a source file. Under `npm run dev`, the server's stacks name these. */
    async readSource(of: string, file: string): Promise<string | undefined> {
      if (of !== DEVELOPMENT || of !== build || !isSource(file)) return undefined;
      return readFile(toSourcePath(file, { dist }), 'utf8').catch(() => undefined);
    },
    /** Reads the functions and statements of a build. @returns undefined if it has none */
    async readLocations(of: string): Promise<LocationTable | undefined> {
      if (locations?.build !== of) {
        const found = of === build ? await readBuilt(TABLE_FILE) : await readStored(of, TABLE_FILE);
        locations = { build: of, table: found && parseTable(found.text) };
      }
      return locations.table;
    },
    /** Frees the last table. */
    sweep() {
      locations = undefined;
    },
  };
}

/** Returns an empty table if the text is from another version. Digests are then made from the errors' texts. */
function parseTable(text: string): LocationTable {
  try {
    return parseLocationTable(text);
  } catch {
    return emptyLocationTable;
  }
}
