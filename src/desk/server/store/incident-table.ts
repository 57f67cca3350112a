import { Hour } from '../../../shared/units.ts';
import type { IncidentKey } from './incident-key.ts';
import type { Incident, IncidentRelease, StoredFailure } from './records.ts';
import { placeholders, readShapes, type Sql, toColumn, toOptionalColumn } from './sql.ts';
import type { StoreContext } from './store-context.ts';

/** Returns the columns of an incident that are filled from its first full record. `described` is 0 until there is one. */
export function toFactColumns(full: StoredFailure | undefined) {
  const { kind = 'exception', title = '', errors, location, route }: Partial<StoredFailure> = full ?? {};
  return {
    described: Number(full !== undefined),
    kind,
    title: toColumn(title),
    message: toColumn(errors?.[0]?.message ?? ''),
    location_path: toOptionalColumn(location?.path),
    location_function: toOptionalColumn(location?.function),
    route: toOptionalColumn(route),
  };
}

interface IncidentRow extends Omit<Incident, 'location' | 'counts'> {
  readonly locationPath?: string;
  readonly locationFunction?: string;
  readonly server: number;
  readonly browser: number;
}

const COLUMNS = `key, digest, environment, kind, title, message, location_path AS "locationPath",
  location_function AS "locationFunction", location_line AS "locationLine",
  route, state, version, state_at AS "stateAt", state_by AS "stateBy", resolved_in AS "resolvedIn",
  ignored_until AS "ignoredUntil", ignored_growth AS "ignoredGrowth", regressed_release AS "regressedIn",
  first_at AS "firstAt", last_at AS "lastAt", first_release AS "firstRelease", last_release AS "lastRelease",
  server_count AS server, browser_count AS browser, visitors`;

export async function readIncident(sql: Sql, key: IncidentKey): Promise<Incident | undefined> {
  return (await readIncidents(sql, [key]))[0];
}

/** Returns incidents in the given order. Unknown keys are left out. */
export async function readIncidents(sql: Sql, keys: readonly IncidentKey[]): Promise<Incident[]> {
  if (keys.length === 0) return [];
  const rows = await readShapes<IncidentRow>(
    sql,
    `SELECT ${COLUMNS} FROM desk_incidents WHERE key IN (${placeholders(keys)})`,
    keys,
  );
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return keys.flatMap((key) => {
    const row = byKey.get(key);
    return row ? [toIncident(row)] : [];
  });
}

/** Reads an incident, and locks it until the transaction ends. */
export async function lockIncident(sql: Sql, key: IncidentKey): Promise<Incident | undefined> {
  await sql.all(`SELECT 1 AS one FROM desk_incidents WHERE key = ? ${sql.dialect.forUpdate}`, [key]);
  return readIncident(sql, key);
}

function toIncident(row: IncidentRow): Incident {
  const { locationPath: path, locationFunction = '', server, browser, ...facts } = row;
  const location = path === undefined ? undefined : { path, function: locationFunction };
  return { ...facts, location, counts: { server, browser } };
}

/** Returns the start of the hour (ms since 1970). */
export function toHour(at: number): number {
  return Math.floor(at / Hour) * Hour;
}

export type IncidentTable = ReturnType<typeof createIncidentTable>;

export function createIncidentTable({ reader }: StoreContext) {
  return {
    /** Lists the releases in which an incident happened, ordered by its first occurrence in each. */
    listReleases: (key: IncidentKey): Promise<IncidentRelease[]> =>
      readShapes<IncidentRelease>(
        reader,
        `SELECT release, build, first_at AS "firstAt", last_at AS "lastAt", count, regressed_at AS "regressedAt"
          FROM desk_releases WHERE key = ? ORDER BY first_at`,
        [key],
      ),
  };
}
