import { mkdirSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '#product-server/database/open-database.ts';
import { settings } from '#product-server/settings.ts';

it('makes files that only its own user can read, also in a folder that others can open', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'app-')), 'data');
  mkdirSync(folder, { mode: 0o755 });
  const { db } = openDatabase({ databaseUrl: undefined, databaseFile: join(folder, 'app.sqlite') });
  onTestFinished(() => db.destroy());
  await sql`CREATE TABLE ship (name text)`.execute(db);
  const modes = readdirSync(folder).map((name) => `${name} ${(statSync(join(folder, name)).mode & 0o777).toString(8)}`);
  expect(modes.sort()).toEqual(['app.sqlite 600', 'app.sqlite-shm 600', 'app.sqlite-wal 600']);
});

it('warns if replicas share the database of the desk, but not that of the app', () => {
  const replicas = { DESK_DATABASE_URL: 'postgres://db.example.com/desk' };
  expect(settings.listWarnings?.(replicas)).toEqual([expect.stringContaining('Set DATABASE_URL')]);
  expect(settings.listWarnings?.({ ...replicas, DATABASE_URL: 'postgres://db.example.com/app' })).toEqual([]);
  expect(settings.listWarnings?.({})).toEqual([]);
});
