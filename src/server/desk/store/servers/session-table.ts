import { Minute } from '../../../../shared/units.ts';
import { placeholders, type Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';

type DeskRole = 'viewer' | 'operator';

/** Who is signed in, or may sign in by a link. */
export interface Grant {
  /** The token's name: the author of changes. */
  readonly name: string;
  readonly role: DeskRole;
  /** Of the token that it rests on. A session of a token that is configured no more is none. */
  readonly fingerprint: string;
}

export interface Session extends Grant {
  /** Milliseconds since 1970, by the store's clock. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

/**
 * @param idHash of the cookie's id: whoever reads the database signs in with none of its rows
 * @param lifeMs how long it holds (ms)
 */
export async function createSession(
  { quick }: StoreContext,
  idHash: string,
  { name, role, fingerprint }: Grant,
  lifeMs: number,
): Promise<void> {
  await quick.run(
    `INSERT INTO desk_sessions (id_hash, name, role, fingerprint, created_at, expires_at) VALUES (?, ?, ?, ?, ${quick.dialect.now}, ${quick.dialect.now} + ?)`,
    [idHash, name, role, fingerprint, lifeMs],
  );
}

/** @returns undefined where it has ended, or never was */
export async function readSession({ quick }: StoreContext, idHash: string): Promise<Session | undefined> {
  const [row] = await quick.all<Session>(
    `SELECT name, role, fingerprint, created_at AS "createdAt", expires_at AS "expiresAt" FROM desk_sessions WHERE id_hash = ? AND expires_at > ${quick.dialect.now}`,
    [idHash],
  );
  return row;
}

/** @returns whether there was one */
export async function endSession({ quick }: StoreContext, idHash: string): Promise<boolean> {
  return (await quick.run('DELETE FROM desk_sessions WHERE id_hash = ?', [idHash])) > 0;
}

/** Ends all sessions and links that rest on other tokens than these. @returns how many */
export function keepSessions({ driver }: StoreContext, fingerprints: readonly string[]): Promise<number> {
  const others = fingerprints.length === 0 ? '' : `WHERE fingerprint NOT IN (${placeholders(fingerprints)})`;
  return driver.transaction(async (sql) => {
    const sessions = await sql.run(`DELETE FROM desk_sessions ${others}`, fingerprints);
    return sessions + (await sql.run(`DELETE FROM desk_links ${others}`, fingerprints));
  });
}

/** How long a sign-in link may be used (ms, issue 11). */
const LINK_LIFE = 15 * Minute;

/** @param idHash of what stands in the link */
export async function createLink(
  { quick }: StoreContext,
  idHash: string,
  { name, role, fingerprint }: Grant,
): Promise<void> {
  await quick.run(
    `INSERT INTO desk_links (id_hash, name, role, fingerprint, expires_at) VALUES (?, ?, ?, ?, ${quick.dialect.now} + ${LINK_LIFE})`,
    [idHash, name, role, fingerprint],
  );
}

/** Uses a link up. @returns undefined where it was used, is older than 15 minutes, or never was */
export async function takeLink({ quick }: StoreContext, idHash: string): Promise<Grant | undefined> {
  const [row] = await quick.all<Grant & { in_time: number }>(
    `DELETE FROM desk_links WHERE id_hash = ?
      RETURNING name, role, fingerprint, CASE WHEN expires_at > ${quick.dialect.now} THEN 1 ELSE 0 END AS in_time`,
    [idHash],
  );
  if (row?.in_time !== 1) return undefined;
  const { name, role, fingerprint } = row;
  return { name, role, fingerprint };
}

/** Wrong tokens within the current minute, over all replicas. */
interface AttemptCounts {
  readonly bySender: readonly (readonly [sender: string, count: number])[];
  readonly inTotal: number;
}

/** Stands for all senders: a hash is never empty. */
const ALL_SENDERS = '';

/**
 * Counts wrong tokens.
 *
 * @param bySender hashes of senders, each once, with their number of wrong tokens since the last call
 * @param inTotal the number of all senders together
 */
export async function countAttempts(
  { quick }: StoreContext,
  bySender: AttemptCounts['bySender'],
  inTotal: number,
): Promise<AttemptCounts> {
  // All replicas lock rows in the same order, so that two never wait for each other.
  const sorted = [...bySender].sort(([one], [other]) => (one < other ? -1 : 1));
  const wrong = [...sorted, [ALL_SENDERS, inTotal] as const];
  const rows = await quick.all<{ sender: string; count: number }>(
    `INSERT INTO desk_attempts (sender, minute, count)
      VALUES ${wrong.map(() => `(?, ${quick.dialect.now} / ${Minute}, ?)`).join(', ')}
      ON CONFLICT (sender, minute) DO UPDATE SET count = desk_attempts.count + excluded.count RETURNING sender, count`,
    wrong.flat(),
  );
  const counts = rows.map(({ sender, count }) => [sender, count] as const);
  return {
    bySender: counts.filter(([sender]) => sender !== ALL_SENDERS),
    inTotal: counts.find(([sender]) => sender === ALL_SENDERS)?.[1] ?? inTotal,
  };
}

/** Deletes what has run out. */
export async function dropOldSessions(sql: Sql): Promise<void> {
  await sql.run(`DELETE FROM desk_sessions WHERE expires_at <= ${sql.dialect.now}`);
  await sql.run(`DELETE FROM desk_links WHERE expires_at <= ${sql.dialect.now}`);
  await sql.run(`DELETE FROM desk_attempts WHERE minute < ${sql.dialect.now} / ${Minute} - 1`);
}

export const queries = { createSession, readSession, endSession, keepSessions, createLink, takeLink, countAttempts };
