import { DELETE_BATCH, HOUR_AGE, MAX_CLOCK_SKEW, RUN_AGE } from '../../limits.ts';
import { removeIncident } from '../incidents/delete-incident.ts';
import { lockIncident } from '../incidents/incident-table.ts';
import { dropOldNotifications } from '../notifications/notification-table.ts';
import { assignFeedback } from '../occurrences/feedback-table.ts';
import { dropOldBuilds } from '../servers/build-table.ts';
import { dropOldRevalidations } from '../servers/revalidation-table.ts';
import { dropOldSessions } from '../servers/session-table.ts';
import { placeholders, readClock, type SqlDriver, type SqlValue } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { adoptOldSalt, dropOldSalts, dropOldSecrets } from '../visitors/secret-table.ts';
import { measureTables, TABLE_GROUPS, type TableGroup, type TableSizes } from './table-sizes.ts';

export interface RetentionOptions {
  /** The running build. Its files are never deleted. */
  readonly build: string;
  /** This process's clock (ms since 1970). If it is minutes off the store's clock, nothing is deleted. */
  readonly now: number;
  /** The size limit of all tables except the build tables (bytes). */
  readonly maxBytes: number;
  /** How long occurrences and feedback are kept (ms). */
  readonly maxAge: number;
}

type DeletionReason = 'age' | 'size' | 'orphan';

export interface Deletion {
  readonly table: string;
  readonly reason: DeletionReason;
  readonly rows: number;
}

export interface RetentionReport {
  /** How far this process's clock is ahead of the store's (ms). */
  readonly clockSkew: number;
  /** Whether nothing was deleted because the clocks differ. */
  readonly isRefused: boolean;
  readonly deleted: readonly Deletion[];
  /** The size of each table after the deletions (bytes). */
  readonly bytes: Readonly<Record<string, number>>;
}

/**
 * Deletes old rows, orphaned rows, and the oldest rows of a store that is too large. It works in batches,
 * so that failures can be stored in between. Incidents that a server saw keep their counts, so that the
 * digest on an old screenshot still leads to its incident. All times are by the store's clock, because a
 * replica's clock can be wrong.
 */
export async function retain({ driver }: StoreContext, options: RetentionOptions): Promise<RetentionReport> {
  const storeNow = await readClock(driver);
  const clockSkew = options.now - storeNow;
  if (Math.abs(clockSkew) > MAX_CLOCK_SKEW) {
    return { clockSkew, isRefused: true, deleted: [], bytes: toBytes(await measureTables(driver)) };
  }
  const deletions = new Deletions(driver);
  await dropOldBuilds(driver, options.build);
  await adoptOldSalt(driver);
  await dropOldSalts(driver);
  await dropOldSecrets(driver, options.maxAge);
  await dropOldSessions(driver);
  await dropOldRevalidations(driver);
  await dropOldNotifications(driver);
  await dropOld(deletions, storeNow, options.maxAge);
  await dropOrphans(driver, deletions, storeNow - options.maxAge);
  await driver.reclaim();
  const sizes = await shrink(driver, deletions, options.maxBytes, storeNow);
  return { clockSkew, isRefused: false, deleted: deletions.list(), bytes: toBytes(sizes) };
}

function toBytes(sizes: TableSizes): Record<string, number> {
  return Object.fromEntries([...sizes].map(([table, { bytes }]) => [table, bytes]));
}

/** Deletes rows in batches, and counts them. */
class Deletions {
  readonly #driver: SqlDriver;
  readonly #counts = new Map<string, Deletion>();

  constructor(driver: SqlDriver) {
    this.#driver = driver;
  }

  /** @param max the most rows to delete. @returns the number of deleted rows */
  async drop(reason: DeletionReason, rows: OldRows, max = Number.POSITIVE_INFINITY): Promise<number> {
    const { table, key, where, values = [], order } = rows;
    const keys = key.join(', ');
    const chosen = `SELECT ${keys} FROM ${table} WHERE ${where}${order ? ` ORDER BY ${order}` : ''}`;
    let dropped = 0;
    for (;;) {
      const batch = Math.min(DELETE_BATCH, max - dropped);
      if (batch <= 0) break;
      const count = await this.#driver.run(
        `DELETE FROM ${table} WHERE (${keys}) IN (${chosen} LIMIT ${batch})`,
        values,
      );
      dropped += count;
      if (count < batch) break;
    }
    this.note(table, reason, dropped);
    return dropped;
  }

  note(table: string, reason: DeletionReason, rows: number): void {
    const name = `${table} ${reason}`;
    this.#counts.set(name, { table, reason, rows: (this.#counts.get(name)?.rows ?? 0) + rows });
  }

  list(): Deletion[] {
    return [...this.#counts.values()].filter(({ rows }) => rows > 0);
  }
}

interface OldRows {
  readonly table: string;
  /** The columns of its primary key. */
  readonly key: readonly string[];
  readonly where: string;
  readonly values?: readonly SqlValue[];
  readonly order?: string;
}

