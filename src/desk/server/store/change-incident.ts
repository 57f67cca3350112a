import { deleteAliasesOf } from './alias-table.ts';
import { storeChange } from './history-table.ts';
import type { IncidentKey } from './incident-key.ts';
import { lockIncident, readIncident, toHour } from './incident-table.ts';
import { deleteOccurrences } from './occurrence-table.ts';
import type { Incident } from './records.ts';
import {
  assignments,
  type Columns,
  changeShown,
  deleteShown,
  noteChange,
  readClock,
  type Sql,
  toColumn,
} from './sql.ts';
import type { StoreContext } from './store-context.ts';

export type StateChange =
  | { readonly state: 'open' }
  /** `now`: any later occurrence is a regression. `next`: only one in a release that is first started later. */
  | { readonly state: 'resolved'; readonly in: 'now' | 'next' }
  /** Forever, until a time (ms since 1970), or until it happens this many more times within a clock hour. */
  | { readonly state: 'ignored'; readonly until?: number; readonly untilMore?: number };

/** The author of a change, and the version that they saw. */
export interface ChangeBy {
  /** The token's name. */
  readonly author: string;
  /** The `version` that was shown. If it is not the stored one, nothing changes. Undefined skips this check. */
  readonly expected?: number;
}

/** `before` is the incident that the change was applied to. */
type ChangeOutcome = { readonly outcome: 'changed'; readonly before: Incident; readonly after: Incident } | NotChanged;

type NotChanged = { readonly outcome: 'conflict'; readonly incident: Incident } | { readonly outcome: 'unknown' };

type DeleteOutcome = { readonly outcome: 'deleted' } | NotChanged;

/** Tables with rows of an incident, by its key. Its own is first, which also waits for what other replicas store of it. */
const TABLES_OF_INCIDENT = [
  'desk_incidents',
  'desk_hours',
  'desk_releases',
  'desk_occurrences',
  'desk_changes',
  'desk_notes',
];

/** What operators change. */
export function createIncidentChanges({ driver }: StoreContext) {
  /** Locks an incident, checks its version, and does the work in one transaction, by default one that deletes nothing. */
  function changeLocked<Outcome>(
    key: IncidentKey,
    by: ChangeBy,
    work: (sql: Sql, incident: Incident) => Promise<Outcome>,
    transact = changeShown,
  ): Promise<Outcome | NotChanged> {
    return transact<Outcome | NotChanged>(driver, async (sql) => {
      const incident = await lockIncident(sql, key);
      if (!incident) return { outcome: 'unknown' };
      if (by.expected !== undefined && by.expected !== incident.version) return { outcome: 'conflict', incident };
      return work(sql, incident);
    });
  }

  return {
    changeState: (key: IncidentKey, to: StateChange, by: ChangeBy): Promise<ChangeOutcome> =>
      changeLocked(key, by, async (sql, before) => {
        await storeState(sql, key, to, by.author);
        const after = await readIncident(sql, key);
        return after ? { outcome: 'changed', before, after } : { outcome: 'unknown' };
      }),

    /**
     * Deletes an incident with its counts. If it happens again, it is a new incident. The change log keeps who deleted it,
     * and when.
     */
    deleteIncident: (key: IncidentKey, by: ChangeBy): Promise<DeleteOutcome> =>
      changeLocked<DeleteOutcome>(
        key,
        by,
        async (sql, { counts }) => {
          await removeIncident(sql, key);
          const detail = { count: counts.server + counts.browser };
          await storeChange(sql, { key, author: by.author, action: 'deleted', detail });
          return { outcome: 'deleted' };
        },
        deleteShown,
      ),

    /**
     * Deletes one occurrence, and the texts that the incident has from it. The counts stay.
     *
     * @returns false if the store does not have the occurrence
     */
    deleteOccurrence: (key: IncidentKey, occurrence: string, author: string): Promise<boolean> =>
      deleteShown(driver, async (sql) => {
        await lockIncident(sql, key);
        const rows = await sql.all('SELECT 1 FROM desk_occurrences WHERE key = ? AND occurrence = ?', [
          key,
          occurrence,
        ]);
        if (rows.length === 0) return false;
        await deleteAliasesOf(sql, key, [occurrence]);
        await deleteOccurrences(sql, key, [occurrence]);
        await storeChange(sql, { key, author, action: 'occurrence-deleted', detail: { occurrence } });
        return true;
      }),

    /** Reopens incidents whose ignore time is over. */
    endIgnores: (): Promise<void> =>
      driver.transaction(async (sql) => {
        const over = await sql.all<{ key: IncidentKey }>(
          `UPDATE desk_incidents SET state = 'open', version = version + 1, state_at = ${sql.dialect.now}, state_by = NULL,
            ignored_until = NULL, ignored_growth = NULL
            WHERE ignored_until IS NOT NULL AND ignored_until <= ${sql.dialect.now} AND state = 'ignored' RETURNING key`,
        );
        for (const { key } of over) await storeChange(sql, { key, author: '', action: 'ignore-ended', detail: {} });
        if (over.length > 0) await noteChange(sql);
      }),
  };
}

async function storeState(sql: Sql, key: IncidentKey, to: StateChange, author: string): Promise<void> {
  const until = to.state === 'ignored' ? (to.until ?? null) : null;
  const untilMore = to.state === 'ignored' ? (to.untilMore ?? null) : null;
  const base = untilMore === null ? { server: 0, browser: 0 } : await countHour(sql, key);
  const values: Columns = {
    state: to.state,
    state_by: toColumn(author),
    resolved_in: to.state === 'resolved' ? to.in : null,
    ignored_until: until,
    ignored_growth: untilMore,
    ignored_server: base.server,
    ignored_browser: base.browser,
    regressed_release: null,
    // The author of the change needs no notification.
    due_event: null,
  };
  await sql.run(
    `UPDATE desk_incidents SET ${assignments(values)}, version = version + 1, state_at = ${sql.dialect.now} WHERE key = ?`,
    [...Object.values(values), key],
  );
  const { state, ...detail } = to;
  await storeChange(sql, { key, author, action: state === 'open' ? 'opened' : state, detail });
}

/** Returns the counts of the current hour so far. */
async function countHour(sql: Sql, key: IncidentKey): Promise<{ readonly server: number; readonly browser: number }> {
  const [row] = await sql.all<{ server: number; browser: number }>(
    'SELECT server_count AS server, browser_count AS browser FROM desk_hours WHERE hour = ? AND key = ?',
    [toHour(await readClock(sql)), key],
  );
  return row ?? { server: 0, browser: 0 };
}

/** Removes an incident in a transaction. */
export async function removeIncident(sql: Sql, key: IncidentKey): Promise<void> {
  for (const table of TABLES_OF_INCIDENT) await sql.run(`DELETE FROM ${table} WHERE key = ?`, [key]);
  await sql.run('DELETE FROM desk_aliases WHERE key = ? OR target_key = ?', [key, key]);
}
