import type { FailureKind } from '../../../shared/words.ts';
import type { SortName } from '../../shared/page-data.ts';
import type { IncidentState, Side } from '../../shared/shapes.ts';
import { type Charts, readCharts } from './charts.ts';
import { type Cursor, parseCursor, writeCursor } from './cursor.ts';
import type { IncidentKey } from './incident-key.ts';
import { readIncidents, toHour } from './incident-table.ts';
import type { Incident } from './records.ts';
import { type Condition, toSearchConditions } from './search-text.ts';
import type { StoreContext } from './store-context.ts';

/** Selects incidents that match all fields that are set and not empty. */
export interface IncidentFilter {
  readonly state?: IncidentState | 'all';
  /** Incidents that happened on this side at least once. */
  readonly side?: Side | '';
  readonly kind?: FailureKind | '';
  /** The pattern of the route. */
  readonly route?: string;
  /** Seen in this release. */
  readonly release?: string;
  /** By default, the environment that the store was opened for. */
  readonly environment?: string;
  /** Seen at this time or later (ms since 1970), exact to the hour. */
  readonly from?: number;
  /** Words, in any order, that occur in the message, digest, file, function, route, a URL or a user agent. */
  readonly search?: string;
}

interface IncidentQuery extends IncidentFilter {
  /** All orders are descending. `last` by default. */
  readonly sort?: SortName;
  /** The most incidents on a page. */
  readonly limit: number;
  /** `next` of the previous page, in the same order. */
  readonly cursor?: string | undefined;
  /** Where the charts end (ms since 1970). The default is the current time. */
  readonly now?: number;
}

export interface ListedIncident extends Incident {
  readonly charts: Charts;
}

interface IncidentPage {
  readonly incidents: readonly ListedIncident[];
  /** The cursor of the next page. Undefined at the end. */
  readonly next?: string;
}

const ORDERS: Readonly<Record<SortName, string>> = {
  last: 'i.last_at',
  first: 'i.first_at',
  count: 'i.server_count + i.browser_count',
  visitors: 'i.visitors',
};

/** Lists and counts incidents. */
export function createIncidentList({ reader, environment }: StoreContext) {
  return {
    /** Returns one page of the list, the first one if the cursor is not of this order. */
    async listIncidents(query: IncidentQuery): Promise<IncidentPage> {
      const { limit, sort = 'last', cursor = '', now = Date.now() } = query;
      const column = ORDERS[sort];
      const conditions = toConditions({ environment, ...query });
      const from = parseCursor(cursor, sort);
      if (from) conditions.push(afterCursor(column, from));
      const { where, values } = toWhere(conditions);
      const rows = await reader.all<{ key: IncidentKey; sort_key: number }>(
        `SELECT i.key, ${column} AS sort_key FROM desk_incidents i ${where}
          ORDER BY ${column} DESC, i.key LIMIT ?`,
        [...values, limit + 1],
      );
      const page = rows.slice(0, limit);
      const incidents = await readIncidents(
        reader,
        page.map(({ key }) => key),
      );
      const charts = await readCharts(
        reader,
        incidents.map(({ key }) => key),
        now,
      );
      const last = rows.length > limit ? page.at(-1) : undefined;
      return {
        incidents: incidents.map((incident) => ({ ...incident, charts: charts(incident.key) })),
        next: last && writeCursor(sort, { value: last.sort_key, id: last.key }),
      };
    },

    /** Counts the incidents in each state that match the rest of the filter. */
    async countStates(filter: IncidentFilter): Promise<Readonly<Record<IncidentState, number>>> {
      const { where, values } = toWhere(toConditions({ environment, ...filter, state: 'all' }));
      const rows = await reader.all<{ state: IncidentState; count: number }>(
        `SELECT i.state, COUNT(*) AS count FROM desk_incidents i ${where} GROUP BY i.state`,
        values,
      );
      return {
        open: 0,
        resolved: 0,
        ignored: 0,
        ...Object.fromEntries(rows.map(({ state, count }) => [state, count])),
      };
    },
  };
}

function toWhere(conditions: readonly Condition[]) {
  return {
    where: `WHERE ${conditions.map(([text]) => text).join(' AND ')}`,
    values: conditions.flatMap(([, ...values]) => values),
  };
}

function afterCursor(column: string, { value, id }: Cursor): Condition {
  return [`${column} <= ? AND (${column} < ? OR i.key > ?)`, value, value, id];
}

function toConditions(filter: IncidentFilter & { readonly environment: string }): Condition[] {
  const { state = 'all', side, kind, route, release, environment, from, search = '' } = filter;
  const conditions: Condition[] = [['i.environment = ?', environment], ...toSearchConditions(search)];
  if (state !== 'all') conditions.push(['i.state = ?', state]);
  if (side) conditions.push([`i.${side}_count > 0`]);
  if (kind) conditions.push(['i.kind = ?', kind]);
  if (route) conditions.push(['i.route = ?', route]);
  if (release) {
    conditions.push(['EXISTS (SELECT 1 FROM desk_releases r WHERE r.key = i.key AND r.release = ?)', release]);
  }
  if (from !== undefined) {
    conditions.push(['EXISTS (SELECT 1 FROM desk_hours h WHERE h.key = i.key AND h.hour >= ?)', toHour(from)]);
  }
  return conditions;
}