const OF_OCCURRENCE = ['digest', 'occurrence'];

/** Excludes processes that may still be alive: without its position, a journal would be counted again. */
const OF_NO_PROCESS = 'NOT EXISTS (SELECT 1 FROM desk_runs r WHERE r.id = run AND r.ended IS NULL)';

async function dropOld(deletions: Deletions, now: number, maxAge: number): Promise<void> {
  const before = [now - maxAge];
  const old: readonly OldRows[] = [
    { table: 'desk_wholes', key: OF_OCCURRENCE, where: 'at < ?', values: before },
    { table: 'desk_occurrences', key: OF_OCCURRENCE, where: 'at < ?', values: before },
    { table: 'desk_feedback', key: ['id'], where: 'at < ?', values: before },
    { table: 'desk_runs', key: ['id'], where: 'ended_at < ?', values: [now - RUN_AGE] },
    { table: 'desk_journals', key: ['run'], where: `at < ? AND ${OF_NO_PROCESS}`, values: before },
    // Entries of a deleted visitor would be as old, and deleted too.
    { table: 'desk_forgotten', key: ['mark'], where: 'at < ?', values: before },
  ];
  for (const rows of old) await deletions.drop('age', rows);
}

const NO_INCIDENT = 'digest NOT IN (SELECT i.digest FROM desk_incidents i)';

/** @param before milliseconds since 1970 */
async function dropOrphans(driver: SqlDriver, deletions: Deletions, before: number): Promise<void> {
  await assignFeedback(driver);
  const orphans: readonly OldRows[] = [
    { table: 'desk_wholes', key: OF_OCCURRENCE, where: NO_INCIDENT },
    { table: 'desk_occurrences', key: OF_OCCURRENCE, where: NO_INCIDENT },
    { table: 'desk_hours', key: ['digest', 'hour'], where: NO_INCIDENT },
    { table: 'desk_releases', key: ['digest', 'release', 'build'], where: NO_INCIDENT },
    { table: 'desk_environments', key: ['digest', 'environment'], where: NO_INCIDENT },
    { table: 'desk_visitors', key: ['digest'], where: NO_INCIDENT },
    { table: 'desk_search', key: ['id'], where: NO_INCIDENT },
    { table: 'desk_feedback', key: ['id'], where: `digest IS NULL OR ${NO_INCIDENT}` },
    // Aliases of deleted occurrences. The newest of each digest stays, so that the digest still leads to an incident.
    {
      table: 'desk_aliases',
      key: OF_OCCURRENCE,
      where: `occurrence <> '' AND at < ? AND (reason = 'echo' OR EXISTS
        (SELECT 1 FROM desk_aliases n WHERE n.digest = desk_aliases.digest AND n.at > desk_aliases.at))`,
      values: [before],
    },
    // The record of who deleted an incident is kept as long as its occurrences would have been.
    { table: 'desk_changes', key: ['id'], where: `at < ? AND ${NO_INCIDENT}`, values: [before] },
  ];
  for (const rows of orphans) await deletions.drop('orphan', rows);
  await dropDictionaries(driver, deletions);
}

/** Deletes dictionaries that no record is packed with. The lock on the incident keeps new records from using them. */
async function dropDictionaries(driver: SqlDriver, deletions: Deletions): Promise<void> {
  const unused = 'NOT EXISTS (SELECT 1 FROM desk_wholes w WHERE w.digest = desk_dictionaries.digest)';
  for (;;) {
    const dropped = await driver.transaction(async (sql) => {
      const some = await sql.all<{ digest: string }>(
        `SELECT digest FROM desk_dictionaries WHERE ${unused} ORDER BY digest LIMIT ${DELETE_BATCH}`,
      );
      const digests = some.map(({ digest }) => digest);
      if (digests.length === 0) return 0;
      const list = placeholders(digests);
      const lock = driver.dialect.forUpdate;
      await sql.all(`SELECT digest FROM desk_incidents WHERE digest IN (${list}) ORDER BY digest ${lock}`, digests);
      return sql.run(`DELETE FROM desk_dictionaries WHERE digest IN (${list}) AND ${unused}`, digests);
    });
    deletions.note('desk_dictionaries', 'orphan', dropped);
    if (dropped < DELETE_BATCH) return;
  }
}

const EVIDENCE_TABLES = TABLE_GROUPS.flatMap(({ tables }) => tables);

/** The share of the limit that a store is reduced to, so that it does not reach the limit again soon. */
const ENOUGH = TABLE_GROUPS.reduce((sum, { share }) => sum + share, 0);
/** The most passes. The tables are measured again after each, because rows differ in size. */
const MAX_PASSES = 4;

