import { randomBytes } from 'node:crypto';
import { Day, Hour } from '../../../shared/units.ts';
import type { FailureKind } from '../../../shared/words.ts';
import type { NotificationShape } from '../../shared/page-data.ts';
import {
  BELIEVED_VISITORS,
  MAX_IN_MESSAGE,
  MAX_MESSAGES_PER_HOUR,
  MAX_NOTIFICATION_ATTEMPTS,
  NOTIFICATION_LEASE,
  NOTIFICATION_RETRY_FIRST,
  NOTIFICATION_RETRY_LONGEST,
} from '../desk-limits.ts';
import type { IncidentKey } from './incident-key.ts';
import { readIncidents } from './incident-table.ts';
import type { Incident } from './records.ts';
import { changeShown, insertRows, placeholders, readClock, readNumber, readShapes, type Sql, toColumn } from './sql.ts';
import type { NotificationRules, NotificationTarget, StoreContext } from './store-context.ts';

/**
 * `new`: an incident that did not exist. `regressed`: it returned after it was resolved. `frequent`: it reached
 * `NOTIFY_AFTER`, or grew past the limit that it was ignored for.
 */
export type NotificationEvent = 'new' | 'regressed' | 'frequent';

/** Times are by the store's clock. */
export interface NotificationRecord extends Omit<NotificationShape, 'label' | 'digest' | 'scope'> {
  readonly event: NotificationEvent;
  readonly key: IncidentKey;
  /** That of the incident, if it still exists. */
  readonly kind?: FailureKind;
}

/** Notifications that this process must send now, in one message. */
export interface ClaimedMessage {
  /** The same for each attempt, so that a receiver can recognize duplicates. */
  readonly id: string;
  readonly attempts: number;
  readonly items: readonly { readonly event: NotificationEvent; readonly incident: Incident }[];
}

/** The result of an attempt to send. */
export interface SendResult {
  readonly ok: boolean;
  /** For the desk. */
  readonly words: string;
  /** Another attempt would have the same result. */
  readonly isFinal?: boolean;
  /** The pause that the receiver asks for (ms). */
  readonly retryAfter?: number;
}

/** Browser reports that do not mean a failure for the visitor. The desk shows them without a notification. */
const QUIET_KINDS: ReadonlySet<FailureKind> = new Set(['csp', 'deprecation', 'intervention', 'script-error']);

interface DueRow {
  readonly key: IncidentKey;
  readonly kind: FailureKind;
  readonly due_event: NotificationEvent;
  readonly visitors: number;
  readonly server_count: number;
  readonly browser_count: number;
}

/** Queues the notifications of a batch in its transaction, so that only one replica queues each. */
export async function queueNotifications(
  sql: Sql,
  keys: readonly IncidentKey[],
  { after, targets }: NotificationRules,
): Promise<void> {
  const rows = await sql.all<DueRow>(
    `SELECT key, kind, due_event, visitors, server_count, browser_count FROM desk_incidents
      WHERE key IN (${placeholders(keys)}) AND state = 'open' AND due_event IS NOT NULL ORDER BY key`,
    keys,
  );
  for (const row of rows) {
    const isNew = row.due_event === 'new';
    if (isNew && row.server_count + row.browser_count < after) continue;
    if (QUIET_KINDS.has(row.kind) || !(await isBelieved(sql, row))) continue;
    const event = isNew && after > 1 ? 'frequent' : row.due_event;
    const claimed = await sql.run('UPDATE desk_incidents SET due_event = NULL WHERE key = ? AND due_event = ?', [
      row.key,
      row.due_event,
    ]);
    if (claimed > 0) await storeNotifications(sql, targets, event, row.key);
  }
}

/** Reports whether a server saw the incident or two visitors reported it within a day: strangers can forge reports. */
async function isBelieved(sql: Sql, { key, server_count: ofServers, visitors }: DueRow): Promise<boolean> {
  if (ofServers > 0) return true;
  if (visitors < BELIEVED_VISITORS) return false;
  const within = await readNumber(
    sql,
    `SELECT COUNT(DISTINCT visitor) AS value FROM desk_occurrences
      WHERE key = ? AND at > (SELECT MAX(at) FROM desk_occurrences WHERE key = ?) - ?`,
    [key, key, Day],
  );
  return within >= BELIEVED_VISITORS;
}

async function storeNotifications(
  sql: Sql,
  targets: readonly NotificationTarget[],
  event: NotificationEvent,
  key: IncidentKey,
): Promise<void> {
  const now = await readClock(sql);
  await insertRows(
    sql,
    'desk_notifications',
    targets.map(({ id, name }) => ({
      target: id,
      target_name: toColumn(name),
      event,
      key,
      created_at: now,
      state: 'waiting',
      due_at: now,
    })),
  );
}

