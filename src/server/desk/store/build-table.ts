import { createHash } from 'node:crypto';
import { BUILD_AGE, MAX_BUILD_BYTES } from '../limits.ts';
import { packBytes, unpackBytes } from './pack.ts';
import { insertRows, placeholders, type Sql, type SqlDriver } from './sql.ts';

/** A file of a build: `maps/server/main.js.map`, `sites.json`, `client/assets/home-X7K2QM2X.js`. */
export interface BuildFile {
  /** Within `dist`. */
  readonly path: string;
  read(): Uint8Array;
  /** Its bytes as the build compressed them with zstd, where it did. */
  readPacked?(): Uint8Array | undefined;
}

/**
 * @param environment where it runs: a release is new in each of them
 * @returns whether all of its files are in the store
 */
export async function useBuild(
  driver: SqlDriver,
  build: { id: string; release: string },
  environment: string,
): Promise<boolean> {
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
  const [row] = await driver.all<{ published: number }>('SELECT published FROM desk_builds WHERE id = ?', [build.id]);
  return row?.published === 1;
}

/**
 * Keeps a file under its build. Its content is kept once, however many builds have it: most chunks
 * of two builds are the same.
 */
export async function storeBuildFile(driver: SqlDriver, build: string, file: BuildFile): Promise<void> {
  const bytes = file.read();
  const hash = createHash('sha256').update(bytes).digest('hex');
  const known = await driver.all('SELECT 1 AS one FROM desk_blobs WHERE hash = ?', [hash]);
  const data = known.length > 0 ? undefined : (file.readPacked?.() ?? packBytes(bytes));
  await driver.transaction(async (sql) => {
    // The file first: a blob that a file names is not swept.
    await insertRows(
      sql,
      'desk_build_files',
      ['build', 'path', 'hash'],
      [[build, file.path, hash]],
      'ON CONFLICT (build, path) DO UPDATE SET hash = excluded.hash',
    );
    if (data) {
      await insertRows(
        sql,
        'desk_blobs',
        ['hash', 'size', 'data'],
        [[hash, bytes.length, data]],
        'ON CONFLICT (hash) DO NOTHING',
      );
    }
  });
}

export async function setPublished(sql: Sql, build: string): Promise<void> {
  await sql.run('UPDATE desk_builds SET published = 1 WHERE id = ?', [build]);
}

export async function readBuildFile(sql: Sql, build: string, path: string): Promise<Uint8Array | undefined> {
  const rows = await sql.all<{ data: Uint8Array }>(
    'SELECT b.data FROM desk_build_files f JOIN desk_blobs b ON b.hash = f.hash WHERE f.build = ? AND f.path = ?',
    [build, path],
  );
  return rows[0] && unpackBytes(rows[0].data);
}

/** The file of whichever build has it: the names of assets hold a hash of what is in them. */
export async function readAsset(sql: Sql, path: string): Promise<Uint8Array | undefined> {
  const rows = await sql.all<{ data: Uint8Array }>(
    'SELECT b.data FROM desk_build_files f JOIN desk_blobs b ON b.hash = f.hash WHERE f.path = ? LIMIT 1',
    [path],
  );
  return rows[0] && unpackBytes(rows[0].data);
}

export interface KnownBuild {
  readonly id: string;
  readonly release: string;
  /** When it was first started (ms since 1970, by the store's clock). */
  readonly firstAt: number;
}

/** All builds that the store knows, in any environment. Events from other builds are not trusted. */
export async function listBuilds(sql: Sql): Promise<KnownBuild[]> {
  return sql.all<KnownBuild>(`SELECT id, release, first_at AS "firstAt" FROM desk_builds ORDER BY first_at DESC`);
}

/**
 * Builds that were started in an environment, and when that was.
 *
 * @param home builds without a recorded deployment, which an earlier release started, count for it
 */
export async function listDeployments(sql: Sql, environment: string, home: string): Promise<KnownBuild[]> {
  return sql.all<KnownBuild>(
    `SELECT b.id, b.release, COALESCE(d.first_at, b.first_at) AS "firstAt" FROM desk_builds b
      LEFT JOIN desk_deployments d ON d.build = b.id AND d.environment = ?
      WHERE d.build IS NOT NULL OR (? = ? AND NOT EXISTS (SELECT 1 FROM desk_deployments o WHERE o.build = b.id))
      ORDER BY 3 DESC`,
    [environment, environment, home],
  );
}

/** The environments that used the store, sorted, and the one whose incidents have plain digests (`incident-key.ts`). */
export async function readEnvironments(
  sql: Sql,
): Promise<{ readonly home: string; readonly names: readonly string[] }> {
  const rows = await sql.all<{ environment: string; home: string }>(
    `SELECT environment, (SELECT value FROM desk_meta WHERE name = 'home_environment') AS home FROM desk_deployments
      WHERE build = '' ORDER BY environment`,
  );
  return { home: rows[0]?.home ?? '', names: rows.map(({ environment }) => environment) };
}

/**
 * Deletes what no build that is kept names any more.
 *
 * @param current is never deleted, and counts as used: its age begins when it stops running, for the
 *   tabs that are open then
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

/** Its row stays: releases are told apart by when they were first published. */
export async function dropBuild(driver: SqlDriver, id: string): Promise<void> {
  await driver.transaction(async (sql) => {
    const files = await sql.all<{ hash: string }>('SELECT hash FROM desk_build_files WHERE build = ?', [id]);
    await sql.run('DELETE FROM desk_build_files WHERE build = ?', [id]);
    await sql.run('UPDATE desk_builds SET published = 0 WHERE id = ?', [id]);
    const hashes = [...new Set(files.map(({ hash }) => hash))];
    for (let start = 0; start < hashes.length; start += 500) {
      const some = hashes.slice(start, start + 500);
      await sql.run(
        `DELETE FROM desk_blobs WHERE hash IN (${placeholders(some)})
          AND NOT EXISTS (SELECT 1 FROM desk_build_files f WHERE f.hash = desk_blobs.hash)`,
        some,
      );
    }
  });
}
