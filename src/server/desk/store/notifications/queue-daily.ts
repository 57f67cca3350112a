import { Day as DAY } from '../../../../shared/units.ts';
import { toDigest } from '../incident-key.ts';
import { changeShown } from '../incidents/change-feed.ts';
import { toHour } from '../ingest/tally.ts';
import type { Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import type { NotificationTarget } from './notification-rules.ts';
import { type Day, storeNotifications, toTargetId } from './notification-table.ts';

/** The incidents that a summary lists one by one (count). */
const LISTED = 10;

/**
 * Queues the summary of the day before a time, unless this or another process has done so. On a day without open
 * incidents, there is none.
 *
 * @param at when it is due (ms since 1970)
 */
export function queueDaily(context: StoreContext, of: NotificationTarget, at: number): Promise<void> {
  const target = { ...of, id: toTargetId(context, of) };
  return changeShown(context, async (sql) => {
    const claimed = await sql.run(
      `INSERT INTO desk_meta (name, value) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE desk_meta.value < excluded.value`,
      [`daily ${target.id}`, String(at)],
    );
    const day = claimed > 0 ? await readDay(sql, context, at - DAY) : undefined;
    if (day?.incidents) await storeNotifications(sql, [target], { kind: 'daily', detail: { day } });
  });
}

interface DayRow {
  readonly digest: string;
  readonly title: string;
  readonly count: number;
  readonly incidents: number;
  readonly fresh: number;
  readonly returned: number;
}

/** @param since exact to the hour (ms since 1970) */
async function readDay(sql: Sql, { environment, home }: StoreContext, since: number): Promise<Day> {
  const rows = await sql.all<DayRow>(
    `SELECT i.digest, i.title, SUM(h.server_count + h.browser_count) AS count, COUNT(*) OVER () AS incidents,
      SUM(CASE WHEN i.first_at >= ? THEN 1 ELSE 0 END) OVER () AS fresh,
      SUM(CASE WHEN i.regressed_at >= ? THEN 1 ELSE 0 END) OVER () AS returned
      FROM desk_hours h JOIN desk_incidents f ON f.digest = h.digest
      JOIN desk_incidents i ON i.digest = COALESCE(f.merged_into, f.digest)
      WHERE h.hour >= ? AND i.state = 'open' AND COALESCE(i.environment, ?) = ?
      GROUP BY i.digest, i.title, i.first_at, i.regressed_at ORDER BY count DESC, i.digest LIMIT ${LISTED}`,
    [since, since, toHour(since), home, environment],
  );
  const { incidents = 0, fresh = 0, returned = 0 } = rows[0] ?? {};
  const most = rows.map(({ digest, title, count }) => ({ digest: toDigest(digest), title, count: Number(count) }));
  return { incidents: Number(incidents), fresh: Number(fresh), returned: Number(returned), most };
}

export const queries = { queueDaily };
