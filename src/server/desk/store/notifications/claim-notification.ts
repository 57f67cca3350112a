import { Hour } from '../../../../shared/units.ts';
import {
  MAX_NOTICE_TRIES,
  MAX_NOTICES_AN_HOUR,
  NOTICE_CLAIM_TIME,
  NOTICE_PATIENCE,
  NOTICE_RETRY_FIRST,
  NOTICE_RETRY_LONGEST,
  SUMMARY_GATHER_TIME,
} from '../../limits.ts';
import { splitKey, toCallKey } from '../incident-key.ts';
import { changeShown } from '../incidents/change-feed.ts';
import { readIncident } from '../incidents/incident-table.ts';
import type { Incident } from '../records.ts';
import { exists, readClock, readNumber, type Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { toColumn } from '../to-column.ts';
import type { NotificationTarget } from './notification-rules.ts';
import { type NotificationRecord, readNotifications, storeSummary, toTargetId } from './notification-table.ts';

/** A notification that this process must send now. */
export interface ClaimedNotification {
  readonly notification: NotificationRecord;
  /** Undefined for a summary. */
  readonly incident?: Incident;
  /** For a summary: its latest notifications, the newest first, and the number of all of them. */
  readonly summed?: { readonly notifications: readonly NotificationRecord[]; readonly count: number };
  /** Whether it reaches the hourly limit, so that the next ones go into a summary. */
  readonly isLast: boolean;
}

/** The number of notifications that a summary lists one by one. */
const LISTED_IN_SUMMARY = 10;

/** Checks without a lock whether anything waits, because most of the time nothing does. */
function hasWaiting(sql: Sql, { id }: NotificationTarget): Promise<boolean> {
  return exists(sql, "SELECT 1 FROM desk_notices WHERE state = 'waiting' AND target = ?", [id]);
}

/**
 * Claims the next notification that is due for a target, so that no other process sends it. It is due again
 * after `NOTICE_CLAIM_TIME`, in case this process dies.
 *
 * @returns undefined if nothing is due. The keys in a summary include their environments
 */
export async function claimNotification(
  context: StoreContext,
  of: NotificationTarget,
): Promise<ClaimedNotification | undefined> {
  const { driver, home } = context;
  const target = { ...of, id: toTargetId(context, of) };
  if (!(await hasWaiting(driver, target))) return undefined;
  const claimed = await driver.transaction((sql) => claim(sql, target));
  if (!claimed?.summed) return claimed;
  const notifications = claimed.summed.notifications.map((notification) => ({
    ...notification,
    digest: spellOut(notification.digest, home),
  }));
  return { ...claimed, summed: { ...claimed.summed, notifications } };
}

function spellOut(key: string | undefined, home: string): string | undefined {
  if (key === undefined) return undefined;
  const { digest, environment = home } = splitKey(key);
  return toCallKey(digest, environment);
}

async function claim(sql: Sql, target: NotificationTarget): Promise<ClaimedNotification | undefined> {
  const lock = sql.dialect.forUpdate;
  // Replicas claim one after the other, so that together they stay within the hourly limit.
  await sql.all(`SELECT value FROM desk_meta WHERE name = 'notices' ${lock}`);
  const now = await readClock(sql);
  if ((await readNumber(sql, 'SELECT paused_until AS value FROM desk_targets WHERE id = ?', [target.id])) > now) {
    return undefined;
  }
  for (;;) {
    const [notification] = await readNotifications(
      sql,
      "n.state = 'waiting' AND n.target = ? AND n.due_at <= ? ORDER BY n.due_at, n.id LIMIT 1",
      [target.id, now],
    );
    if (!notification) return undefined;
    const claimed = await claimRow(sql, target, notification, now);
    if (claimed) return claimed;
  }
}

/** @returns undefined if the notification is dropped, has failed or goes into a summary */
async function claimRow(
  sql: Sql,
  target: NotificationTarget,
  notification: NotificationRecord,
  now: number,
): Promise<ClaimedNotification | undefined> {
  if (notification.tries >= MAX_NOTICE_TRIES) {
    await end(sql, notification.id, 'failed', now, 'The process ended during every try to send it.');
    return undefined;
  }
  if (notification.kind === 'summary' || notification.kind === 'daily') {
    await take(sql, notification, now);
    const summed = notification.kind === 'daily' ? undefined : await readSummed(sql, notification.id);
    return { notification: toTaken(notification), ...(summed && { summed }), isLast: false };
  }
  const incident = notification.digest === undefined ? undefined : await readOpen(sql, notification.digest);
  if (!incident) {
    await end(sql, notification.id, 'dropped', now, 'Its incident had been resolved, ignored, merged or deleted.');
    return undefined;
  }
  // A repeated try already counts.
  const sent = notification.tries > 0 ? 0 : await countBegun(sql, target.id, now - Hour);
  if (sent >= MAX_NOTICES_AN_HOUR) {
    await gather(sql, target, notification, now);
    return undefined;
  }
  await take(sql, notification, now);
  return { notification: toTaken(notification), incident, isLast: sent + 1 === MAX_NOTICES_AN_HOUR };
}

async function readOpen(sql: Sql, digest: string): Promise<Incident | undefined> {
  const [row] = await sql.all<{ merged_into: string | null }>(
    'SELECT merged_into FROM desk_incidents WHERE digest = ?',
    [digest],
  );
  if (row?.merged_into !== null) return undefined;
  const incident = await readIncident(sql, digest);
  return incident?.state === 'open' ? incident : undefined;
}

function countBegun(sql: Sql, target: string, since: number): Promise<number> {
  return readNumber(
    sql,
    `SELECT COUNT(*) AS value FROM desk_notices WHERE target = ? AND begun_at > ? AND kind NOT IN ('summary', 'daily', 'test')`,
    [target, since],
  );
}

async function take(sql: Sql, { id }: NotificationRecord, now: number): Promise<void> {
  await sql.run(
    'UPDATE desk_notices SET tries = tries + 1, begun_at = COALESCE(begun_at, ?), due_at = ? WHERE id = ?',
    [now, now + NOTICE_CLAIM_TIME, id],
  );
}

function toTaken(notification: NotificationRecord): NotificationRecord {
  return { ...notification, tries: notification.tries + 1 };
}

/** Adds the notification to the waiting summary, or to a new one. */
async function gather(
  sql: Sql,
  target: NotificationTarget,
  notification: NotificationRecord,
  now: number,
): Promise<void> {
  const [gathering] = await sql.all<{ id: number }>(
    "SELECT id FROM desk_notices WHERE target = ? AND kind = 'summary' AND state = 'waiting' AND tries = 0",
    [target.id],
  );
  const summary = gathering?.id ?? (await storeSummary(sql, target, now, await readSummaryTime(sql, target, now)));
  await sql.run("UPDATE desk_notices SET state = 'summed', summary = ?, done_at = ?, outcome = ? WHERE id = ?", [
    summary,
    now,
    'Included in a summary.',
    notification.id,
  ]);
}

/** Returns when the summary is due (ms since 1970): soon, but at most once an hour. */
async function readSummaryTime(sql: Sql, target: NotificationTarget, now: number): Promise<number> {
  const last = await readNumber(
    sql,
    "SELECT MAX(begun_at) AS value FROM desk_notices WHERE target = ? AND kind = 'summary'",
    [target.id],
  );
  return Math.max(now + SUMMARY_GATHER_TIME, last + Hour);
}

async function readSummed(sql: Sql, summary: number): Promise<NonNullable<ClaimedNotification['summed']>> {
  const notifications = await readNotifications(sql, `n.summary = ? ORDER BY n.id DESC LIMIT ${LISTED_IN_SUMMARY}`, [
    summary,
  ]);
  const count = await readNumber(sql, 'SELECT COUNT(*) AS value FROM desk_notices WHERE summary = ?', [summary]);
  return { notifications, count };
}

/** The result of a try to send. */
export type NotificationResult =
  | { readonly ok: true; readonly words: string }
  | {
      readonly ok: false;
      readonly words: string;
      /** Another try would have the same result. */
      readonly isFinal?: boolean;
      /** The pause that the receiver asks for (ms). */
      readonly retryAfter?: number;
    };

/**
 * Records the result of a try, in a transaction. A target that fails is paused for all notifications, for
 * twice as long after each failure. If another process has claimed the notification since, its result
 * counts.
 */
export function settleNotification(
  context: StoreContext,
  notification: NotificationRecord,
  outcome: NotificationResult,
): Promise<void> {
  return changeShown(context, (sql) => settle(sql, notification, outcome));
}

async function settle(sql: Sql, { id, target, tries }: NotificationRecord, outcome: NotificationResult): Promise<void> {
  const now = await readClock(sql);
  if (outcome.ok) {
    await sql.run('DELETE FROM desk_targets WHERE id = ?', [target]);
    await end(sql, id, 'sent', now, outcome.words, tries);
    return;
  }
  const pause = await pauseTarget(sql, target, now, outcome.retryAfter);
  if (outcome.isFinal || tries >= MAX_NOTICE_TRIES) await end(sql, id, 'failed', now, outcome.words, tries);
  else {
    await sql.run("UPDATE desk_notices SET due_at = ?, outcome = ? WHERE id = ? AND tries = ? AND state = 'waiting'", [
      now + pause,
      toColumn(outcome.words),
      id,
      tries,
    ]);
  }
}

/** @returns the length of the pause (ms) */
async function pauseTarget(sql: Sql, target: string, now: number, retryAfter = 0): Promise<number> {
  const [row] = await sql.all<{ failures: number }>(
    `INSERT INTO desk_targets (id, failures, paused_until) VALUES (?, 1, 0)
      ON CONFLICT (id) DO UPDATE SET failures = desk_targets.failures + 1 RETURNING failures`,
    [target],
  );
  const pause = Math.round(Math.max(toWait(row?.failures ?? 1), Math.min(retryAfter, NOTICE_PATIENCE)));
  await sql.run('UPDATE desk_targets SET paused_until = ? WHERE id = ?', [now + pause, target]);
  return pause;
}

/**
 * Returns the wait after a number of failures (ms). It doubles with each failure, and is up to a fifth
 * shorter at random, so that many sites do not retry at the same time.
 */
export function toWait(failures: number, random = Math.random()): number {
  const doubled = NOTICE_RETRY_FIRST * 2 ** Math.min(failures - 1, 20);
  return Math.min(doubled, NOTICE_RETRY_LONGEST) * (1 - random / 5);
}

async function end(
  sql: Sql,
  id: number,
  state: 'sent' | 'failed' | 'dropped',
  now: number,
  words: string,
  tries?: number,
): Promise<void> {
  await sql.run(
    `UPDATE desk_notices SET state = ?, done_at = ?, outcome = ? WHERE id = ? AND state = 'waiting'${tries === undefined ? '' : ' AND tries = ?'}`,
    [state, now, toColumn(words), id, ...(tries === undefined ? [] : [tries])],
  );
}

export const queries = { claimNotification, settleNotification };
