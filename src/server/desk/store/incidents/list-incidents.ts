import type { IncidentState } from '../../../../shared/desk/shapes.ts';
import { Day, Hour } from '../../../../shared/units.ts';
import type { FailureKind } from '../../../engine/errors/failure.ts';
import { toKeyBeside } from '../incident-key.ts';
import { toHour } from '../ingest/tally.ts';
import type { Incident } from '../records.ts';
import { placeholders, readNumber, type Sql, type SqlValue } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { type Cursor, readCursor, writeCursor } from './cursor.ts';
import { readIncidents } from './incident-table.ts';
import { matchSearch, type SearchMatch } from './search-table.ts';

/** Selects incidents that match all fields that are set. */
export interface IncidentFilter {
  readonly states?: readonly IncidentState[];
  /** Incidents that happened on this side at least once. */
  readonly side?: 'server' | 'browser';
  readonly kinds?: readonly FailureKind[];
  /** The pattern of the route. */
  readonly route?: string;
  /** Seen in this release. */
  readonly release?: string;
  /** Each environment has its own incidents. The default is the one that the store was opened for. */
  readonly environment?: string;
  /** A token's name, or `null` for unassigned incidents. */
  readonly assignee?: string | null;
  /** Seen at or after `from` and before `to` (ms since 1970), exact to the hour. */
  readonly from?: number;
  readonly to?: number;
  /** Words, in any order, that occur in the message, digest, file, function, route, a URL or a user agent. */
  readonly search?: string;
}

/** The sort key. All orders are descending. */
export type IncidentOrder = 'lastSeen' | 'firstSeen' | 'count' | 'visitors';

interface IncidentQuery extends IncidentFilter {
  /** `lastSeen` by default. */
  readonly order?: IncidentOrder;
  /** The most incidents on a page. */
  readonly limit: number;
  /**
   * `next` of the previous page, in the same order. Incidents that happen while the pages are read are
   * neither left out nor listed twice.
   */
  readonly cursor?: string;
  /** Where the charts end (ms since 1970). The default is the current time. */
  readonly now?: number;
}

/** How often an incident happened recently. */
interface IncidentChart {
  /** The start of the first hour (ms since 1970), and 24 counts. The last one is the current hour. */
  readonly hours: { readonly start: number; readonly counts: readonly number[] };
  /** The start of the first day in UTC (ms since 1970), and 14 counts. The last one is today. */
  readonly days: { readonly start: number; readonly counts: readonly number[] };
}

export interface ListedIncident extends Incident {
  readonly chart: IncidentChart;
}

interface IncidentPage {
  readonly incidents: readonly ListedIncident[];
  /** The cursor of the next page. Undefined at the end. */
  readonly next?: string;
}

const ORDERS: Readonly<Record<IncidentOrder, string>> = {
  lastSeen: 'i.last_at',
  firstSeen: 'i.first_at',
  count: 'i.server_count + i.browser_count',
  visitors: 'i.visitors',
};

/** Incidents without merged ones, which nearly all are. */
const PLAIN = '(SELECT * FROM desk_incidents WHERE merged_into IS NULL AND merged_count = 0)';
/** Incidents together with those merged into them. CROSS JOIN makes SQLite begin with these few. */
const JOINED = `(SELECT r.digest, r.environment, r.state, r.kind, r.route, r.assignee, r.visitors,
    MIN(f.first_at) AS first_at, MAX(f.last_at) AS last_at,
    SUM(f.server_count) AS server_count, SUM(f.browser_count) AS browser_count
  FROM (SELECT digest AS root FROM desk_incidents WHERE merged_count > 0) m
    CROSS JOIN desk_incidents r CROSS JOIN desk_incidents f
  WHERE r.digest = m.root AND r.merged_into IS NULL AND (f.digest = r.digest OR f.merged_into = r.digest)
  GROUP BY r.digest, r.environment, r.state, r.kind, r.route, r.assignee, r.visitors)`;

const OF_PLAIN = '= i.digest';
const OF_JOINED = 'IN (SELECT f.digest FROM desk_incidents f WHERE f.digest = i.digest OR f.merged_into = i.digest)';

/**
 * Returns one page of the list. It takes three statements for any length, and one more for a search.
 *
 * @throws RangeError if the cursor is not valid for this order
 */
