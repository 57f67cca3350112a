import { type CallKey, toKey } from '../incident-key.ts';
import { toHour } from '../ingest/tally.ts';
import { storeNotifications, toScopedRules } from '../notifications/notification-table.ts';
import type { Incident } from '../records.ts';
import { assignments, type Columns, readClock, type Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { toColumn } from '../to-column.ts';
import { changeShown } from './change-feed.ts';
import { storeChange } from './change-log.ts';
import { lockIncident, readIncident } from './incident-table.ts';

export type StateChange =
  | { readonly state: 'open' }
  /** `now`: any later occurrence is a regression. `next`: only one in a release that is first published later. */
  | { readonly state: 'resolved'; readonly in: 'now' | 'next' }
  /** Forever, until a time (ms since 1970), or until it happens this many more times within a clock hour. */
  | { readonly state: 'ignored'; readonly until?: number; readonly growth?: number };

export interface IncidentChange {
  readonly to?: StateChange;
  /** A token's name, or `null` to unassign. */
  readonly assignee?: string | null;
}

/** The author of a change, and the version that they saw. */
export interface ChangeBy {
  /** The token's name. */
  readonly author: string;
  /** The `version` that was shown. If it is not the stored one, nothing changes. Undefined skips this check. */
  readonly expected?: number;
}

/** `before` is the incident that the change was applied to. */
export type ChangeOutcome =
  | { readonly outcome: 'changed'; readonly before: Incident; readonly after: Incident }
  | NotChanged;

export type NotChanged =
  | { readonly outcome: 'conflict'; readonly incident: Incident }
  | { readonly outcome: 'unknown' };

/** Locks an incident, checks its version, and does the work in one transaction. */
export function changeLocked<Outcome>(
  context: StoreContext,
  key: CallKey,
  by: ChangeBy,
  work: (sql: Sql, incident: Incident) => Promise<Outcome>,
): Promise<Outcome | NotChanged> {
  return changeShown(context, async (sql) => {
    const incident = await lockIncident(sql, toKey(key, context.home));
    if (!incident) return { outcome: 'unknown' };
    if (by.expected !== undefined && by.expected !== incident.version) return { outcome: 'conflict', incident };
    return work(sql, incident);
  });
}

/** Changes the state or the assignee. A merged incident changes the one that it was merged into. */
export function changeIncident(
  context: StoreContext,
  key: CallKey,
  change: IncidentChange,
  by: ChangeBy,
): Promise<ChangeOutcome> {
  return changeLocked(context, key, by, async (sql, before) => {
    if (change.to) await changeState(sql, before, change.to, by.author);
    if (change.assignee !== undefined) await assign(sql, context, before, { to: change.assignee, by: by.author });
    const after = await readIncident(sql, before.key);
    return after ? { outcome: 'changed', before, after } : { outcome: 'unknown' };
  });
}

async function changeState(sql: Sql, { key: digest }: Incident, to: StateChange, author: string): Promise<void> {
  const until = to.state === 'ignored' ? (to.until ?? null) : null;
  const growth = to.state === 'ignored' ? (to.growth ?? null) : null;
  const base = growth === null ? { server: 0, browser: 0 } : await countHour(sql, digest);
  const values: Columns = {
    state: to.state,
    state_by: toColumn(author),
    resolved_in: to.state === 'resolved' ? to.in : null,
    ignored_until: until,
    ignored_growth: growth,
    ignored_server: base.server,
    ignored_browser: base.browser,
    regressed_at: null,
    regressed_release: null,
    // The author of the change needs no notification.
    untold: null,
  };
  await update(sql, digest, values, `, state_at = ${sql.dialect.now}`);
  const { state, ...detail } = to;
  await storeChange(sql, { digest, author, action: state === 'open' ? 'opened' : state, detail });
}

/** Returns the counts of the current hour so far. */
async function countHour(sql: Sql, digest: string): Promise<{ readonly server: number; readonly browser: number }> {
  const [row] = await sql.all<{ server: number; browser: number }>(
    `SELECT COALESCE(SUM(server_count), 0) AS server, COALESCE(SUM(browser_count), 0) AS browser FROM desk_hours
      WHERE hour = ? AND digest IN (SELECT f.digest FROM desk_incidents f WHERE f.digest = ? OR f.merged_into = ?)`,
    [toHour(await readClock(sql)), digest, digest],
  );
  return row ?? { server: 0, browser: 0 };
}

async function assign(
  sql: Sql,
  context: StoreContext,
  { key: digest, assignee }: Incident,
  { to, by }: { readonly to: string | null; readonly by: string },
): Promise<void> {
  await update(sql, digest, { assignee: to === null ? null : toColumn(to) });
  await storeChange(sql, { digest, author: by, action: 'assigned', detail: { to } });
  if (to === null || to === by || to === assignee) return;
  const { targets, people = [] } = toScopedRules(context);
  const own = people.filter(({ person }) => person === to);
  await storeNotifications(sql, own.length > 0 ? own : targets, { kind: 'assigned', digest, detail: { to, by } });
}

async function update(sql: Sql, digest: string, columns: Columns, more = ''): Promise<void> {
  await sql.run(`UPDATE desk_incidents SET ${assignments(columns)}, version = version + 1${more} WHERE digest = ?`, [
    ...Object.values(columns),
    digest,
  ]);
}

export const changes = { changeIncident };
