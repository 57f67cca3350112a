import { Day, Hour } from '../../../shared/units.ts';
import { CHART_DAYS, type HourCount, toFirstBar } from './charts.ts';
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
    location_detail: toOptionalColumn(location?.detail),
    route: toOptionalColumn(route),
  };
}

interface IncidentRow extends Omit<Incident, 'location' | 'counts'> {
  readonly locationPath?: string;
  readonly locationFunction?: string;
  readonly locationDetail?: string;
  readonly server: number;
  readonly browser: number;
}

const COLUMNS = `key, digest, environment, kind, title, message, location_path AS "locationPath",
  location_function AS "locationFunction", location_detail AS "locationDetail", location_line AS "locationLine",
  route, state, version, NULLIF(state_at, 0) AS "stateAt", state_by AS "stateBy", resolved_in AS "resolvedIn",
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
  const { locationPath: path, locationFunction = '', locationDetail: detail = '', server, browser, ...facts } = row;
  const location = path === undefined ? undefined : { path, function: locationFunction, detail };
  return { ...facts, location, counts: { server, browser } };
}

/** Returns the start of the hour (ms since 1970). */
export function toHour(at: number): number {
  return Math.floor(at / Hour) * Hour;
}

export type IncidentTable = ReturnType<typeof createIncidentTable>;

/** Reads what belongs to one incident. */
export function createIncidentTable({ reader }: StoreContext) {
  /** Returns the time of the latest regression in each release. */
  async function listRegressions(key: IncidentKey): Promise<ReadonlyMap<string, number>> {
    const rows = await reader.all<{ at: number; detail: string }>(
      "SELECT at, detail FROM desk_changes WHERE key = ? AND action = 'regressed' ORDER BY at",
      [key],
    );
    // Written by `reopen-incidents.ts`.
    return new Map(rows.map(({ at, detail }) => [(JSON.parse(detail) as { release: string }).release, at]));
  }

  return {
    /** Lists the hours in which an incident happened, as far as charts go back, the earliest first. */
    listHours: (key: IncidentKey): Promise<HourCount[]> =>
      reader.all<HourCount>(
        'SELECT hour AS at, server_count + browser_count AS count FROM desk_hours WHERE key = ? AND hour >= ? ORDER BY hour',
        [key, toFirstBar(Date.now(), Day, CHART_DAYS)],
      ),

    /** Lists the releases in which an incident happened, ordered by its first occurrence in each. */
    async listReleases(key: IncidentKey): Promise<IncidentRelease[]> {
      const rows = await reader.all<Omit<IncidentRelease, 'regressedAt'>>(
        `SELECT release, build, first_at AS "firstAt", last_at AS "lastAt", count FROM desk_releases
          WHERE key = ? ORDER BY first_at`,
        [key],
      );
      const regressions = await listRegressions(key);
      return rows.map((row) => ({ ...row, regressedAt: regressions.get(row.release) }));
    },
  };
}
