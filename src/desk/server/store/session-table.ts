import { Minute } from '../../../shared/units.ts';
import type { StoreContext } from './store-context.ts';

/** The name and role of a session or a sign-in link. */
export interface Grant {
  /** The token's name, which is the author of changes. */
  readonly name: string;
  readonly role: 'viewer' | 'operator';
  /** The fingerprint of the token. A session is invalid once its token is no longer configured. */
  readonly fingerprint: string;
}

/** How long a sign-in link is valid (ms). */
const LINK_LIFE = 15 * Minute;

export function createSessionTable({ driver }: StoreContext) {
  /**
   * @param idHash the hash of the id, because the id itself would let a reader of the database sign in
   * @param lifeMs how long it is valid (ms)
   */
  async function store(
    table: string,
    idHash: string,
    { name, role, fingerprint }: Grant,
    lifeMs: number,
  ): Promise<void> {
    await driver.run(
      `INSERT INTO ${table} (id_hash, name, role, fingerprint, expires_at) VALUES (?, ?, ?, ?, ${driver.dialect.now} + ?)`,
      [idHash, name, role, fingerprint, lifeMs],
    );
  }

  return {
    createSession: (idHash: string, grant: Grant, lifeMs: number): Promise<void> =>
      store('desk_sessions', idHash, grant, lifeMs),

    /** @returns undefined if there is no such session, or it has ended */
    async readSession(idHash: string): Promise<Grant | undefined> {
      const [row] = await driver.all<Grant>(
        `SELECT name, role, fingerprint FROM desk_sessions WHERE id_hash = ? AND expires_at > ${driver.dialect.now}`,
        [idHash],
      );
      return row;
    },

    /** @returns whether the session existed */
    async endSession(idHash: string): Promise<boolean> {
      return (await driver.run('DELETE FROM desk_sessions WHERE id_hash = ?', [idHash])) > 0;
    },

    createLink: (idHash: string, grant: Grant): Promise<void> => store('desk_links', idHash, grant, LINK_LIFE),

    /** Uses and deletes a link. @returns undefined if it is unknown, used, or older than 15 minutes */
    async takeLink(idHash: string): Promise<Grant | undefined> {
      const [row] = await driver.all<Grant & { in_time: number }>(
        `DELETE FROM desk_links WHERE id_hash = ?
          RETURNING name, role, fingerprint, CASE WHEN expires_at > ${driver.dialect.now} THEN 1 ELSE 0 END AS in_time`,
        [idHash],
      );
      if (row?.in_time !== 1) return undefined;
      const { name, role, fingerprint } = row;
      return { name, role, fingerprint };
    },
  };
}
