import { createHash } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { BUILD_AGE, MAX_BUILD_BYTES } from '../limits.ts';
import { exists, inParts, insertRows, placeholders, readNumber, type SqlDriver } from './sql.ts';
import type { StoreContext } from './store-context.ts';

/** A file of a build: `maps/server/main.js.map`, `sites.json`, `client/assets/home-X7K2QM2X.js`. */
export interface BuildFile {
  /** Relative to `dist`. */
  readonly path: string;
  /** Returns new bytes at each call, because they are freed when they are stored. So does `readPacked()`. */
  read(): Uint8Array;
  /** Returns the file as the build compressed it with zstd, or undefined if it did not. */
  readPacked?(): Uint8Array | undefined;
}

export interface KnownBuild {
  readonly id: string;
  readonly release: string;
  /** When it was first started (ms since 1970, by the store's clock). */
  readonly firstAt: number;
}

export function createBuildTable({ driver, reader, environment }: StoreContext) {
  return {
    /**
     * Records that this process runs a build, and when the build was first started in this environment.
     *
     * @returns whether the store has all of its files
     */
    async useBuild(build: { id: string; release: string }): Promise<boolean> {
      const { now } = driver.dialect;
      await driver.run(
        `INSERT INTO desk_deployments (environment, build, first_at) VALUES (?, ?, ${now}) ON CONFLICT DO NOTHING`,
        [environment, build.id],
      );
      await driver.run(
        `INSERT INTO desk_builds (id, release, first_at, used_at, published) VALUES (?, ?, ${now}, ${now}, 0)
          ON CONFLICT (id) DO UPDATE SET used_at = excluded.used_at`,
        [build.id, build.release],
      );
      return (await readNumber(driver, 'SELECT published AS value FROM desk_builds WHERE id = ?', [build.id])) === 1;
    },

    /**
     * Stores a file of a build. Builds share equal content, because most chunks do not change between two
     * builds.
     */
    async storeBuildFile(build: string, file: BuildFile): Promise<void> {
      const bytes = file.read();
      const hash = createHash('sha256').update(bytes).digest('hex');
      const isKnown = await exists(driver, 'SELECT 1 FROM desk_blobs WHERE hash = ?', [hash]);
      const data = isKnown ? undefined : (file.readPacked?.() ?? zstdCompressSync(bytes));
      const size = bytes.length;
      free(bytes);
      await driver.transaction(async (sql) => {
        // The file comes first, because a blob without a file could be deleted.
        await insertRows(
          sql,
          'desk_build_files',
          [{ build, path: file.path, hash }],
          'ON CONFLICT (build, path) DO UPDATE SET hash = excluded.hash',
        );
        const blobs = data ? [{ hash, size, data }] : [];
        await insertRows(sql, 'desk_blobs', blobs, 'ON CONFLICT (hash) DO NOTHING');
      });
      if (data) free(data);
    },

    async setPublished(build: string): Promise<void> {
      await driver.run('UPDATE desk_builds SET published = 1 WHERE id = ?', [build]);
    },

    async readBuildFile(build: string, path: string): Promise<Uint8Array | undefined> {
      const rows = await reader.all<{ data: Uint8Array }>(
        'SELECT b.data FROM desk_build_files f JOIN desk_blobs b ON b.hash = f.hash WHERE f.build = ? AND f.path = ?',
        [build, path],
      );
      return rows[0] && zstdDecompressSync(rows[0].data);
    },

    /** Returns an asset from any build that has it. The names of assets include a hash of their content. */
    async readAsset(path: string): Promise<Uint8Array | undefined> {
      const rows = await reader.all<{ data: Uint8Array }>(
        'SELECT b.data FROM desk_build_files f JOIN desk_blobs b ON b.hash = f.hash WHERE f.path = ? LIMIT 1',
        [path],
      );
      return rows[0] && zstdDecompressSync(rows[0].data);
    },

    /** Lists the builds of all environments. Events from unknown builds are not trusted. */
    async listBuilds(): Promise<KnownBuild[]> {
      return reader.all<KnownBuild>(
        `SELECT id, release, first_at AS "firstAt" FROM desk_builds ORDER BY first_at DESC`,
      );
    },

    /** Lists the builds that were started in an environment, the latest first. */
    async listDeployments(of: string): Promise<KnownBuild[]> {
      return reader.all<KnownBuild>(
        `SELECT b.id, b.release, d.first_at AS "firstAt" FROM desk_builds b
          JOIN desk_deployments d ON d.build = b.id AND d.environment = ? ORDER BY d.first_at DESC`,
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
 * Frees the memory of a file at once. In an idle thread nothing collects garbage, so 20 MB of source maps would stay. Small
 * files share their memory with others.
 */
function free({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/**
 * Deletes the files of old builds.
 *
 * @param current the running build, which is never deleted. Its age counts from when it stops running,
 *   because open tabs still use it then
 */
export async function dropOldBuilds(driver: SqlDriver, current: string): Promise<void> {
  await driver.run(`UPDATE desk_builds SET used_at = ${driver.dialect.now} WHERE id = ?`, [current]);
  const builds = await driver.all<{ id: string; used_at: number; bytes: number; now: number }>(
    `SELECT d.id, d.used_at, ${driver.dialect.now} AS now, COALESCE(SUM(b.size), 0) AS bytes FROM desk_builds d
      LEFT JOIN desk_build_files f ON f.build = d.id LEFT JOIN desk_blobs b ON b.hash = f.hash
      GROUP BY d.id, d.used_at ORDER BY d.used_at DESC`,
  );
  let bytes = 0;
  const old = builds.filter(({ id, used_at, now, bytes: own }) => {
    bytes += own;
    return id !== current && (now - used_at > BUILD_AGE || bytes > MAX_BUILD_BYTES);
  });
  for (const { id } of old) await dropBuild(driver, id);
}

/** Deletes a build's files. Its row stays, because it records when the release was first published. */
async function dropBuild(driver: SqlDriver, id: string): Promise<void> {
  await driver.transaction(async (sql) => {
    const files = await sql.all<{ hash: string }>('SELECT hash FROM desk_build_files WHERE build = ?', [id]);
    await sql.run('DELETE FROM desk_build_files WHERE build = ?', [id]);
    await sql.run('UPDATE desk_builds SET published = 0 WHERE id = ?', [id]);
    const hashes = [...new Set(files.map(({ hash }) => hash))];
    for (const some of inParts(hashes)) {
      await sql.run(
        `DELETE FROM desk_blobs WHERE hash IN (${placeholders(some)})
          AND NOT EXISTS (SELECT 1 FROM desk_build_files f WHERE f.hash = desk_blobs.hash)`,
        some,
      );
    }
  });
}
