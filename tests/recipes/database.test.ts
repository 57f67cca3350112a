import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOwnedApp, createVisitor, type OwnedApp, readProjectFile } from '../support/owned-app.ts';
import { listBlocks } from '../support/recipe-blocks.ts';

let app: OwnedApp;

beforeAll(async () => {
  app = createOwnedApp(listBlocks(readProjectFile('docs/recipes/database.md')));
  await app.build();
});
afterAll(() => app.remove());

it('stores entries across a restart', async () => {
  const folder = join(app.folder, 'data-of-test');
  const first = await app.start({ DATA_DIR: folder });
  const visitor = createVisitor(first.url);
  const short = await visitor.post('/', { _action: 'home.sign', text: 'a' });
  expect([short.status, await short.text()]).toEqual([422, expect.stringContaining('at least three characters')]);
  for (const text of ['Ada was here.', "O'Brien; DROP TABLE entries"]) {
    expect((await visitor.post('/', { _action: 'home.sign', text })).status).toBe(303);
  }
  expect(await (await visitor.get('/')).text()).toContain('<p>2 entries</p>');
  expect(existsSync(join(folder, 'entries.db-wal'))).toBe(true);
  expect(await first.stop()).toBe(0);
  expect(existsSync(join(folder, 'entries.db-wal')), 'The database was not closed.').toBe(false);

  const second = await app.start({ DATA_DIR: folder });
  const html = await (await fetch(second.url)).text();
  expect(html).toContain('<li>O&#x27;Brien; DROP TABLE entries</li><li>Ada was here.</li>');
  expect(await (await fetch(`${second.url}/_data/`)).text()).toContain('"total":2');
});

it('does not start if the database cannot be opened, and logs the reason', async () => {
  const folder = join(app.folder, 'data-without-database');
  mkdirSync(join(folder, 'entries.db'), { recursive: true });
  await expect(app.start({ DATA_DIR: folder })).rejects.toThrow(
    /ended with 1 before it listened:\nThe product's services cannot be opened, so the server does not start:\nError: unable to open database file\n {4}at /,
  );
});
