import { randomBytes } from 'node:crypto';
import type { FailureKind } from '../../engine/errors/failure.ts';
import { NOTICE_AGE, NOTICE_PATIENCE } from '../limits.ts';
import { insertRows, type Sql, type SqlDialect, type SqlValue } from './sql.ts';
import { toColumn } from './to-column.ts';

/** Where messages go. The store knows no secret of it. */
export interface NoticeTarget {
  /** The same as long as it is the same target, on all replicas and after a restart. */
  readonly id: string;
  /** `webhook hooks.example.com`: what the record calls it. */
  readonly name: string;
}

export type NoticeKind = 'new' | 'regressed' | 'storming' | 'summary' | 'test';

/**
 * `waiting`, also while it is being sent; `sent`; `failed` for good; `summed`: told in a summary;
 * `dropped`: no news any more by the time it was due, or for too long.
 */
export type NoticeState = 'waiting' | 'sent' | 'failed' | 'summed' | 'dropped';

/** What else is told of it. */
export interface NoticeDetail {
  /** Of a storm: what the hour has counted, and the busiest of the 24 before it. */
  readonly count?: number;
  readonly most?: number;
  /** It grew past what it was ignored until. */
  readonly wasIgnored?: boolean;
}

export interface NewNotice {
  readonly kind: 'new' | 'regressed' | 'storming';
  /** The key of the incident. */
  readonly digest: string;
  readonly detail: NoticeDetail;
}

/** What is told, or was. */
export interface Notice {
  readonly id: number;
  /** Random; the same with each try, so that a receiver knows what it has already. */
  readonly uid: string;
  readonly target: string;
  readonly targetName: string;
  readonly kind: NoticeKind;
  /** The key of the incident. */
  readonly digest?: string | undefined;
  readonly detail: NoticeDetail;
  /** Times in milliseconds since 1970, by the store's clock. */
  readonly madeAt: number;
  readonly state: NoticeState;
  /** When it is tried next. */
  readonly dueAt: number;
  readonly doneAt?: number;
  readonly tries: number;
  /** How the last try ended, in words. */
  readonly outcome: string;
}

export interface NoticeRow {
  readonly id: number;
  readonly uid: string;
  readonly target: string;
  readonly target_name: string;
  readonly kind: NoticeKind;
  readonly digest: string | null;
  readonly detail: string;
  readonly made_at: number;
  readonly state: NoticeState;
  readonly due_at: number;
  readonly done_at: number | null;
  readonly tries: number;
  readonly outcome: string;
}

/** One for each target, due at once. */
export async function storeNotices(
  sql: Sql,
  dialect: SqlDialect,
  targets: readonly NoticeTarget[],
  { kind, digest, detail }: NewNotice,
): Promise<void> {
  if (targets.length === 0) return;
  const now = await readClock(sql, dialect);
  const rows = targets.map((target): SqlValue[] => [
    createUid(),
    target.id,
    toColumn(target.name),
    kind,
    digest,
    JSON.stringify(detail),
    now,
    'waiting',
    now,
  ]);
  await insertRows(sql, 'desk_notices', COLUMNS, rows);
}

const COLUMNS = ['uid', 'target', 'target_name', 'kind', 'digest', 'detail', 'made_at', 'state', 'due_at'];

/** A summary of what is beyond the bound, and what tries it. @returns its id */
export async function storeSummary(sql: Sql, target: NoticeTarget, now: number, dueAt: number): Promise<number> {
  const row = [createUid(), target.id, toColumn(target.name), 'summary', null, '{}', now, 'waiting', dueAt];
  const [made] = await insertRows<{ id: number }>(sql, 'desk_notices', COLUMNS, [row], 'RETURNING id');
  return made?.id ?? 0;
}

/** Writes down a test that was sent already. */
export async function storeTest(
  sql: Sql,
  dialect: SqlDialect,
  target: NoticeTarget,
  { uid, ok, words }: { readonly uid: string; readonly ok: boolean; readonly words: string },
): Promise<void> {
  const now = await readClock(sql, dialect);
  const row = [uid, target.id, toColumn(target.name), 'test', null, '{}', now, ok ? 'sent' : 'failed', now];
  await insertRows(
    sql,
    'desk_notices',
    [...COLUMNS, 'begun_at', 'done_at', 'tries', 'outcome'],
    [[...row, now, now, 1, toColumn(words)]],
  );
}

