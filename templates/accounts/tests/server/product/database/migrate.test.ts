import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { migrate } from '#product-server/database/migrate.ts';
import { openDatabase } from '#product-server/database/open-database.ts';
import type { Database } from '#product-server/database/tables.ts';
import { createEmptyDatabase } from '../../../support/product/visitor.ts';

it('runs each migration once, keeps nothing of one that fails, and accepts newer ones', async () => {
  const options = await createEmptyDatabase(join(mkdtempSync(join(tmpdir(), 'app-')), 'app.sqlite'));
  async function open(migrations: Parameters<typeof migrate>[2]): Promise<string> {
    const opened = openDatabase(options);
    onTestFinished(() => opened.db.destroy());
    await migrate(opened, {}, migrations);
    return (await opened.db.selectFrom('migration').select('name').execute()).map(({ name }) => name).join();
  }
  const run = (text: string) => (db: Database) => sql.raw(text).execute(db);
  const [first, second] = [run('CREATE TABLE ship (name text)'), run('ALTER TABLE ship ADD COLUMN length integer')];
  await expect(open({ first, second: run('SELECT * FROM nowhere') })).rejects.toMatchObject({
    message: 'The migration second failed.',
    cause: { message: expect.stringContaining('nowhere') },
  });
  // Servers with PostgreSQL can start together.
  const started = options.databaseUrl ? await Promise.all([open({ first }), open({ first })]) : [await open({ first })];
  expect(new Set(started)).toEqual(new Set(['first']));
  expect([await open({ first, second }), await open({ first })]).toEqual(['first,second', 'first,second']);
});
