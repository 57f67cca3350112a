import type { IncidentState } from '../../../shared/shapes.ts';
import type { IncidentKey } from '../incident-key.ts';
import { toFactColumns } from '../incident-table.ts';
import { insertRows, type Sql, toColumn } from '../sql.ts';
import { type BatchIncident, findLine, type NewOccurrence } from './batch.ts';

/** The state of an incident that was just counted. */
export interface CountedIncident {
  readonly key: IncidentKey;
  readonly state: IncidentState;
}

/** Adds the counts of a batch to its incidents and releases. On PostgreSQL, this locks their rows. */
export async function storeIncidents(
  sql: Sql,
  incidents: readonly BatchIncident[],
  environment: string,
): Promise<CountedIncident[]> {
  const rows = incidents.map(({ key, digest, occurrences }) => {
    const [first] = occurrences;
    const last = occurrences.at(-1) ?? first;
    const ofServers = occurrences.filter(({ side }) => side === 'server').length;
    return {
      key,
      digest,
      environment,
      ...toFactColumns(occurrences.find(isFatal)?.full ?? occurrences.find(({ full }) => full)?.full),
      location_line: findLocationLine(occurrences) ?? null,
      first_at: first.at,
      last_at: last.at,
      first_release: toColumn(first.release),
      last_release: toColumn(last.release),
      server_count: ofServers,
      browser_count: occurrences.length - ofServers,
    };
  });
  const suffix = `${ON_KNOWN_INCIDENT} RETURNING key, state`;
  const counted = await insertRows<CountedIncident>(sql, 'desk_incidents', rows, suffix);
  await storeReleases(sql, incidents);
  return counted;
}

function isFatal({ full }: NewOccurrence): boolean {
  return full?.kind === 'server-exit';
}

/** Returns the line of the latest full record. The location itself has none, because lines move from build to build. */
function findLocationLine(occurrences: readonly NewOccurrence[]): number | undefined {
  const lines = occurrences.map(({ full }) => full && findLine(full.location, full));
  return lines.findLast((line) => line !== undefined);
}

/** Adds a batch to a known incident. The batch can be older, because journals of dead processes arrive late. */
const ON_KNOWN_INCIDENT = `ON CONFLICT (key) DO UPDATE SET ${[
  ...Object.keys(toFactColumns(undefined)).map((name) =>
    replaceIf("(desk_incidents.described = 0 AND excluded.described = 1) OR excluded.kind = 'server-exit'", name),
  ),
  ...['first_release', 'first_at'].map((name) => replaceIf('excluded.first_at < desk_incidents.first_at', name)),
  ...['last_release', 'last_at'].map((name) => replaceIf('excluded.last_at >= desk_incidents.last_at', name)),
  'server_count = desk_incidents.server_count + excluded.server_count',
  'browser_count = desk_incidents.browser_count + excluded.browser_count',
  // A batch without a stack does not change the line.
  replaceIf(
    'excluded.location_line IS NOT NULL AND (desk_incidents.location_line IS NULL OR excluded.last_at >= desk_incidents.last_at)',
    'location_line',
  ),
].join(', ')}`;

function replaceIf(condition: string, name: string): string {
  return `${name} = CASE WHEN ${condition} THEN excluded.${name} ELSE desk_incidents.${name} END`;
}

async function storeReleases(sql: Sql, incidents: readonly BatchIncident[]): Promise<void> {
  const rows = incidents.flatMap(({ key, occurrences }) =>
    [...Map.groupBy(occurrences, ({ release, build }) => `${release}\n${build}`).values()].flatMap((group) => {
      const [first] = group;
      if (!first) return [];
      const { release, build, at } = first;
      const columns = { key, release: toColumn(release), build: toColumn(build) };
      return [{ ...columns, first_at: at, last_at: group.at(-1)?.at ?? at, count: group.length }];
    }),
  );
  await insertRows(
    sql,
    'desk_releases',
    rows,
    `ON CONFLICT (key, release, build) DO UPDATE SET
      first_at = CASE WHEN excluded.first_at < desk_releases.first_at THEN excluded.first_at ELSE desk_releases.first_at END,
      last_at = CASE WHEN excluded.last_at > desk_releases.last_at THEN excluded.last_at ELSE desk_releases.last_at END,
      count = desk_releases.count + excluded.count`,
  );
}
