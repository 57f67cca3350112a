import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { TABLE_FILE, untilBuilt } from '#engine/tracker';
import { MAX_BUILD_FILE_BYTES } from '../../desk-limits.ts';
import type { WithStore } from '../../store/store-holder.ts';

/** Compressed copies of files. */
const COMPRESSED = /\.(?:br|gz|zst)$/;

/** The id of all builds of `npm run dev` (`build/develop/dev-build.mjs`), whose files change constantly. */
export const DEVELOPMENT = 'development';

/**
 * Stores the source maps, table of locations, commits and assets of this build, so that every replica can resolve its errors and
 * serve its open tabs, also after the next deployment. A stored build is not changed, unless the server was
 * rebuilt: a build's id only depends on the files for browsers.
 */
export async function publishBuild(
  withStore: WithStore,
  { build, release, dist }: { build: string; release: string; dist: string },
): Promise<void> {
  if (build === DEVELOPMENT) return;
  await untilBuilt(dist);
  const isPublished = await withStore((store) => store.builds.useBuild({ id: build, release }));
  if (isPublished && (await hasSites(withStore, build, dist))) return;
  // One at a time, so that batches of the journal are stored in between.
  for (const path of listBuildFiles(dist)) {
    const packed = readPacked(join(dist, path));
    await withStore((store) => store.builds.storeBuildFile(build, { path, packed }));
  }
  await withStore((store) => store.builds.setPublished(build));
}

/** Reports whether the stored table of locations is the same. Then the other files are too, on server and browser. */
async function hasSites(withStore: WithStore, build: string, dist: string): Promise<boolean> {
  const path = join(dist, TABLE_FILE);
  if (!existsSync(path)) return true;
  const kept = await withStore((store) => store.builds.readBuildFile(build, TABLE_FILE));
  return kept !== undefined && readFileSync(path).equals(kept);
}

function listBuildFiles(dist: string): readonly string[] {
  const tables = [TABLE_FILE, 'commits.json'].filter((path) => existsSync(join(dist, path)));
  // The tables last, because the table of locations shows that the rest is stored.
  const files = [...listFiles(dist, 'client/assets'), ...listFiles(dist, 'maps'), ...tables];
  return files.filter((path) => !COMPRESSED.test(path) && statSync(join(dist, path)).size <= MAX_BUILD_FILE_BYTES);
}

/** The build has compressed some files itself. */
function readPacked(file: string): Uint8Array {
  return existsSync(`${file}.zst`) ? readFileSync(`${file}.zst`) : zstdCompressSync(readFileSync(file));
}

function listFiles(dist: string, folder: string): string[] {
  if (!existsSync(join(dist, folder))) return [];
  return readdirSync(join(dist, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dist, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}
