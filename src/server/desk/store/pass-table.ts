import { insertRows, type Sql } from './sql.ts';

/** What lets somebody into the desk: a session for many requests, a ticket for one sign-in. */
export interface Pass {
  readonly kind: 'session' | 'ticket';
  /** The hash of the secret that its holder has: whoever reads the store cannot sign in by it. */
  readonly key: string;
  /** Whose token it stands for. */
  readonly name: string;
  /** Ties it to that token: another token has another mark. */
  readonly mark: string;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

/** Failed tries of a minute: of one sender, and of all. */
export interface Tries {
  readonly own: number;
  readonly all: number;
}

interface PassRow {
  readonly kind: Pass['kind'];
  readonly pass: string;
  readonly name: string;
  readonly mark: string;
  readonly ends_at: number;
}

/** Deletes what has ended, so that there are never more than somebody could sign in for. */
export async function storePass(sql: Sql, pass: Pass, now: number): Promise<void> {
  await sql.run('DELETE FROM desk_passes WHERE ends_at <= ?', [now]);
  const values = [pass.kind, pass.key, pass.name, pass.mark, pass.endsAt];
  await insertRows(sql, 'desk_passes', ['kind', 'pass', 'name', 'mark', 'ends_at'], [values]);
}

export async function findPass(sql: Sql, kind: Pass['kind'], key: string, now: number): Promise<Pass | undefined> {
  const [row] = await sql.all<PassRow>('SELECT * FROM desk_passes WHERE kind = ? AND pass = ? AND ends_at > ?', [
    kind,
    key,
    now,
  ]);
  return row && toPass(row);
}

/** Finds and deletes it in one statement: of two who come with the same, one gets it. */
export async function takePass(sql: Sql, kind: Pass['kind'], key: string, now: number): Promise<Pass | undefined> {
  const [row] = await sql.all<PassRow>('DELETE FROM desk_passes WHERE kind = ? AND pass = ? RETURNING *', [kind, key]);
  return row && row.ends_at > now ? toPass(row) : undefined;
}

/** What stands for all senders of a minute. No sender is spelled so. */
const ALL = '*';

/** Counts a try before it is looked at, so that of many at once no more pass than of many in a row. */
export async function countTry(sql: Sql, sender: string, minute: number): Promise<Tries> {
  await sql.run('DELETE FROM desk_tries WHERE minute < ?', [minute]);
  const all = await add(sql, ALL, minute, 1);
  const own = await add(sql, sender, minute, 1);
  return { own, all };
}

/** A try that was right is none. */
export async function forgiveTry(sql: Sql, sender: string, minute: number): Promise<void> {
  await add(sql, sender, minute, -1);
  await add(sql, ALL, minute, -1);
}

async function add(sql: Sql, sender: string, minute: number, count: number): Promise<number> {
  const [row] = await sql.all<{ count: number }>(
    `INSERT INTO desk_tries (sender, minute, count) VALUES (?, ?, ?)
      ON CONFLICT (sender, minute) DO UPDATE SET count = desk_tries.count + excluded.count RETURNING count`,
    [sender, minute, count],
  );
  return row?.count ?? 0;
}

function toPass({ kind, pass, name, mark, ends_at }: PassRow): Pass {
  return { kind, key: pass, name, mark, endsAt: ends_at };
}
