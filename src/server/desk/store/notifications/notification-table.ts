import { randomBytes } from 'node:crypto';
import type { FailureKind } from '../../../engine/errors/failure.ts';
import { NOTICE_AGE, NOTICE_PATIENCE } from '../../limits.ts';
import { toKeyIn } from '../incident-key.ts';
import { changeShown } from '../incidents/change-feed.ts';
import { type Columns, insertRows, readClock, readNumber, readShapes, type Sql, type SqlValue } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { toColumn } from '../to-column.ts';
import type { NotificationRules, NotificationTarget } from './notification-rules.ts';

export type NotificationKind = 'new' | 'regressed' | 'storming' | 'assigned' | 'summary' | 'daily' | 'test';

/**
 * `waiting`: to be sent, or being sent. `failed`: will not be tried again. `summed`: part of a summary.
 * `dropped`: no longer relevant when it was due, or waited too long.
 */
type NotificationState = 'waiting' | 'sent' | 'failed' | 'summed' | 'dropped';

/** Details for the message. */
interface NotificationDetail {
  /** For a storm: the count of the hour, and the highest count of the 24 hours before. */
  readonly count?: number;
  readonly most?: number;
  /** The incident was ignored, and grew past its limit. */
  readonly wasIgnored?: boolean;
  /** For an assignment: the names of the operators. */
  readonly by?: string;
  readonly to?: string;
  readonly day?: Day;
}

/** What happened to the open incidents of an environment in a day. */
export interface Day {
  readonly incidents: number;
  readonly fresh: number;
  readonly returned: number;
  /** The most frequent ones. */
  readonly most: readonly { readonly digest: string; readonly title: string; readonly count: number }[];
}

interface NewNotification {
  readonly kind: 'new' | 'regressed' | 'storming' | 'assigned' | 'daily';
  /** The key of the incident. */
  readonly digest?: string;
  readonly detail: NotificationDetail;
}

/** A notification that waits or was sent. */
export interface NotificationRecord {
  readonly id: number;
  /** Random. The same for each try, so that a receiver can recognize duplicates. */
  readonly uid: string;
  readonly target: string;
  readonly targetName: string;
  readonly kind: NotificationKind;
  /** The key of the incident. */
  readonly digest?: string | undefined;
  readonly detail: NotificationDetail;
  /** Times in milliseconds since 1970, by the store's clock. */
  readonly madeAt: number;
  readonly state: NotificationState;
  /** When the next try is due. */
  readonly dueAt: number;
  readonly doneAt?: number;
  readonly tries: number;
  /** The result of the last try, as text for the desk. */
  readonly outcome: string;
}

/** Queues a notification for each target, due immediately. */
export async function storeNotifications(
  sql: Sql,
  targets: readonly NotificationTarget[],
  { kind, digest, detail }: NewNotification,
): Promise<void> {
  if (targets.length === 0) return;
  const now = await readClock(sql);
  const rows = targets.map((target) =>
    toRow(target, { kind, digest: digest ?? null, detail: JSON.stringify(detail), made_at: now, due_at: now }),
  );
  await insertRows(sql, 'desk_notices', rows);
}

/** Queues a summary for a target. @returns its id */
export async function storeSummary(sql: Sql, target: NotificationTarget, now: number, dueAt: number): Promise<number> {
  const row = toRow(target, { kind: 'summary', made_at: now, due_at: dueAt });
  const [made] = await insertRows<{ id: number }>(sql, 'desk_notices', [row], 'RETURNING id');
  return made?.id ?? 0;
}

/** Records a test notification that was already sent. */
export function storeTestNotification(
  context: StoreContext,
  target: NotificationTarget,
  { uid, ok, words }: { readonly uid: string; readonly ok: boolean; readonly words: string },
): Promise<void> {
  return changeShown(context, async (sql) => {
    const now = await readClock(sql);
    const sent = {
      uid,
      state: ok ? 'sent' : 'failed',
      begun_at: now,
      done_at: now,
      tries: 1,
      outcome: toColumn(words),
    };
    const of = { ...target, id: toTargetId(context, target) };
    await insertRows(sql, 'desk_notices', [toRow(of, { kind: 'test', made_at: now, due_at: now, ...sent })]);
  });
}

function toRow({ id, name }: NotificationTarget, columns: Columns): Columns {
  return { uid: createUid(), target: id, target_name: toColumn(name), detail: '{}', state: 'waiting', ...columns };
}

/** Returns the id of a target in an environment. Each environment has its own limits and pauses for the same target. */
export function toTargetId({ environment, home }: StoreContext, { id }: NotificationTarget): string {
  return toKeyIn(id, environment, home);
}

