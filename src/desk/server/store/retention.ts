import { Day, Minute } from '../../../shared/units.ts';
import { DELETE_BATCH, HOUR_AGE, NOTIFICATION_AGE, PROCESS_AGE } from '../desk-limits.ts';
import { NO_DAY } from '../ingest/visitors.ts';
import type { KeyAddress } from './alias-table.ts';
import { dropOldBuilds } from './build-table.ts';
import { removeIncident } from './change-incident.ts';
import type { IncidentKey } from './incident-key.ts';
import { deleteOccurrences, forEachIncident } from './occurrence-table.ts';
import { type Columns, insertRows, placeholders, readClock, readNumber, type SqlDriver } from './sql.ts';

export interface RetentionLimits {
  /** The size limit of everything except the files of builds (bytes). */
  readonly maxBytes: number;
  /** How long occurrences are kept (ms). */
  readonly maxAge: number;
}

export interface RetentionReport {
  /** Rows that were deleted because the store was too large. */
  readonly deletedForSize: number;
  /** The size of the store after that, without the files of builds (bytes). */
  readonly bytes: number;
}

/** Replicas that cannot reach the store for longer render the page again by its age (ms). */
const REVALIDATION_AGE = 10 * Minute;

/** The share of the limit that a store is reduced to, so that it does not reach the limit again soon. */
const ENOUGH = 0.9;

/**
 * Deletes old rows, and the oldest rows of a store that is too large. It works in batches, so that failures can be stored
 * in between. Incidents that a server saw keep their counts, so that the digest on an old screenshot still leads to its
 * incident. All times are by the store's clock, because a replica's clock can be wrong.
 */
export async function retain(
  driver: SqlDriver,
  build: string,
  { maxBytes, maxAge }: RetentionLimits,
): Promise<RetentionReport> {
  const now = await readClock(driver);
  await dropOldBuilds(driver, build);
  await dropByAge(driver, now - maxAge, now);
  await driver.reclaim();
  const deletedForSize = await shrink(driver, maxBytes);
  await driver.overwriteDeleted();
  return { deletedForSize, bytes: await driver.usedBytes() };
}

/** @param before milliseconds since 1970 */
async function dropByAge(driver: SqlDriver, before: number, now: number): Promise<void> {
  while ((await dropOccurrences(driver, `at < ${before}`)) === DELETE_BATCH);
  const today = Math.floor(now / Day);
  // A replica with a wrong clock can have asked for a day far in the future.
  const ofOtherDays = `day <> ${NO_DAY} AND day NOT BETWEEN ${today - 1} AND ${today + 1}`;
  const old: readonly (readonly [table: string, key: string, where: string])[] = [
    ['desk_salts', 'day', ofOtherDays],
    ['desk_local_salts', 'day, salt', ofOtherDays],
    ['desk_hours', 'key, hour', `hour < ${Math.min(before, now - HOUR_AGE)}`],
    // The latest release of each incident stays.
    [
      'desk_releases',
      'key, release, build',
      `last_at < ${before} AND EXISTS (SELECT 1 FROM desk_releases n WHERE n.key = of.key AND n.last_at > of.last_at)`,
    ],
    // The latest build of each environment stays, and those in which incidents happened.
    [
      'desk_deployments',
      'environment, build',
      `build IN (SELECT id FROM desk_builds WHERE used_at < ${before}) AND build NOT IN (SELECT build FROM desk_releases)
        AND EXISTS (SELECT 1 FROM desk_deployments n WHERE n.environment = of.environment AND n.first_at > of.first_at)`,
    ],
    [
      'desk_builds',
      'id',
      `used_at < ${before} AND id NOT IN (SELECT build FROM desk_deployments UNION SELECT build FROM desk_build_files)`,
    ],
    ['desk_sessions', 'id_hash', `expires_at <= ${now}`],
    ['desk_notifications', 'id', `created_at < ${now - NOTIFICATION_AGE}`],
    ['desk_processes', 'id', `ended_at < ${now - PROCESS_AGE}`],
    // Without its position, the journal of a process that is still alive would be counted again.
    [
      'desk_journals',
      'process',
      `at < ${before} AND NOT EXISTS (SELECT 1 FROM desk_processes p WHERE p.id = of.process AND p.ended IS NULL)`,
    ],
    // The newest alias of each digest stays, so that the digest still leads to an incident.
    [
      'desk_aliases',
      'key, occurrence',
      `at < ${before} AND (reason = 'echo' OR EXISTS (SELECT 1 FROM desk_aliases n WHERE n.key = of.key AND n.at > of.at))`,
    ],
    // The record of who deleted an incident is kept as long as its occurrences would have been.
    ['desk_changes', 'id', `at < ${before} AND NOT EXISTS (SELECT 1 FROM desk_incidents i WHERE i.key = of.key)`],
  ];
  // At once: a batch could delete a row that is renewed while it waits for it.
  await driver.run('DELETE FROM desk_revalidations WHERE at < ?', [now - REVALIDATION_AGE]);
  for (const [table, key, where] of old) {
    while ((await deleteBatch(driver, table, key, where)) === DELETE_BATCH);
  }
}