/** @returns the sizes after the deletions */
async function shrink(driver: SqlDriver, deletions: Deletions, maxBytes: number, now: number): Promise<TableSizes> {
  let sizes = await measureTables(driver);
  if (sumOf(sizes) <= maxBytes) return sizes;
  for (let pass = 0; pass < MAX_PASSES && sumOf(sizes) > maxBytes * ENOUGH; pass += 1) {
    let excess = sumOf(sizes) - maxBytes * ENOUGH;
    for (const group of TABLE_GROUPS.toSorted(
      (one, other) => overOf(other, sizes, maxBytes) - overOf(one, sizes, maxBytes),
    )) {
      const over = Math.min(excess, overOf(group, sizes, maxBytes));
      if (over <= 0) break;
      await shrinkGroup(driver, deletions, { group, over, sizes, now });
      excess -= over;
    }
    await driver.reclaim();
    sizes = await measureTables(driver);
  }
  return sizes;
}

/** @param tables all except the tables of builds, by default */
function sumOf(sizes: TableSizes, tables: readonly string[] = EVIDENCE_TABLES): number {
  return tables.reduce((sum, table) => sum + (sizes.get(table)?.bytes ?? 0), 0);
}

/** Returns how far a group is over its share (bytes). */
function overOf({ tables, share }: TableGroup, sizes: TableSizes, maxBytes: number): number {
  return sumOf(sizes, tables) - maxBytes * share;
}

interface Shrinking {
  readonly group: TableGroup;
  /** How much to delete (bytes). */
  readonly over: number;
  readonly sizes: TableSizes;
  readonly now: number;
}

async function shrinkGroup(
  driver: SqlDriver,
  deletions: Deletions,
  { group, over, sizes, now }: Shrinking,
): Promise<void> {
  let left = over;
  for (const rows of listShrinking(group, now)) {
    const each = meanOf(sizes, rows.table);
    if (left <= 0) return;
    left -= (await deletions.drop('size', rows, Math.ceil(left / each))) * each;
  }
  if (group.name === 'incidents' && left > 0) await dropMadeUp(driver, deletions, left, sizes);
}

/** @returns bytes, at least 1 */
function meanOf(sizes: TableSizes, table: string): number {
  const { rows, bytes } = sizes.get(table) ?? { rows: 0, bytes: 0 };
  return Math.max(1, bytes / Math.max(1, rows));
}

/** Lists rows in the order of deletion. The first and newest occurrences are the most useful, so they are last. */
function listShrinking({ name }: TableGroup, now: number): readonly OldRows[] {
  const wholes = (where: string) => ({ table: 'desk_wholes', key: OF_OCCURRENCE, where, order: 'at' });
  switch (name) {
    case 'occurrences':
      return [
        wholes("role = 'browser'"),
        wholes("role = 'spread'"),
        wholes("role = 'browser-latest'"),
        wholes('1 = 1'),
        { table: 'desk_occurrences', key: OF_OCCURRENCE, where: "side = 'browser'", order: 'at' },
        { table: 'desk_occurrences', key: OF_OCCURRENCE, where: '1 = 1', order: 'at' },
      ];
    case 'incidents':
      return [
        // Only charts use these rows, and they cover 14 days. Totals are stored elsewhere.
        { table: 'desk_hours', key: ['digest', 'hour'], where: 'hour < ?', values: [now - HOUR_AGE], order: 'hour' },
        { table: 'desk_aliases', key: OF_OCCURRENCE, where: "occurrence <> ''", order: 'at' },
      ];
    case 'feedback':
      return [{ table: 'desk_feedback', key: ['id'], where: '1 = 1', order: 'at' }];
    case 'records':
      return [
        { table: 'desk_notices', key: ['id'], where: "state <> 'waiting'", order: 'made_at' },
        { table: 'desk_runs', key: ['id'], where: 'ended IS NOT NULL', order: 'ended_at' },
        { table: 'desk_changes', key: ['id'], where: '1 = 1', order: 'at' },
      ];
  }
}

/**
 * Deletes incidents that only browsers reported and no operator has worked on, because strangers can
 * create them. Incidents that have been quiet longest go first.
 */
async function dropMadeUp(driver: SqlDriver, deletions: Deletions, over: number, sizes: TableSizes): Promise<void> {
  const tables = TABLE_GROUPS.find(({ name }) => name === 'incidents')?.tables ?? [];
  const each = sumOf(sizes, tables) / Math.max(1, sizes.get('desk_incidents')?.rows ?? 1);
  const some = await driver.all<{ digest: string }>(
    `SELECT i.digest FROM desk_incidents i WHERE i.server_count = 0 AND i.state = 'open' AND i.assignee IS NULL
      AND i.merged_into IS NULL AND i.merged_count = 0
      AND NOT EXISTS (SELECT 1 FROM desk_notes n WHERE n.digest = i.digest)
      AND NOT EXISTS (SELECT 1 FROM desk_changes c WHERE c.digest = i.digest)
      ORDER BY i.last_at LIMIT ?`,
    [Math.ceil(over / Math.max(1, each))],
  );
  for (const { digest } of some) {
    await driver.transaction(async (sql) => {
      const incident = await lockIncident(sql, digest);
      // Leaves no record: strangers could fill the table of records.
      if (incident) await removeIncident(sql, incident, '');
    });
  }
  deletions.note('desk_incidents', 'size', some.length);
}

export const queries = { retain };
