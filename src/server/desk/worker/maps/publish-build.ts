import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { MAX_BUILD_FILE_BYTES } from '../../limits.ts';
import type { BuildFile } from '../../store/servers/build-table.ts';
import type { StoreHolder } from '../store-holder.ts';

/** Copies that the build compressed. */
const COMPRESSED = /\.(?:br|gz|zst)$/;

/** What `npm run dev` calls each of its builds (`build/develop/dev-build.mjs`): the next minute they are others. */
export const DEVELOPMENT = 'development';

/**
 * Puts maps, sites and assets of this build into the store, so that every replica resolves its errors
 * and serves its tabs, now and after the next deploy. What is there is left alone, unless the server
 * alone was built anew: the name of a build is that of what browsers get.
 */
export async function publishBuild(
  holder: Pick<StoreHolder, 'use'>,
  { build, release, dist }: { build: string; release: string; dist: string },
): Promise<void> {
  if (build === DEVELOPMENT) return;
  const isPublished = await holder.use((store) => store.useBuild({ id: build, release }));
  if (isPublished && (await hasSites(holder, build, dist))) return;
  // One at a time: what comes from the journal goes in between.
  for (const file of listBuildFiles(dist)) await holder.use((store) => store.storeBuildFile(build, file));
  await holder.use((store) => store.setPublished(build));
}

/** The table of sites is of both halves: where it is the same, so is the rest. */
async function hasSites(holder: Pick<StoreHolder, 'use'>, build: string, dist: string): Promise<boolean> {
  const path = join(dist, 'sites.json');
  if (!existsSync(path)) return true;
  const kept = await holder.use((store) => store.readBuildFile(build, 'sites.json'));
  return kept !== undefined && readFileSync(path).equals(kept);
}

function listBuildFiles(dist: string): readonly BuildFile[] {
  const folders = ['maps', 'client/assets'].flatMap((folder) => listFiles(dist, folder));
  const paths = existsSync(join(dist, 'sites.json')) ? ['sites.json', ...folders] : folders;
  return paths
    .filter((path) => !COMPRESSED.test(path) && statSync(join(dist, path)).size <= MAX_BUILD_FILE_BYTES)
    .map((path) => ({
      path,
      read: () => readFileSync(join(dist, path)),
      readPacked: () => (existsSync(join(dist, `${path}.zst`)) ? readFileSync(join(dist, `${path}.zst`)) : undefined),
    }));
}

function listFiles(dist: string, folder: string): string[] {
  if (!existsSync(join(dist, folder))) return [];
  return readdirSync(join(dist, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dist, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}