const COLUMNS = `n.id, n.target_name AS "targetName", n.event, n.key, n.created_at AS "createdAt", n.state, n.due_at AS "dueAt",
  n.tried_at AS "triedAt", n.attempts, n.result, i.title, i.kind`;

interface WaitingRow {
  readonly id: number;
  readonly event: NotificationEvent;
  readonly key: IncidentKey;
  readonly attempts: number;
  readonly message: string | null;
}

export function createNotificationTable({ driver, reader }: StoreContext) {
  async function claim(sql: Sql, target: string): Promise<ClaimedMessage | undefined> {
    // Replicas claim one after the other, so that together they stay within the hourly limit.
    await sql.all(`SELECT value FROM desk_meta WHERE name = 'notifications' ${sql.dialect.forUpdate}`);
    const now = await readClock(sql);
    const rows = await readDue(sql, target, now);
    const { open, items } = await withOpenIncidents(sql, rows);
    const [first] = open;
    if (!first) return rows.length > 0 ? claim(sql, target) : undefined;
    const id = first.message ?? randomBytes(8).toString('hex');
    await sql.run(
      `UPDATE desk_notifications SET message = ?, attempts = attempts + 1, tried_at = ?, due_at = ?
        WHERE id IN (${placeholders(open)})`,
      [id, now, now + NOTIFICATION_LEASE, ...open.map((row) => row.id)],
    );
    return { id, attempts: first.attempts + 1, items };
  }

  return {
    /**
     * Claims what is due for a target, so that no other process sends it. It is due again after `NOTIFICATION_LEASE`, in
     * case this process dies. One message has everything that waited, so that a target gets at most
     * `MAX_MESSAGES_PER_HOUR`.
     */
    claimMessage: (target: string): Promise<ClaimedMessage | undefined> =>
      driver.transaction((sql) => claim(sql, target)),

    /** Records the result of an attempt. If another process has claimed the message since, its result counts. */
    settleMessage: ({ id, attempts }: ClaimedMessage, result: SendResult): Promise<void> =>
      changeShown(driver, async (sql) => {
        const isOver = result.ok || result.isFinal || attempts >= MAX_NOTIFICATION_ATTEMPTS;
        const state = result.ok ? 'sent' : isOver ? 'failed' : 'waiting';
        const dueAt = (await readClock(sql)) + Math.max(toWait(attempts), Math.min(result.retryAfter ?? 0, Day));
        await sql.run(
          "UPDATE desk_notifications SET state = ?, due_at = ?, result = ? WHERE message = ? AND attempts = ? AND state = 'waiting'",
          [state, dueAt, toColumn(result.words), id, attempts],
        );
      }),

    /** Lists notifications, the latest first. */
    listNotifications: (limit: number): Promise<NotificationRecord[]> =>
      readShapes<NotificationRecord>(
        reader,
        `SELECT ${COLUMNS} FROM desk_notifications n LEFT JOIN desk_incidents i ON i.key = n.key
          ORDER BY n.id DESC LIMIT ?`,
        [limit],
      ),
  };
}

/** Returns the rows of a message that must be repeated, or else of a new message. */
async function readDue(sql: Sql, target: string, now: number): Promise<WaitingRow[]> {
  const due = await sql.all<WaitingRow>(
    `SELECT id, event, key, attempts, message FROM desk_notifications
      WHERE state = 'waiting' AND target = ? AND due_at <= ? ORDER BY message IS NULL, due_at, id LIMIT ${MAX_IN_MESSAGE}`,
    [target, now],
  );
  const [first] = due;
  if (!first) return [];
  if (first.message !== null) return due.filter(({ message }) => message === first.message);
  const sent = await readNumber(
    sql,
    'SELECT COUNT(DISTINCT message) AS value FROM desk_notifications WHERE target = ? AND tried_at > ?',
    [target, now - Hour],
  );
  return sent < MAX_MESSAGES_PER_HOUR ? due : [];
}

/** Deletes notifications whose incident is no longer open. */
async function withOpenIncidents(sql: Sql, rows: readonly WaitingRow[]) {
  const incidents = await readIncidents(sql, [...new Set(rows.map(({ key }) => key))]);
  const byKey = new Map(incidents.filter(({ state }) => state === 'open').map((incident) => [incident.key, incident]));
  const open: WaitingRow[] = [];
  const items: { event: NotificationEvent; incident: Incident }[] = [];
  for (const row of rows) {
    const incident = byKey.get(row.key);
    if (incident) {
      open.push(row);
      items.push({ event: row.event, incident });
    } else await sql.run('DELETE FROM desk_notifications WHERE id = ?', [row.id]);
  }
  return { open, items };
}

/** Returns the wait after some attempts (ms). */
function toWait(attempts: number): number {
  const doubled = NOTIFICATION_RETRY_FIRST * 2 ** Math.min(attempts - 1, 20);
  return Math.min(doubled, NOTIFICATION_RETRY_LONGEST);
}
