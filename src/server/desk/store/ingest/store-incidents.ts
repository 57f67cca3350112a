import type { IncidentState } from '../../../../shared/desk/shapes.ts';
import type { IncidentKey } from '../incident-key.ts';
import { FACT_COLUMNS, toFactColumns } from '../incident-table.ts';
import { insertRows, type Sql, toColumn } from '../sql.ts';
import type { Tally } from './tally.ts';

/** The state of an incident that was just counted. */
export interface CountedIncident {
  readonly key: IncidentKey;
  readonly state: IncidentState;
}

/** Adds the counts of a batch to its incidents and releases. On PostgreSQL, this locks their rows. */
export async function storeIncidents(
  sql: Sql,
  tallies: readonly Tally[],
  environment: string,
): Promise<CountedIncident[]> {
  const rows = tallies.map(({ key, digest, facts, firstSide, first, last, counts, locationLine }) => ({
    key,
    digest,
    environment,
    ...toFactColumns(facts),
    location_line: locationLine ?? null,
    first_side: firstSide,
    first_at: first.firstAt,
    last_at: last.lastAt,
    first_release: toColumn(first.release),
    first_build: toColumn(first.build),
    last_release: toColumn(last.release),
    last_build: toColumn(last.build),
    server_count: counts.server,
    browser_count: counts.browser,
  }));
  const incidents = await insertRows<CountedIncident>(
    sql,
    'desk_incidents',
    rows,
    `${ON_KNOWN_INCIDENT} RETURNING key, state`,
  );
  await storeReleases(sql, tallies);
  return incidents;
}

/** Adds a batch to a known incident. The batch can be older, because journals of dead processes arrive late. */
const ON_KNOWN_INCIDENT = `ON CONFLICT (key) DO UPDATE SET ${[
  ...FACT_COLUMNS.map((name) =>
    replaceIf("desk_incidents.rule = 0 AND (excluded.rule > 0 OR desk_incidents.title = '')", name),
  ),
  ...['first_release', 'first_build', 'first_at'].map((name) =>
    replaceIf('excluded.first_at < desk_incidents.first_at', name),
  ),
  ...['last_release', 'last_build', 'last_at'].map((name) =>
    replaceIf('excluded.last_at >= desk_incidents.last_at', name),
  ),
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

async function storeReleases(sql: Sql, tallies: readonly Tally[]): Promise<void> {
  const rows = tallies.flatMap(({ key, releases }) =>
    releases.map(({ release, build, firstAt, lastAt, count }) => ({
      key,
      release: toColumn(release),
      build: toColumn(build),
      first_at: firstAt,
      last_at: lastAt,
      count,
    })),
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
