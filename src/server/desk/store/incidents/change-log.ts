import { type CallKey, toKey } from '../incident-key.ts';
import { listKeys } from '../servers/environment-table.ts';
import { placeholders, type Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';
import { toColumn } from '../to-column.ts';
import { listFamily } from './incident-table.ts';

/** The kinds of changes. Spillway itself makes `regressed`, `grown` and `ignore-ended`. */
export type ChangeAction =
  | 'opened'
  | 'resolved'
  | 'ignored'
  | 'assigned'
  | 'regressed'
  | 'grown'
  | 'ignore-ended'
  | 'merged'
  | 'taken-apart'
  | 'deleted'
  | 'occurrence-deleted'
  | 'feedback-deleted'
  | 'note-deleted';

interface NewChange {
  readonly digest: string;
  /** The token's name. Empty if Spillway itself made the change. */
  readonly author: string;
  readonly action: ChangeAction;
  /**
   * Fields by action. `resolved`: `in`. `ignored`: `until`, `growth`. `assigned`: `to`. `regressed`:
   * `release`, `build`. `grown`, `deleted`: `count`. `merged`, `taken-apart`: `digest`. `occurrence-deleted`: `occurrence`.
   */
  readonly detail: object;
}

export interface LoggedChange extends NewChange {
  readonly id: number;
  /** Milliseconds since 1970, by the store's clock. */
  readonly at: number;
  readonly detail: Readonly<Record<string, unknown>>;
}

export async function storeChange(sql: Sql, change: NewChange): Promise<void> {
  await sql.run(
    `INSERT INTO desk_changes (digest, at, author, action, detail) VALUES (?, ${sql.dialect.now}, ?, ?, ?)`,
    [change.digest, toColumn(change.author), change.action, JSON.stringify(change.detail)],
  );
}

/** Lists the changes of an incident and of those merged into it, the latest first. */
export async function listChanges(
  { reader, home }: StoreContext,
  key: CallKey,
  limit: number,
): Promise<LoggedChange[]> {
  const digests = await listFamily(reader, toKey(key, home));
  const rows = await reader.all<Omit<LoggedChange, 'detail'> & { detail: string }>(
    `SELECT id, digest, at, author, action, detail FROM desk_changes WHERE digest IN (${placeholders(digests)})
      ORDER BY at DESC, id DESC LIMIT ?`,
    [...digests, limit],
  );
  return rows.map((row) => ({ ...row, detail: JSON.parse(row.detail) as Record<string, unknown> }));
}

/** Returns who deleted the incident of a digest, and when. @param environment all environments by default */
export async function readDeletion(
  context: StoreContext,
  digest: string,
  environment?: string,
): Promise<Deletion | undefined> {
  const keys = await listKeys(context, digest, environment);
  const [row] = await context.reader.all<Deletion>(
    `SELECT author, at FROM desk_changes WHERE digest IN (${placeholders(keys)}) AND action = 'deleted'
      ORDER BY at DESC LIMIT 1`,
    keys,
  );
  return row;
}

export interface Deletion {
  readonly author: string;
  /** Milliseconds since 1970, by the store's clock. */
  readonly at: number;
}

export const queries = { listChanges, readDeletion };
