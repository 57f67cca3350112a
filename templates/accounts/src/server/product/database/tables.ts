import type { Kysely } from 'kysely';

/** The database. Its queries name `created_at` as `createdAt`. */
export type Database = Kysely<Tables>;

/** The columns that the migrations create. Times are texts such as 2026-01-31T12:00:00.000Z, dates as 2026-01-31. */
export interface Tables {
  users: { id: string; email: string; passwordHash: string; createdAt: string };
  sessions: { tokenHash: string; userId: string; expiresAt: string };
  links: { tokenHash: string; email: string; expiresAt: string };
  attempts: { key: string; count: number; endsAt: string };
  jobs: { id: string; name: string; input: string; attempts: number; runAt: string | null; failure: string | null };
  migrations: { name: string; hash: string; appliedAt: string };
}
