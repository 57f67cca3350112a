import { CompiledQuery } from 'kysely';
import { type ApiStore, createMemoryStore, createPostgresStore } from '#engine/server';
import type { AppParts } from '../context.ts';

/** Counts requests for the limits of the API. Servers with the same PostgreSQL count together. */
export function createApiStore({ settings, services }: Pick<AppParts, 'settings' | 'services'>): ApiStore {
  if (settings.databaseUrl === undefined) return createMemoryStore();
  return createPostgresStore({
    query: (text, values = []) => services.db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text, values)),
  });
}
