import { randomBytes } from 'node:crypto';
import { Day } from '../../../../shared/units.ts';
import type { Salt } from '../../ingest/journal-entry.ts';
import { insertRows, type Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';

/**
 * Random keys of 32 bytes. With one of them, it can be found out by trial who a hash stands for. So
 * `desk_secrets` is in no backup, and a row is deleted as soon as it has no use:
 *
 * - `visitor` with a day: hashes the addresses of that day. Deleted two days later.
 * - `visitor` with `NO_DAY`: hashes the ids that `visitorId` returns. The common one stays.
 * - `mark`: hashes deletion marks. Stays.
 * - `old`: the one salt of releases before schema 10, which they keep in `desk_meta`. Deleted from both
 *   tables when everything that they hashed with it is deleted.
 *
 * All replicas use the common secret of a name and day. Others were made while the store was away.
 */
export interface Secret {
  readonly name: 'visitor' | 'mark' | 'old';
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly secret: string;
  /** 1 or 0. */
  readonly common: number;
  /** When it was stored (ms since 1970, by the store's clock). */
  readonly at: number;
}

/** Stands for no day, because a primary key takes no NULL. */
export const NO_DAY = 0;

export function createSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the key of deletion marks. The first call makes it. */
export async function useMarkKey(sql: Sql): Promise<string> {
  await offer(sql, { name: 'mark', day: NO_DAY, secret: createSecret(), common: 1 });
  const [row] = await sql.all<Pick<Secret, 'secret'>>("SELECT secret FROM desk_secrets WHERE name = 'mark'");
  if (!row) throw new Error('The key of deletion marks is gone from the table desk_secrets.');
  return row.secret;
}

/**
 * Returns all salts, the common ones first.
 *
 * @param offers become the common salts of days that have none
 */
export function readSalts({ driver }: StoreContext, offers: readonly Salt[]): Promise<Salt[]> {
  return driver.transaction(async (sql) => {
    await dropOldSalts(sql);
    for (const { day, salt } of offers) await offer(sql, { name: 'visitor', day, secret: salt, common: 1 });
    return sql.all<Salt>(
      "SELECT day, secret AS salt FROM desk_secrets WHERE name = 'visitor' ORDER BY common DESC, at, secret",
    );
  });
}

/** Stores salts that a process made while the store was away. The first one of a day becomes the common one. */
export async function storeSalts(sql: Sql, salts: readonly Salt[]): Promise<void> {
  for (const { day, salt } of salts) {
    for (const common of [1, 0]) await offer(sql, { name: 'visitor', day, secret: salt, common });
  }
}

/** Does nothing if there is this secret already, or another common one. */
async function offer(sql: Sql, { name, day, secret, common }: Omit<Secret, 'at'>): Promise<void> {
  await sql.run(
    `INSERT INTO desk_secrets (name, day, secret, common, at) VALUES (?, ?, ?, ?, ${sql.dialect.now}) ON CONFLICT DO NOTHING`,
    [name, day, secret, common],
  );
}

export function listSecrets({ driver: sql }: { readonly driver: Sql }): Promise<Secret[]> {
  return sql.all<Secret>(
    `SELECT name, day, secret, common, at FROM desk_secrets ORDER BY name, day, common DESC, secret`,
  );
}

/** Adds the secrets of another store. */
export async function putSecrets(sql: Sql, secrets: readonly Secret[]): Promise<void> {
  const rows = secrets.map(({ name, day, secret, common, at }) => ({ name, day, secret, common, at }));
  await insertRows(sql, 'desk_secrets', rows, 'ON CONFLICT DO NOTHING');
}

/** Deletes the salts of days that are over. */
export async function dropOldSalts(sql: Sql): Promise<void> {
  // A replica whose clock is wrong may have asked for a day far ahead.
  await sql.run(
    `DELETE FROM desk_secrets WHERE day <> ${NO_DAY} AND (day < ${sql.dialect.now} / ${Day} - 1 OR day > ${sql.dialect.now} / ${Day} + 1)`,
  );
}

/** Deletes secrets that nothing is hashed with any more. @param maxAge how long occurrences are kept (ms) */
export async function dropOldSecrets(sql: Sql, maxAge: number): Promise<void> {
  await sql.run(
    `DELETE FROM desk_meta WHERE name = 'salt' AND value IN
      (SELECT secret FROM desk_secrets WHERE name = 'old' AND at < ${sql.dialect.now} - ?)`,
    [maxAge],
  );
  await sql.run(`DELETE FROM desk_secrets WHERE day = ${NO_DAY} AND common = 0 AND at < ${sql.dialect.now} - ?`, [
    maxAge,
  ]);
}

/** Copies the salt of releases before schema 10 from `desk_meta`. They make a new one when they start without it. */
export async function adoptOldSalt(sql: Sql): Promise<void> {
  await sql.run(
    `INSERT INTO desk_secrets (name, day, secret, common, at)
      SELECT 'old', ${NO_DAY}, value, 0, ${sql.dialect.now} FROM desk_meta WHERE name = 'salt' ON CONFLICT DO NOTHING`,
  );
}

export const queries = { readSalts, listSecrets };
