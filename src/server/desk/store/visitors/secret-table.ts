import { Day } from '../../../../shared/units.ts';
import { createSecret, NO_DAY, type Salt } from '../../../reports/tunnel/visitors.ts';
import { insertRows, type Sql } from '../sql.ts';
import type { StoreContext } from '../store-context.ts';

/**
 * A random key of 32 bytes. A key makes it possible to find the visitor behind a hash by trial. So backups
 * do not include `desk_secrets`, and each row is deleted as soon as it is not needed:
 *
 * - `visitor` with a day: hashes the addresses of that day. Deleted two days later.
 * - `visitor` with `NO_DAY`: hashes the ids that `visitorId` returns. The common one stays.
 * - `mark`: hashes deletion marks. Stays.
 * - `old`: the only salt of releases before schema 10, which they keep in `desk_meta`. Deleted from both
 *   tables when everything that was hashed with it is deleted.
 *
 * All replicas use the common secret of a name and day. Others were created while the store was unavailable.
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

/** Returns the key of deletion marks. The first call creates it. */
export async function useMarkKey(sql: Sql): Promise<string> {
  await offer(sql, { name: 'mark', day: NO_DAY, secret: createSecret(), common: 1 });
  const [row] = await sql.all<Pick<Secret, 'secret'>>("SELECT secret FROM desk_secrets WHERE name = 'mark'");
  if (!row) throw new Error('The key of deletion marks is gone from the table desk_secrets.');
  return row.secret;
}

/**
 * Returns all salts, the common ones first.
 *
 * @param offers become the common salts of days without one
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

/** Stores salts that a process created while the store was unavailable. The first of a day becomes the common one. */
export async function storeSalts(sql: Sql, salts: readonly Salt[]): Promise<void> {
  for (const { day, salt } of salts) {
    for (const common of [1, 0]) await offer(sql, { name: 'visitor', day, secret: salt, common });
  }
}

/** Stores a secret, unless it exists or the day already has a common one. */
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
  // A replica with a wrong clock can have requested a salt for a day far in the future.
  await sql.run(
    `DELETE FROM desk_secrets WHERE day <> ${NO_DAY} AND (day < ${sql.dialect.now} / ${Day} - 1 OR day > ${sql.dialect.now} / ${Day} + 1)`,
  );
}

/** Deletes secrets whose hashes are all deleted. @param maxAge how long occurrences are kept (ms) */
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

/** Copies the salt of releases before schema 10 from `desk_meta`. Without it, they create a new one when they start. */
export async function adoptOldSalt(sql: Sql): Promise<void> {
  await sql.run(
    `INSERT INTO desk_secrets (name, day, secret, common, at)
      SELECT 'old', ${NO_DAY}, value, 0, ${sql.dialect.now} FROM desk_meta WHERE name = 'salt' ON CONFLICT DO NOTHING`,
  );
}

export const queries = { readSalts, listSecrets };
