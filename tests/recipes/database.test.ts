import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createVisitor, type OwnedApp } from '../support/owned-app.ts';
import { createRecipe } from './recipe.ts';

let app: OwnedApp;

beforeAll(async () => {
  app = createRecipe('database');
  app.replace(
    'src/server/product/pages/index.ts',
    'home: null',
    `home: {
      loader: ({ context: { services } }) => ({ entries: services.entries.list(20) }),
      actions: { sign: ({ form, context }) => void context.services.entries.add(String(form.get('text'))) },
    }`,
  );
  await app.build();
});
afterAll(() => app.remove());

it('stores entries across a restart', async () => {
  const folder = join(app.folder, 'data-of-test');
  const first = await app.start({ DATA_DIR: folder });
  const visitor = createVisitor(first.url);
  for (const text of ['Ada was here.', "O'Brien; DROP TABLE entries"]) {
    expect((await visitor.post('/', { _action: 'home.sign', text })).status).toBe(303);
  }
  expect(existsSync(join(folder, 'entries.db-wal'))).toBe(true);
  expect(await first.stop()).toBe(0);
  expect(existsSync(join(folder, 'entries.db-wal')), 'The database was not closed.').toBe(false);

  const second = await app.start({ DATA_DIR: folder });
  const data = await (await fetch(`${second.url}/_data/`)).text();
  expect(data).toContain(`"entries":[{"id":2,"text":"O'Brien; DROP TABLE entries"},{"id":1,"text":"Ada was here."}]`);
});

it('does not start if the database cannot be opened, and logs the reason', async () => {
  const folder = join(app.folder, 'data-without-database');
  mkdirSync(join(folder, 'entries.db'), { recursive: true });
  await expect(app.start({ DATA_DIR: folder })).rejects.toThrow(
    /ended with 1 before it listened:\nThe product's services cannot be opened, so the server does not start:\nError: unable to open database file\n {4}at src\/server\/product\//,
  );
});