export async function listIncidents(context: StoreContext, query: IncidentQuery): Promise<IncidentPage> {
  const { limit, order = 'lastSeen', cursor, now = Date.now() } = query;
  const { reader: sql } = context;
  const from = cursor === undefined ? undefined : readCursor(cursor, order);
  const rows = await chooseDigests(context, query, from);
  const page = rows.slice(0, limit);
  const incidents = await readIncidents(
    sql,
    page.map(({ digest }) => digest),
  );
  const charts = await readCharts(sql, incidents, now);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    incidents: incidents.map((incident) => ({ ...incident, chart: charts(incident) })),
    ...(last && {
      next: writeCursor({ order, key: last.sort_key, id: last.digest, asOf: from ? from.asOf : await readLatest(sql) }),
    }),
  };
}

function readLatest(sql: Sql): Promise<number> {
  return readNumber(sql, 'SELECT MAX(last_at) AS value FROM desk_incidents');
}

interface ChosenRow {
  readonly digest: string;
  readonly sort_key: number;
}

async function chooseDigests(
  context: StoreContext,
  query: IncidentQuery,
  cursor: Cursor | undefined,
): Promise<ChosenRow[]> {
  const order = query.order ?? 'lastSeen';
  const key = ORDERS[order];
  const legs = (await toLegs(context, query)).flatMap((leg) => {
    const { table, conditions } = leg;
    const moved = cursor && toMoved(leg, order, cursor);
    if (moved) conditions.add('i.last_at <= ?', cursor.asOf ?? 0);
    if (cursor) conditions.add(`${key} <= ? AND (${key} < ? OR i.digest > ?)`, cursor.key, cursor.key, cursor.id);
    const stayed = {
      text: `SELECT * FROM (SELECT i.digest AS digest, ${key} AS sort_key FROM ${table} i ${conditions.text()}
        ORDER BY ${key} DESC, i.digest LIMIT ?) AS leg`,
      values: [...conditions.values, query.limit + 1],
    };
    return moved ? [stayed, moved] : [stayed];
  });
  return context.reader.all<ChosenRow>(
    `${legs.map(({ text }) => text).join(' UNION ALL ')} ORDER BY sort_key DESC, digest LIMIT ?`,
    [...legs.flatMap(({ values }) => values), query.limit + 1],
  );
}

/** The sort key that an incident had when the first page was read, which is the time in `?`. */
const KEYS_BEFORE: Readonly<Record<Exclude<IncidentOrder, 'firstSeen'>, (family: string) => string>> = {
  lastSeen: (family) =>
    `COALESCE((SELECT MAX(o.at) FROM desk_occurrences o WHERE o.digest ${family} AND o.at <= ?), 0)`,
  count: (family) =>
    `${ORDERS.count} - (SELECT COUNT(*) FROM desk_occurrences o WHERE o.digest ${family} AND o.at > ?)`,
  visitors: (family) =>
    `i.visitors - (SELECT COUNT(DISTINCT o.visitor) FROM desk_occurrences o WHERE o.digest ${family} AND o.at > ?)`,
};

/** Lists incidents that happened again after the first page was read, in the position that they had then. */
function toMoved(
  { table, family, conditions }: Leg,
  order: IncidentOrder,
  { key, id, asOf }: Cursor,
): { readonly text: string; readonly values: SqlValue[] } | undefined {
  if (order === 'firstSeen' || asOf === undefined) return undefined;
  return {
    text: `SELECT * FROM (SELECT i.digest AS digest, ${KEYS_BEFORE[order](family)} AS sort_key FROM ${table} i
      ${conditions.text()} AND i.last_at > ? AND i.first_at <= ?) AS moved
      WHERE sort_key <= ? AND (sort_key < ? OR digest > ?)`,
    values: [asOf, ...conditions.values, asOf, asOf, key, key, id],
  };
}

/** Counts the incidents in each state that match the rest of the filter. */
export async function countStates(
  context: StoreContext,
  { states: _states, ...filter }: IncidentFilter,
): Promise<Readonly<Record<IncidentState, number>>> {
  const legs = await toLegs(context, filter);
  const rows = await context.reader.all<{ state: IncidentState; count: number }>(
    legs
      .map(
        ({ table, conditions }) =>
          `SELECT i.state AS state, COUNT(*) AS count FROM ${table} i ${conditions.text()} GROUP BY i.state`,
      )
      .join(' UNION ALL '),
    legs.flatMap(({ conditions }) => conditions.values),
  );
  const counts = { open: 0, resolved: 0, ignored: 0 };
  for (const { state, count } of rows) counts[state] += count;
  return counts;
}

class Conditions {
  readonly values: SqlValue[] = [];
  readonly #texts: string[] = [];

  add(text: string, ...values: readonly SqlValue[]): void {
    this.#texts.push(text);
    this.values.push(...values);
  }

  text(): string {
    return this.#texts.length === 0 ? '' : `WHERE ${this.#texts.join(' AND ')}`;
  }
}