/** Returns the rules with the ids of targets in the environment. */
export function toScopedRules(context: StoreContext): NotificationRules {
  const { news } = context;
  const scope = (target: NotificationTarget) => ({ ...target, id: toTargetId(context, target) });
  return { ...news, targets: news.targets.map(scope), people: news.people?.map(scope) ?? [] };
}

export function createUid(): string {
  return randomBytes(8).toString('hex');
}

/** A notification with its incident, if that still exists. */
export interface ListedNotification extends NotificationRecord {
  readonly incident?: { readonly environment: string; readonly kind: FailureKind; readonly title: string };
}

/** Waiting notifications, the next due first, and finished ones, the latest first. */
interface NotificationLists {
  readonly waiting: readonly ListedNotification[];
  readonly done: readonly ListedNotification[];
  /** The number of waiting notifications, regardless of the limit. */
  readonly waitingCount: number;
}

export async function listNotifications({ reader: sql }: StoreContext, limit: number): Promise<NotificationLists> {
  const waiting = await readListed(sql, "n.state = 'waiting' ORDER BY next_at, n.id", limit);
  const done = await readListed(sql, "n.state <> 'waiting' ORDER BY n.id DESC", limit);
  const waitingCount = await readNumber(sql, "SELECT COUNT(*) AS value FROM desk_notices WHERE state = 'waiting'");
  return { waiting, done, waitingCount };
}

type NotificationRow = Omit<NotificationRecord, 'detail'> & { readonly detail: string };

interface ListedRow extends NotificationRow {
  readonly next_at: number;
  readonly incident_environment?: string;
  readonly incident_kind?: FailureKind;
  readonly incident_title?: string;
}

const NOTICE = `n.id, n.uid, n.target, n.target_name AS "targetName", n.kind, n.digest, n.detail, n.made_at AS "madeAt",
  n.state, n.due_at AS "dueAt", n.done_at AS "doneAt", n.tries, n.outcome`;

/** The next try is due after the pause of the target, if it failed. */
const LISTED = `SELECT ${NOTICE}, i.kind AS incident_kind,
  COALESCE(i.environment, (SELECT value FROM desk_meta WHERE name = 'home_environment')) AS incident_environment, i.title AS incident_title,
  CASE WHEN t.paused_until > n.due_at THEN t.paused_until ELSE n.due_at END AS next_at
  FROM desk_notices n LEFT JOIN desk_incidents i ON i.digest = n.digest LEFT JOIN desk_targets t ON t.id = n.target`;

async function readListed(sql: Sql, conditions: string, limit: number): Promise<ListedNotification[]> {
  const rows = await readShapes<ListedRow>(sql, `${LISTED} WHERE ${conditions} LIMIT ?`, [limit]);
  return rows.map(({ next_at, incident_kind: kind, incident_title = '', incident_environment = '', ...row }) => ({
    ...toNotification(row),
    dueAt: next_at,
    ...(kind && { incident: { environment: incident_environment, kind, title: incident_title } }),
  }));
}

/** @param conditions on a row `n`, with ORDER BY and LIMIT */
export async function readNotifications(
  sql: Sql,
  conditions: string,
  values: readonly SqlValue[],
): Promise<NotificationRecord[]> {
  const rows = await readShapes<NotificationRow>(
    sql,
    `SELECT ${NOTICE} FROM desk_notices n WHERE ${conditions}`,
    values,
  );
  return rows.map(toNotification);
}

function toNotification(row: NotificationRow): NotificationRecord {
  return { ...row, detail: JSON.parse(row.detail) as NotificationDetail }; // from `storeNotifications`
}

/** Drops notifications that waited too long, for example for a removed target, and deletes old finished ones. */
export async function dropOldNotifications(sql: Sql): Promise<void> {
  await sql.run(
    `UPDATE desk_notices SET state = 'dropped', done_at = ${sql.dialect.now}, outcome = ? WHERE state = 'waiting' AND made_at < ${sql.dialect.now} - ?`,
    ['It was not sent within a day.', NOTICE_PATIENCE],
  );
  await sql.run(`DELETE FROM desk_notices WHERE state <> 'waiting' AND made_at < ${sql.dialect.now} - ?`, [NOTICE_AGE]);
  await sql.run(
    'DELETE FROM desk_targets WHERE NOT EXISTS (SELECT 1 FROM desk_notices n WHERE n.target = desk_targets.id)',
  );
}

export const queries = { storeTestNotification, listNotifications };
