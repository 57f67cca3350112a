import { zstdDecompressSync } from 'node:zlib';
import { BUILD_AGE, MAX_BUILD_BYTES } from '../desk-limits.ts';
import { insertRows, readNumber, type SqlDriver } from './sql.ts';
import type { StoreContext } from './store-context.ts';

/** A file of a build: `maps/server/main.js.map`, `sites.json`, `client/assets/home-X7K2QM2X.js`. */
interface BuildFile {
  /** Relative to `dist`. */
  readonly path: string;
  /** The content, compressed with zstd. */
  readonly packed: Uint8Array;
}

export interface BuildRecord {
  readonly id: string;
  readonly release: string;
  /** When it was first started (ms since 1970, by the store's clock). */
  readonly firstAt: number;
}

/** The most builds that are listed (a count). Charts, filters and open tabs need those of some weeks. */
const MAX_LISTED_BUILDS = 500;

export type BuildTable = ReturnType<typeof createBuildTable>;

export function createBuildTable({ driver, reader, environment }: StoreContext) {
  async function readFile(where: string, values: readonly string[]): Promise<Uint8Array | undefined> {
    const [file] = await reader.all<{ data: Uint8Array }>(
      `SELECT data FROM desk_build_files WHERE ${where} LIMIT 1`,
      values,
    );
    return file && zstdDecompressSync(file.data);
  }

  return {
    /**
     * Records that this process runs a build, and when the build was first started in this environment.
     *
     * @returns whether the store has all of its files
     */
    async useBuild(build: { id: string; release: string }): Promise<boolean> {
      const { now } = driver.dialect;
      await driver.run(
        `INSERT INTO desk_builds (id, release, first_at, used_at, published) VALUES (?, ?, ${now}, ${now}, 0)
          ON CONFLICT (id) DO UPDATE SET used_at = excluded.used_at`,
        [build.id, build.release],
      );
      await driver.run(
        `INSERT INTO desk_deployments (environment, build, first_at) VALUES (?, ?, ${now}) ON CONFLICT DO NOTHING`,
        [environment, build.id],
      );
      return (await readNumber(driver, 'SELECT published AS value FROM desk_builds WHERE id = ?', [build.id])) === 1;
    },

    async storeBuildFile(build: string, { path, packed }: BuildFile): Promise<void> {
      await insertRows(
        driver,
        'desk_build_files',
        [{ build, path, size: packed.length, data: packed }],
        'ON CONFLICT (build, path) DO UPDATE SET size = excluded.size, data = excluded.data',
      );
    },

    async setPublished(build: string): Promise<void> {
      await driver.run('UPDATE desk_builds SET published = 1 WHERE id = ?', [build]);
    },

    readBuildFile: (build: string, path: string) => readFile('build = ? AND path = ?', [build, path]),

    /** Returns an asset from any build that has it. The names of assets include a hash of their content. */
    readAsset: (path: string) => readFile('path = ?', [path]),

    /** Lists the latest builds of all environments. Events from unknown builds are not trusted. */
    async listBuilds(): Promise<BuildRecord[]> {
      return reader.all<BuildRecord>(
        `SELECT id, release, first_at AS "firstAt" FROM desk_builds ORDER BY first_at DESC LIMIT ${MAX_LISTED_BUILDS}`,
      );
    },

    /** Lists the latest builds that were started in an environment, the latest first. */
    async listDeployments(of: string): Promise<BuildRecord[]> {
      return reader.all<BuildRecord>(
        `SELECT b.id, b.release, d.first_at AS "firstAt" FROM desk_builds b
          JOIN desk_deployments d ON d.build = b.id AND d.environment = ? ORDER BY d.first_at DESC LIMIT ${MAX_LISTED_BUILDS}`,
        [of],
      );
    },

    /** Lists the environments that used the store, sorted. */
    async listEnvironments(): Promise<string[]> {
      const rows = await reader.all<{ environment: string }>(
        'SELECT DISTINCT environment FROM desk_deployments ORDER BY environment',
      );
      return [...new Set([environment, ...rows.map((row) => row.environment)])].sort();
    },
  };
}

/**
 * Deletes the files of old builds. Their rows stay for now, because they record when releases were first published.
 *
 * @param current the running build, which is never deleted. Its age counts from when it stops running,
 *   because open tabs still use it then
 */
export async function dropOldBuilds(driver: SqlDriver, current: string): Promise<void> {
  await driver.run(`UPDATE desk_builds SET used_at = ${driver.dialect.now} WHERE id = ?`, [current]);
  const builds = await driver.all<{ id: string; used_at: number; bytes: number; now: number }>(
    `SELECT d.id, d.used_at, ${driver.dialect.now} AS now, SUM(f.size) AS bytes FROM desk_builds d
      JOIN desk_build_files f ON f.build = d.id GROUP BY d.id, d.used_at ORDER BY d.used_at DESC`,
  );
  let bytes = 0;
  for (const { id, used_at, now, bytes: own } of builds) {
    bytes += own;
    if (id === current || (now - used_at <= BUILD_AGE && bytes <= MAX_BUILD_BYTES)) continue;
    await driver.run('UPDATE desk_builds SET published = 0 WHERE id = ?', [id]);
    await driver.run('DELETE FROM desk_build_files WHERE build = ?', [id]);
  }
}