/** Returns the two queries whose union is the list, with the same conditions. */
async function toLegs({ reader, environment, home }: StoreContext, query: IncidentFilter): Promise<Leg[]> {
  const match = query.search === undefined ? undefined : await matchSearch(reader, query.search);
  const filter = { environment, ...query };
  const isHome = filter.environment === home;
  return [
    { table: PLAIN, family: OF_PLAIN, conditions: toConditions(filter, { family: OF_PLAIN, isHome, match }) },
    { table: JOINED, family: OF_JOINED, conditions: toConditions(filter, { family: OF_JOINED, isHome, match }) },
  ];
}

interface Leg {
  readonly table: string;
  /** The condition on a `digest` of another table that selects the rows of an incident. */
  readonly family: string;
  readonly conditions: Conditions;
}

interface LegOptions extends Pick<Leg, 'family'> {
  /** Rows of the home environment have no environment. */
  readonly isHome: boolean;
  readonly match: SearchMatch | undefined;
}

function toConditions(
  filter: IncidentFilter & { readonly environment: string },
  { family, isHome, match }: LegOptions,
): Conditions {
  const conditions = new Conditions();
  const { states, side, kinds, route, release, environment, assignee, from, to } = filter;
  if (isHome) conditions.add('i.environment IS NULL');
  else conditions.add('i.environment = ?', environment);
  if (states) conditions.add(`i.state IN (${placeholders(states)})`, ...states);
  if (side) conditions.add(`i.${side}_count > 0`);
  if (kinds) conditions.add(`i.kind IN (${placeholders(kinds)})`, ...kinds);
  if (route !== undefined) conditions.add('i.route = ?', route);
  if (assignee === null) conditions.add('i.assignee IS NULL');
  else if (assignee !== undefined) conditions.add('i.assignee = ?', assignee);
  if (release !== undefined) {
    conditions.add(`EXISTS (SELECT 1 FROM desk_releases e WHERE e.digest ${family} AND e.release = ?)`, release);
  }
  if (from !== undefined || to !== undefined) {
    conditions.add(
      `EXISTS (SELECT 1 FROM desk_hours h WHERE h.digest ${family} AND h.hour >= ? AND h.hour < ?)`,
      from === undefined ? 0 : toHour(from),
      to ?? Number.MAX_SAFE_INTEGER,
    );
  }
  if (match) {
    const { text, values } = match(family);
    conditions.add(text, ...values);
  }
  return conditions;
}

const CHART_HOURS = 24;
const CHART_DAYS = 14;

/** Reads the charts of a whole page in one query: the hours of the last day, and the sums of 14 days. */
async function readCharts(
  sql: Sql,
  incidents: readonly Incident[],
  now: number,
): Promise<(incident: Incident) => IncidentChart> {
  const hours = toHour(now) - (CHART_HOURS - 1) * Hour;
  const days = Math.floor(now / Day) * Day - (CHART_DAYS - 1) * Day;
  const root = new Map(
    incidents.flatMap(({ key, aliases }) =>
      [key, ...aliases.map((digest) => toKeyBeside(digest, key))].map((of) => [of, key]),
    ),
  );
  const digests = [...root.keys()];
  const counts = new Map(
    incidents.map(({ key }) => [
      key,
      { hours: new Array<number>(CHART_HOURS).fill(0), days: new Array<number>(CHART_DAYS).fill(0) },
    ]),
  );
  const some = placeholders(digests);
  const rows =
    digests.length === 0
      ? []
      : await sql.all<{ digest: string; unit: number; at: number; count: number }>(
          `SELECT digest, ${Hour} AS unit, hour AS at, server_count + browser_count AS count
            FROM desk_hours WHERE digest IN (${some}) AND hour >= ?
            UNION ALL SELECT digest, ${Day}, (hour / ${Day}) * ${Day}, SUM(server_count + browser_count)
            FROM desk_hours WHERE digest IN (${some}) AND hour >= ? GROUP BY digest, hour / ${Day}`,
          [...digests, hours, ...digests, days],
        );
  for (const { digest, unit, at, count } of rows) {
    const of = counts.get(root.get(digest) ?? '');
    const bars = unit === Hour ? of?.hours : of?.days;
    const index = (at - (unit === Hour ? hours : days)) / unit;
    // Hours in the future, from a clock that was ahead, count in the last bar.
    const bar = Math.min(index, (bars?.length ?? 1) - 1);
    if (bars) bars[bar] = (bars[bar] ?? 0) + count;
  }
  return ({ key }) => {
    const of = counts.get(key) ?? { hours: [], days: [] };
    return { hours: { start: hours, counts: of.hours }, days: { start: days, counts: of.days } };
  };
}

export const queries = { listIncidents, countStates };
