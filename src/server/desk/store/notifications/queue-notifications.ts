import type { SideCounts } from '../../../../shared/desk/shapes.ts';
import { Day, Hour } from '../../../../shared/units.ts';
import type { FailureKind } from '../../../engine/errors/failure.ts';
import { BELIEVED_VISITORS, STORM } from '../../limits.ts';
import type { CountedRow } from '../ingest/settle-states.ts';
import type { Tally } from '../ingest/tally.ts';
import { hasOtherVisitor } from '../occurrences/occurrence-table.ts';
import { placeholders, readNumber, type Sql } from '../sql.ts';
import type { NotificationRules, Threshold } from './notification-rules.ts';
import { storeNotifications } from './notification-table.ts';

/** The counts of an hour after a batch was added. */
export interface CountedHour {
  readonly digest: string;
  readonly hour: number;
  readonly server_count: number;
  readonly browser_count: number;
}

interface CountedBatch {
  readonly tallies: readonly Tally[];
  readonly counted: readonly CountedRow[];
  readonly hours: readonly CountedHour[];
}

interface NewsRow {
  readonly digest: string;
  readonly kind: FailureKind;
  readonly untold: 'new' | 'regressed' | 'grown' | null;
  readonly stormed_at: number;
  readonly visitors: number;
  /** Counts that include merged incidents. */
  readonly server: number;
  readonly browser: number;
}

/** Browser reports that do not mean a failure for the visitor. The desk shows them without a notification. */
const QUIET_KINDS: ReadonlySet<FailureKind> = new Set(['csp', 'deprecation', 'intervention', 'script-error']);

/**
 * Queues the notifications of a batch in its transaction, so that only one replica sends each. Incidents
 * that are resolved or ignored after the batch are skipped.
 */
export async function queueNotifications(sql: Sql, batch: CountedBatch, rules: NotificationRules): Promise<void> {
  if (rules.isLeft) return;
  const roots = new Map(batch.counted.map(({ digest, merged_into }) => [digest, merged_into ?? digest]));
  const stormy = batch.hours.filter(isBusy);
  const busy = [...new Set(stormy.map(({ digest }) => roots.get(digest) ?? digest))];
  for (const row of await readNews(sql, [...new Set(roots.values())], busy)) {
    if (QUIET_KINDS.has(row.kind)) continue;
    const own = batch.tallies.filter(({ digest }) => roots.get(digest) === row.digest);
    if (!(await isBelieved(sql, row, own))) continue;
    await noteUntold(sql, row, rules);
    const hours = stormy.filter(({ digest }) => roots.get(digest) === row.digest);
    for (const hour of hours) await noteStorm(sql, row, hour, rules);
  }
}

/** Reports whether a recent hour is busy enough for a storm. Older hours come from journals of dead processes. */
function isBusy({ hour, server_count, browser_count }: CountedHour): boolean {
  return server_count + browser_count >= STORM.least && hour > Date.now() - 2 * Hour;
}

function readNews(sql: Sql, roots: readonly string[], busy: readonly string[]): Promise<NewsRow[]> {
  const merged = (side: keyof SideCounts) =>
    `i.${side}_count + COALESCE((SELECT SUM(f.${side}_count) FROM desk_incidents f WHERE f.merged_into = i.digest), 0) AS ${side}`;
  const orBusy = busy.length > 0 ? `OR i.digest IN (${placeholders(busy)})` : '';
  return sql.all<NewsRow>(
    `SELECT i.digest, i.kind, i.untold, i.stormed_at, i.visitors, ${merged('server')}, ${merged('browser')}
      FROM desk_incidents i WHERE i.digest IN (${placeholders(roots)}) AND i.state = 'open'
      AND (i.untold IS NOT NULL ${orBusy}) ORDER BY i.digest`,
    [...roots, ...busy],
  );
}

/**
 * Reports whether a server saw the incident or two visitors reported it within a day, because strangers can
 * forge browser reports. A visitor who returns after midnight has another hash, and still counts as one.
 */
