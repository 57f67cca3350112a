import { storeChange } from './change-log.ts';
import { readIncident } from './incident-table.ts';
import type { Incident } from './records.ts';
import type { Sql, SqlDialect, SqlValue } from './sql.ts';
import { toHour } from './tally.ts';
import { toColumn } from './to-column.ts';

export type StateChange =
  | { readonly state: 'open' }
  /** `now`: any later occurrence is a regression. `next`: one in a release that is first published after this. */
  | { readonly state: 'resolved'; readonly in: 'now' | 'next' }
  /** For ever; until a time (ms since 1970); until it happens so many times more within an hour of the clock. */
  | { readonly state: 'ignored'; readonly until?: number; readonly growth?: number };

export interface IncidentChange {
  readonly to?: StateChange;
  /** A name; `null` for nobody. */
  readonly assignee?: string | null;
}

/** Whoever changes something, and what they had before them. */
export interface ChangeBy {
  /** The token's name. */
  readonly author: string;
  /** The `version` that was shown: where another one is stored, nothing is changed. Undefined wins over whatever is there. */
  readonly expected?: number;
}

export type ChangeOutcome =
  /** `before` tells what was won over. */
  | { readonly outcome: 'changed'; readonly before: Incident; readonly after: Incident }
  | { readonly outcome: 'conflict'; readonly incident: Incident }
  | { readonly outcome: 'unknown' };

/** In a transaction. What is merged into another one is changed there. */
export async function changeIncident(
  sql: Sql,
  dialect: SqlDialect,
  digest: string,
  change: IncidentChange,
  by: ChangeBy,
): Promise<ChangeOutcome> {
  const before = await lockIncident(sql, dialect, digest);
  if (!before) return { outcome: 'unknown' };
  if (by.expected !== undefined && by.expected !== before.version) return { outcome: 'conflict', incident: before };
  if (change.to) await changeState(sql, dialect, before, change.to, by.author);
  if (change.assignee !== undefined) await assign(sql, dialect, before, change.assignee, by.author);
  const after = await readIncident(sql, before.key);
  return after ? { outcome: 'changed', before, after } : { outcome: 'unknown' };
}

/** The incident that stands for the digest, held until the transaction ends. */
export async function lockIncident(sql: Sql, dialect: SqlDialect, digest: string): Promise<Incident | undefined> {
  const lock = (of: string) =>
    sql.all<{ merged_into: string | null }>(
      `SELECT merged_into FROM desk_incidents WHERE digest = ? ${dialect.forUpdate}`,
      [of],
    );
  const [own] = await lock(digest);
  const root = own?.merged_into ?? digest;
  if (root !== digest) await lock(root);
  return own && readIncident(sql, root);
}

async function changeState(
  sql: Sql,
  dialect: SqlDialect,
  { key: digest }: Incident,
  to: StateChange,
  author: string,
): Promise<void> {
  const until = to.state === 'ignored' ? (to.until ?? null) : null;
  const growth = to.state === 'ignored' ? (to.growth ?? null) : null;
  const base = growth === null ? { server: 0, browser: 0 } : await countHour(sql, dialect, digest);
  const values: Record<string, SqlValue> = {
    state: to.state,
    state_by: toColumn(author),
    resolved_in: to.state === 'resolved' ? to.in : null,
    ignored_until: until,
    ignored_growth: growth,
    ignored_server: base.server,
    ignored_browser: base.browser,
    regressed_at: null,
    regressed_release: null,
    // Whoever changes it knows of it.
    untold: null,
  };
  await update(sql, digest, values, `state_at = ${dialect.now}`);
  const { state, ...detail } = to;
  await storeChange(sql, dialect, { digest, author, action: state === 'open' ? 'opened' : state, detail });
}

/** What the hour that runs has counted so far. */
async function countHour(
  sql: Sql,
  dialect: SqlDialect,
  digest: string,
): Promise<{ readonly server: number; readonly browser: number }> {
  const [clock] = await sql.all<{ now: number }>(`SELECT ${dialect.now} AS now`);
  const [row] = await sql.all<{ server: number; browser: number }>(
    `SELECT COALESCE(SUM(server_count), 0) AS server, COALESCE(SUM(browser_count), 0) AS browser FROM desk_hours
      WHERE hour = ? AND digest IN (SELECT f.digest FROM desk_incidents f WHERE f.digest = ? OR f.merged_into = ?)`,
    [toHour(clock?.now ?? 0), digest, digest],
  );
  return row ?? { server: 0, browser: 0 };
}

async function assign(
  sql: Sql,
  dialect: SqlDialect,
  { key: digest }: Incident,
  assignee: string | null,
  author: string,
): Promise<void> {
  await update(sql, digest, { assignee: assignee === null ? null : toColumn(assignee) });
  await storeChange(sql, dialect, { digest, author, action: 'assigned', detail: { to: assignee } });
}

async function update(
  sql: Sql,
  digest: string,
  values: Readonly<Record<string, SqlValue>>,
  more?: string,
): Promise<void> {
  const names = Object.keys(values).map((name) => `${name} = ?`);
  await sql.run(
    `UPDATE desk_incidents SET ${[...names, 'version = version + 1', ...(more ? [more] : [])].join(', ')} WHERE digest = ?`,
    [...Object.values(values), digest],
  );
}