/** @param where can also sort the rows. @returns the number of deleted rows */
function deleteBatch(
  driver: SqlDriver,
  table: string,
  key: string,
  where: string,
  limit = DELETE_BATCH,
): Promise<number> {
  return driver.run(
    `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} of WHERE ${where} LIMIT ${limit})`,
  );
}

/**
 * Deletes one batch of the least useful rows, or as many as it needs to make the store smaller by an excess (bytes).
 * @returns the rows, and about how many bytes they had
 */
type Shrinking = (driver: SqlDriver, excess: number) => Promise<{ readonly rows: number; readonly bytes: number }>;

/** About the size of an incident with its index entries (bytes). */
const INCIDENT_BYTES = 4000;

/**
 * In this order: hours that no page shows, addresses that lead nowhere, what browsers sent before failures of servers,
 * because anyone can send it, and full records before rows.
 */
const SHRINKING: readonly Shrinking[] = [
  dropHours(HOUR_AGE),
  // One of each digest stays for now.
  dropAliases('EXISTS (SELECT 1 FROM desk_aliases n WHERE n.key = of.key AND n.occurrence > of.occurrence)'),
  dropPayloads("side = 'browser'"),
  dropOccurrencesOf("side = 'browser'"),
  dropAliases('1 = 1'),
  dropReportedOnly(),
  dropPayloads('1 = 1'),
  dropOccurrencesOf('1 = 1'),
  dropHours(0),
];

/** Deletes rows until the store is small enough. @returns how many */
async function shrink(driver: SqlDriver, maxBytes: number): Promise<number> {
  if ((await driver.usedBytes()) <= maxBytes) return 0;
  let deleted = await dropExcessIncidents(driver, maxBytes);
  let excess = (await driver.usedBytes()) - maxBytes * ENOUGH;
  for (const step of SHRINKING) {
    while (excess > 0) {
      const { rows, bytes } = await step(driver, excess);
      deleted += rows;
      if (rows === 0) break;
      // A row of SQLite can take a page more than its content, or leave one half empty.
      excess = Math.min(excess - bytes, (await driver.usedBytes()) - maxBytes * ENOUGH);
    }
  }
  if (deleted > 0) await driver.reclaim();
  return deleted;
}

/**
 * Stores rows again without their records. In place, each row would keep a page of SQLite for itself: the store would
 * stay as large as before, and lose more with each run.
 */
function dropPayloads(where: string): Shrinking {
  return async (driver, excess) => {
    const oldest = await driver.all<KeyAddress & { readonly bytes: number }>(
      `SELECT key, occurrence, length(payload) AS bytes FROM desk_occurrences
        WHERE payload IS NOT NULL AND ${where} ORDER BY at LIMIT ${DELETE_BATCH}`,
    );
    let bytes = 0;
    const rows = oldest.filter((row) => {
      if (bytes >= excess / 2) return false; // then measure, because a row frees more than its record
      bytes += row.bytes;
      return true;
    });
    await forEachIncident(driver, rows, async (sql, key, part) => {
      const moved = await sql.all<Columns>(
        `DELETE FROM desk_occurrences WHERE key = ? AND occurrence IN (${placeholders(part)})
          RETURNING key, occurrence, at, side, build, release, route, request_id, trace_id, visitor`,
        [key, ...part],
      );
      await insertRows(sql, 'desk_occurrences', moved);
    });
    return { rows: rows.length, bytes };
  };
}