export function createUid(): string {
  return randomBytes(8).toString('hex');
}

export async function readClock(sql: Sql, { now }: SqlDialect): Promise<number> {
  const [clock] = await sql.all<{ now: number }>(`SELECT ${now} AS now`);
  return clock?.now ?? 0;
}

/** With what its incident is called, as long as that is there. */
export interface ListedNotice extends Notice {
  readonly incident?: { readonly environment: string; readonly kind: FailureKind; readonly title: string };
}

/** What waits, the one that is due next first, and what is done, the latest first. */
export interface NoticeLists {
  readonly waiting: readonly ListedNotice[];
  readonly done: readonly ListedNotice[];
  /** Of `waiting`, without the limit. */
  readonly waitingCount: number;
}

export async function listNotices(sql: Sql, limit: number): Promise<NoticeLists> {
  const waiting = await sql.all<ListedRow>(`${LISTED} WHERE n.state = 'waiting' ORDER BY next_at, n.id LIMIT ?`, [
    limit,
  ]);
  const done = await sql.all<ListedRow>(`${LISTED} WHERE n.state <> 'waiting' ORDER BY n.id DESC LIMIT ?`, [limit]);
  const [all] = await sql.all<{ count: number }>("SELECT COUNT(*) AS count FROM desk_notices WHERE state = 'waiting'");
  return { waiting: waiting.map(toListed), done: done.map(toListed), waitingCount: all?.count ?? 0 };
}

interface ListedRow extends NoticeRow {
  readonly next_at: number;
  readonly incident_environment: string | null;
  readonly incident_kind: FailureKind | null;
  readonly incident_title: string | null;
}

/** A target that failed is left alone, whatever is due for it. */
const LISTED = `SELECT n.*, i.kind AS incident_kind,
  COALESCE(i.environment, (SELECT value FROM desk_meta WHERE name = 'home_environment')) AS incident_environment, i.title AS incident_title,
  CASE WHEN t.paused_until > n.due_at THEN t.paused_until ELSE n.due_at END AS next_at
  FROM desk_notices n LEFT JOIN desk_incidents i ON i.digest = n.digest LEFT JOIN desk_targets t ON t.id = n.target`;

function toListed(row: ListedRow): ListedNotice {
  const { incident_kind: kind, incident_title: title, incident_environment: environment } = row;
  return {
    ...toNotice(row),
    dueAt: row.next_at,
    ...(kind !== null && { incident: { environment: environment ?? '', kind, title: title ?? '' } }),
  };
}

export function toNotice(row: NoticeRow): Notice {
  return {
    id: row.id,
    uid: row.uid,
    target: row.target,
    targetName: row.target_name,
    kind: row.kind,
    ...(row.digest !== null && { digest: row.digest }),
    detail: JSON.parse(row.detail) as NoticeDetail, // from `storeNotices`
    madeAt: row.made_at,
    state: row.state,
    dueAt: row.due_at,
    ...(row.done_at !== null && { doneAt: row.done_at }),
    tries: row.tries,
    outcome: row.outcome,
  };
}

/** Gives up what waited too long, such as for a target that is set no more, and deletes the record of long ago. */
export async function dropOldNotices(sql: Sql, { now }: SqlDialect): Promise<void> {
  await sql.run(
    `UPDATE desk_notices SET state = 'dropped', done_at = ${now}, outcome = ? WHERE state = 'waiting' AND made_at < ${now} - ?`,
    ['It waited for a day, and is no news any more.', NOTICE_PATIENCE],
  );
  await sql.run(`DELETE FROM desk_notices WHERE state <> 'waiting' AND made_at < ${now} - ?`, [NOTICE_AGE]);
  await sql.run(
    'DELETE FROM desk_targets WHERE NOT EXISTS (SELECT 1 FROM desk_notices n WHERE n.target = desk_targets.id)',
  );
}