async function isBelieved(sql: Sql, row: NewsRow, tallies: readonly Tally[]): Promise<boolean> {
  if (row.server > 0) return true;
  // The number of visitors is never too low, so this check avoids most reads of occurrences.
  if (row.visitors < BELIEVED_VISITORS) return false;
  for (const { at, hashes } of listVisitors(tallies)) {
    // The visitor's hashes of later days are unknown here.
    const until = (Math.floor(at / Day) + 1) * Day;
    if (await hasOtherVisitor(sql, row.digest, { since: at - Day, until, known: [...hashes] })) return true;
  }
  return false;
}

interface Visitor {
  /** All known hashes of this visitor. */
  readonly hashes: ReadonlySet<string>;
  /** When the visitor was last seen (ms since 1970). */
  readonly at: number;
}

/** Returns the visitors of a batch. A visitor with several hashes in it is one. */
function listVisitors(tallies: readonly Tally[]): ReadonlySet<Visitor> {
  const byHash = new Map<string, Visitor>();
  for (const [own, { at, others }] of tallies.flatMap(({ visitors }) => [...visitors])) {
    const told = [own, ...others];
    const same = told.flatMap((hash) => byHash.get(hash) ?? []);
    const hashes = new Set([...told, ...same.flatMap((visitor) => [...visitor.hashes])]);
    const visitor = { hashes, at: Math.max(at, ...same.map((before) => before.at)) };
    for (const hash of hashes) byHash.set(hash, visitor);
  }
  return new Set(byHash.values());
}

/** Reports whether an incident reached a threshold. Its last occurrence ends the period that counts. */
async function isReached(
  sql: Sql,
  { digest, visitors, server, browser }: NewsRow,
  threshold: Threshold,
): Promise<boolean> {
  const { count, of, within } = threshold;
  if (of || within === undefined) return (of ? visitors : server + browser) >= count;
  const family = 'digest IN (SELECT f.digest FROM desk_incidents f WHERE f.digest = ? OR f.merged_into = ?)';
  const times = await readNumber(
    sql,
    `SELECT COUNT(*) AS value FROM desk_occurrences WHERE ${family}
      AND at > (SELECT MAX(at) FROM desk_occurrences WHERE ${family}) - ?`,
    [digest, digest, digest, digest, within],
  );
  return times >= count;
}

async function noteUntold(sql: Sql, row: NewsRow, { after, targets }: NotificationRules): Promise<void> {
  const { digest, untold } = row;
  if (untold === null) return;
  const reached = await Promise.all(after.map((threshold) => isReached(sql, row, threshold)));
  if (!reached.includes(true)) return;
  const claimed = await sql.run('UPDATE desk_incidents SET untold = NULL WHERE digest = ? AND untold = ?', [
    digest,
    untold,
  ]);
  if (claimed === 0) return;
  const notification =
    untold === 'grown' ? ({ kind: 'storming', detail: { wasIgnored: true } } as const) : { kind: untold, detail: {} };
  await storeNotifications(sql, targets, { digest, ...notification });
}

async function noteStorm(
  sql: Sql,
  { digest, stormed_at, server }: NewsRow,
  hour: CountedHour,
  { after, targets }: NotificationRules,
): Promise<void> {
  const side = server > 0 ? 'server' : 'browser';
  const count = hour[`${side}_count`];
  const least = after.find(({ of, within }) => !of && !within)?.count ?? 0;
  if (count < Math.max(STORM.least, least) || stormed_at > hour.hour - Day) return;
  const most = await readNumber(
    sql,
    `SELECT MAX(${side}_count) AS value FROM desk_hours WHERE digest = ? AND hour >= ? AND hour < ?`,
    [hour.digest, hour.hour - Day, hour.hour],
  );
  if (count < STORM.times * most) return;
  const claimed = await sql.run('UPDATE desk_incidents SET stormed_at = ? WHERE digest = ? AND stormed_at = ?', [
    hour.hour,
    digest,
    stormed_at,
  ]);
  if (claimed > 0) await storeNotifications(sql, targets, { digest, kind: 'storming', detail: { count, most } });
}
