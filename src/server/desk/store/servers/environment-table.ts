import { toKeyIn } from '../incident-key.ts';
import type { Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import type { KnownBuild } from './build-table.ts';

/**
 * Lists the builds that were started in an environment, and when. Builds without a recorded deployment, which
 * an earlier release started, count for the home environment.
 */
export async function listDeployments(
  { reader, home }: Pick<StoreContext, 'reader' | 'home'>,
  environment: string,
): Promise<KnownBuild[]> {
  return reader.all<KnownBuild>(
    `SELECT b.id, b.release, COALESCE(d.first_at, b.first_at) AS "firstAt" FROM desk_builds b
      LEFT JOIN desk_deployments d ON d.build = b.id AND d.environment = ?
      WHERE d.build IS NOT NULL OR (? = ? AND NOT EXISTS (SELECT 1 FROM desk_deployments o WHERE o.build = b.id))
      ORDER BY 3 DESC`,
    [environment, environment, home],
  );
}

/** Returns the environments that used the store, sorted, and the home environment (`incident-key.ts`). */
export async function readEnvironments(
  sql: Sql,
): Promise<{ readonly home: string; readonly names: readonly string[] }> {
  const rows = await sql.all<{ environment: string; home: string }>(
    `SELECT environment, (SELECT value FROM desk_meta WHERE name = 'home_environment') AS home FROM desk_deployments
      WHERE build = '' ORDER BY environment`,
  );
  return { home: rows[0]?.home ?? '', names: rows.map(({ environment }) => environment) };
}

export async function listEnvironments({ reader }: StoreContext): Promise<readonly string[]> {
  return (await readEnvironments(reader)).names;
}

/**
 * Returns the keys that a digest can have.
 *
 * @param environment all environments by default, first that of this process
 */
export async function listKeys(
  context: StoreContext,
  digest: string,
  environment?: string,
): Promise<readonly string[]> {
  const { reader, home, environment: own } = context;
  const environments =
    environment === undefined ? new Set([own, ...(await readEnvironments(reader)).names]) : [environment];
  return [...environments].map((name) => toKeyIn(digest, name, home));
}

export const queries = { listDeployments, listEnvironments };
