import { hash } from 'node:crypto';
import { maskMessage } from '../../../engine/errors/digest/mask-message.ts';
import { splitKey } from '../incident-key.ts';
import { insertRows, placeholders, type Sql, type SqlValue } from '../sql.ts';
import { toColumn, toOptionalColumn } from '../to-column.ts';
import type { CountedRow } from './settle-states.ts';
import type { IncidentFacts, Tally } from './tally.ts';

/**
 * Records incidents that are new in an environment. Before schema 9, all environments shared one incident.
 * Environments that had seen it keep its state, and in all others it is new.
 */
export async function beginInEnvironment(
  sql: Sql,
  tallies: readonly Tally[],
  { environment, home }: { readonly environment: string; readonly home: string },
): Promise<void> {
  const begun = await insertRows<{ digest: string }>(
    sql,
    'desk_environments',
    tallies.map(({ digest }) => ({ digest, environment })),
    'ON CONFLICT DO NOTHING RETURNING digest',
  );
  if (begun.length === 0) return;
  const digests = begun.map(({ digest }) => splitKey(digest).digest);
  const some = placeholders(digests);
  if (environment === home) {
    await sql.run(
      `UPDATE desk_incidents SET state = 'open', resolved_in = NULL, ignored_until = NULL, ignored_growth = NULL,
        untold = 'new' WHERE digest IN (${some})
        AND EXISTS (SELECT 1 FROM desk_environments e WHERE e.digest = desk_incidents.digest AND e.environment <> ?)`,
      [...digests, environment],
    );
    return;
  }
  await sql.run(
    `INSERT INTO desk_incidents (digest, environment, server_count, browser_count, untold, ${KNOWN_COLUMNS})
      SELECT i.digest || '@' || e.environment, e.environment, 0, 0, NULL, ${KNOWN_COLUMNS}
      FROM desk_incidents i JOIN desk_environments e ON e.digest = i.digest
      WHERE i.digest IN (${some}) AND e.environment = ? ON CONFLICT DO NOTHING`,
    [...digests, environment],
  );
}

/** Adds the counts of a batch to its incidents. On PostgreSQL, this locks their rows until the transaction ends. */
export async function storeIncidents(sql: Sql, tallies: readonly Tally[]): Promise<CountedRow[]> {
  const rows = tallies.map((tally) => ({
    digest: tally.digest,
    ...toFactColumns(tally.facts),
    state: 'open',
    first_side: tally.firstSide,
    first_at: tally.firstAt,
    last_at: tally.lastAt,
    first_release: toColumn(tally.first.release),
    first_build: toColumn(tally.first.build),
    last_release: toColumn(tally.last.release),
    last_build: toColumn(tally.last.build),
    server_count: tally.counts.server,
    browser_count: tally.counts.browser,
    site_line: tally.locationLine ?? null,
    environment: splitKey(tally.digest).environment ?? null,
  }));
  const suffix = `${ON_KNOWN_INCIDENT} RETURNING digest, state, merged_into, merged_count`;
  return insertRows<CountedRow>(sql, 'desk_incidents', rows, suffix);
}

/** Returns a hash of the error's class and masked message, which is the same for similar messages. */
function toShape({ class: name, message }: IncidentFacts): string {
  return hash('sha1', `${name}\n${maskMessage(message)}`, 'base64url').slice(0, 12);
}

/** Columns of `desk_incidents` that are filled from a full record. */
const FACT_COLUMNS = [
  ...(['rule', 'kind', 'title', 'class', 'message', 'site_path', 'site_function', 'site_detail'] as const),
  ...(['route', 'weak', 'shape'] as const),
];

export function toFactColumns(facts: IncidentFacts): Record<(typeof FACT_COLUMNS)[number], SqlValue> {
  const { rule, kind, site } = facts;
  return {
    rule,
    kind,
    title: toColumn(facts.title),
    class: toColumn(facts.class),
    message: toColumn(facts.message),
    site_path: toOptionalColumn(site?.path),
    site_function: toOptionalColumn(site?.function),
    site_detail: toOptionalColumn(site?.detail),
    route: toOptionalColumn(facts.route),
    weak: facts.weak ? 1 : 0,
    shape: rule > 0 ? toShape(facts) : null,
  };
}

/** The facts and the state of an incident in one environment. */
const KNOWN_COLUMNS = [
  ...FACT_COLUMNS,
  ...['state', 'state_at', 'state_by', 'resolved_in', 'ignored_until', 'ignored_growth', 'assignee'],
  ...['first_side', 'first_at', 'last_at', 'first_release', 'first_build', 'last_release', 'last_build', 'site_line'],
].join(', ');

/** Merges a batch into a known incident. The batch can be older, because journals of dead processes arrive late. */
const ON_KNOWN_INCIDENT = `ON CONFLICT (digest) DO UPDATE SET ${[
  ...FACT_COLUMNS.map((name) =>
    exchangeWhere("desk_incidents.rule = 0 AND (excluded.rule > 0 OR desk_incidents.title = '')", name),
  ),
  ...['first_release', 'first_build', 'first_at'].map((name) =>
    exchangeWhere('excluded.first_at < desk_incidents.first_at', name),
  ),
  ...['last_release', 'last_build', 'last_at'].map((name) =>
    exchangeWhere('excluded.last_at >= desk_incidents.last_at', name),
  ),
  'server_count = desk_incidents.server_count + excluded.server_count',
  'browser_count = desk_incidents.browser_count + excluded.browser_count',
  // A batch without a stack does not change the line.
  exchangeWhere(
    'excluded.site_line IS NOT NULL AND (desk_incidents.site_line IS NULL OR excluded.last_at >= desk_incidents.last_at)',
    'site_line',
  ),
].join(', ')}`;

function exchangeWhere(condition: string, name: string): string {
  return `${name} = CASE WHEN ${condition} THEN excluded.${name} ELSE desk_incidents.${name} END`;
}

export async function storeReleases(sql: Sql, tallies: readonly Tally[]): Promise<void> {
  const rows = tallies.flatMap(({ digest, releases }) =>
    releases.map(({ release, build, firstAt, lastAt, count }) => ({
      digest,
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
    `ON CONFLICT (digest, release, build) DO UPDATE SET
      first_at = CASE WHEN excluded.first_at < desk_releases.first_at THEN excluded.first_at ELSE desk_releases.first_at END,
      last_at = CASE WHEN excluded.last_at > desk_releases.last_at THEN excluded.last_at ELSE desk_releases.last_at END,
      count = desk_releases.count + excluded.count`,
  );
}
