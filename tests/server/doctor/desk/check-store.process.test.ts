import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkStore, judgeAge, judgeSkew, judgeStarts } from '../../../../src/server/doctor/desk/check-store.ts';
import { Minute, Second } from '../../../../src/shared/units.ts';
import { openTestDesk } from '../../../support/desk.ts';
import { createFolder } from '../../../support/folder.ts';
import { usePostgres } from '../../../support/use-postgres.ts';

const postgres = usePostgres();

const marksOf = async (options: { dataDir: string; databaseUrl: string | undefined }) =>
  Object.fromEntries((await checkStore(options)).map(({ about, mark }) => [about, mark]));

async function startAndStop(dataDir: string, databaseUrl?: string): Promise<void> {
  const desk = await openTestDesk({ dataDir, databaseUrl });
  await desk.flush();
  await desk.close();
}

describe('the check that DATA_DIR survived the last restart', () => {
  const KEPT = 'Kept by restarts';

  it('has a result from the second start, even while a server runs', async () => {
    const sqlite = { dataDir: createFolder(onTestFinished), databaseUrl: undefined };
    expect(await marksOf(sqlite)).toMatchObject({ Store: 'ok', [KEPT]: 'unknown' });
    expect(existsSync(join(sqlite.dataDir, 'desk.sqlite'))).toBe(false);
    await startAndStop(sqlite.dataDir);
    expect(await marksOf(sqlite)).toMatchObject({ Store: 'ok', [KEPT]: 'unknown' });
    const desk = await openTestDesk({ dataDir: sqlite.dataDir });
    onTestFinished(() => desk.close());
    await desk.flush();
    expect(await marksOf(sqlite)).toMatchObject({ Store: 'ok', [KEPT]: 'ok' });
  });

  it('uses the starts recorded in the store', () => {
    const found = judgeStarts([Date.parse('2026-11-20T10:00:00Z'), Date.parse('2026-11-01T10:00:00Z')]);
    expect(found).toMatchObject({
      mark: 'ok',
      found: expect.stringContaining('2 starts, the last one at 2026-11-20 10:00:00 UTC'),
    });
  });

  it('uses the age of the folder if the store is elsewhere', () => {
    const start = Date.parse('2026-11-20T10:00:00Z');
    expect(judgeAge(start - 5 * Minute, [start - Minute, start]).mark).toBe('ok');
    expect(judgeAge(start - 100, [start]).mark).toBe('unknown');
    expect(judgeAge(start, []).mark).toBe('unknown');
  });
});

it('reports a corrupt store, and does not touch it', async () => {
  const dataDir = createFolder(onTestFinished);
  writeFileSync(join(dataDir, 'desk.sqlite'), 'wrecked, and longer than the header of a database would be'.repeat(4));
  const [store] = await checkStore({ dataDir, databaseUrl: undefined });
  expect(store).toMatchObject({ mark: 'wrong', found: expect.stringContaining('desk.sqlite cannot be used') });
});

describe('PostgreSQL', () => {
  it('answers, and has the same time', async () => {
    const dataDir = createFolder(onTestFinished);
    const databaseUrl = await postgres.createDatabase();
    expect(await marksOf({ dataDir, databaseUrl })).toMatchObject({ Store: 'ok', Clock: 'ok' });
    mkdirSync(join(dataDir, 'journal'), { recursive: true });
    const desk = await openTestDesk({ dataDir, databaseUrl });
    onTestFinished(() => desk.close());
    expect((await checkStore({ dataDir, databaseUrl })).at(-1)?.found).toContain('as old as the last start');
  });

  it('is reported as unavailable without its password', async () => {
    const databaseUrl = 'postgres://ada:canary-password@127.0.0.1:1/desk';
    const findings = await checkStore({ dataDir: createFolder(onTestFinished), databaseUrl });
    expect(findings[0]).toMatchObject({
      about: 'Store',
      mark: 'wrong',
      found: expect.stringContaining('ECONNREFUSED'),
    });
    expect(JSON.stringify(findings)).not.toContain('canary');
  });

  it('can have a different clock', () => {
    expect(judgeSkew({ ms: 500, within: 10 }).mark).toBe('ok');
    expect(judgeSkew({ ms: 4 * Second, within: 3 * Second }).mark).toBe('ok');
    expect(judgeSkew({ ms: -30 * Second, within: 10 })).toMatchObject({
      mark: 'warning',
      found: expect.stringContaining('ahead of'),
    });
    expect(judgeSkew({ ms: 10 * Minute, within: 10 })).toMatchObject({
      mark: 'wrong',
      found: expect.stringContaining('10 min behind'),
    });
  });
});