/**
 * Deletes one batch of the oldest occurrences, and what their incidents show of them: nobody could find the visitor in it
 * any more. @returns the number of deleted rows
 */
async function dropOccurrences(driver: SqlDriver, where: string, limit = DELETE_BATCH): Promise<number> {
  const rows = await driver.all<KeyAddress>(
    `SELECT key, occurrence FROM desk_occurrences WHERE ${where} ORDER BY at LIMIT ${limit}`,
  );
  await forEachIncident(driver, rows, deleteOccurrences);
  return rows.length;
}

/** @param rowBytes about the size of a row with its index entries (bytes). @param drop returns the number of deleted rows */
function dropRows(rowBytes: number, drop: (driver: SqlDriver, limit: number) => Promise<number>): Shrinking {
  return async (driver, excess) => {
    const rows = await drop(driver, Math.min(DELETE_BATCH, Math.ceil(excess / rowBytes)));
    return { rows, bytes: rows * rowBytes };
  };
}

function dropOccurrencesOf(where: string): Shrinking {
  return dropRows(500, (driver, limit) => dropOccurrences(driver, where, limit));
}

/** Deletes addresses that lead to no occurrence any more. Strangers can cause one with each report. */
function dropAliases(where: string): Shrinking {
  const isOrphan = `NOT EXISTS (SELECT 1 FROM desk_occurrences o
    WHERE o.key = of.target_key AND o.occurrence = of.target_occurrence)`;
  return dropRows(300, (driver, limit) =>
    deleteBatch(driver, 'desk_aliases', 'key, occurrence', `${isOrphan} AND ${where}`, limit),
  );
}

/** Only charts and filters use hours. Totals are stored elsewhere. @param age milliseconds */
function dropHours(age: number): Shrinking {
  return dropRows(150, (driver, limit) =>
    deleteBatch(driver, 'desk_hours', 'key, hour', `hour < ${driver.dialect.now} - ${age} ORDER BY hour`, limit),
  );
}

/** Deletes incidents that only browsers reported, because strangers can create them. */
function dropReportedOnly(): Shrinking {
  return dropRows(INCIDENT_BYTES, (driver, limit) => dropIncidents(driver, 'i.server_count = 0', limit));
}

/** Incidents take at most half of the store, because without occurrences they would say little. */
async function dropExcessIncidents(driver: SqlDriver, maxBytes: number): Promise<number> {
  const count = await readNumber(driver, 'SELECT COUNT(*) AS value FROM desk_incidents');
  const most = Math.floor(maxBytes / 2 / INCIDENT_BYTES);
  return count > most ? dropIncidents(driver, '1 = 1', count - most) : 0;
}

/**
 * Deletes incidents that no operator has worked on. Those that only browsers reported go first, and those that have been
 * quiet longest. It leaves no record, which strangers could fill. @returns the number of deleted incidents
 */
async function dropIncidents(driver: SqlDriver, where: string, limit: number): Promise<number> {
  const found = await driver.all<{ key: IncidentKey }>(
    `SELECT i.key FROM desk_incidents i WHERE ${where} AND i.state = 'open'
      AND NOT EXISTS (SELECT 1 FROM desk_notes n WHERE n.key = i.key)
      AND NOT EXISTS (SELECT 1 FROM desk_changes c WHERE c.key = i.key) ORDER BY CASE i.server_count WHEN 0 THEN 0 ELSE 1 END, i.last_at LIMIT ${limit}`,
  );
  for (const { key } of found) await driver.transaction((sql) => removeIncident(sql, key));
  return found.length;
}
