import { exists } from './sql.ts';
import type { StoreContext } from './store-context.ts';

/** Sessions, and sign-in links until they are used. By hashes, because an id would let a reader of the database sign in. */
export function createSessionTable({ driver }: StoreContext) {
  const isValid = `id_hash = ? AND expires_at > ${driver.dialect.now}`;
  return {
    /** @param lifeMs how long it is valid (ms) */
    async storeSession(idHash: string, lifeMs: number): Promise<void> {
      await driver.run(`INSERT INTO desk_sessions (id_hash, expires_at) VALUES (?, ${driver.dialect.now} + ?)`, [
        idHash,
        lifeMs,
      ]);
    },

    hasSession: (idHash: string): Promise<boolean> =>
      exists(driver, `SELECT 1 FROM desk_sessions WHERE ${isValid}`, [idHash]),

    /** @returns false if it was not valid any more */
    async endSession(idHash: string): Promise<boolean> {
      return (await driver.run(`DELETE FROM desk_sessions WHERE ${isValid}`, [idHash])) > 0;
    },
  };
}
