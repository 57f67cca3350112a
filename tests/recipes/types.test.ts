import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { changeFirstThings, createNewApp } from '../bin/new-app.ts';
import { checkTypes } from '../support/check-types.ts';
import { createEmptyApp, createGuideApp } from '../support/guide.ts';
import { createOwnedApp, type OwnedApp, project, readProjectFile } from '../support/owned-app.ts';
import { listBlocks } from '../support/recipe-blocks.ts';
import { takeAllAway } from './take-all-away.ts';

// What the docs tell an owner to write, and what the commands write, in one run of the compiler.

const partial = { partial: true };
const ROUTER = 'src/server/product/api/books/router.ts';

function createRecipe(name: string): OwnedApp {
  const blocks = listBlocks(readProjectFile(`docs/recipes/${name}`));
  const app = createOwnedApp(blocks, partial);
  // A text that a plugin of the recipe brings.
  app.write({ 'src/shared/product/pages/home/notice.md': '' });
  if (blocks.some(({ file }) => file.startsWith('tests/'))) {
    cpSync(join(project, 'tests/support/product'), join(app.folder, 'tests/support/product'), { recursive: true });
  }
  return app;
}

const recipes = readdirSync(new URL('../../docs/recipes', import.meta.url))
  .filter((name) => name !== 'README.md')
  .map((name): [string, () => OwnedApp] => [name, () => createRecipe(name)]);

const sound: [string, () => OwnedApp][] = [
  ...recipes,
  ['the app of the guide, with its tests', () => createGuideApp(partial)],
  ['what `npm run own` leaves', () => createEmptyApp(partial)],
  ['what `npm run new` writes', () => createNewApp(partial)],
  ['what `npm run new` wrote, changed', () => changeFirstThings(createNewApp(partial))],
  ["an app without the owner's files that may be taken away", () => takeAllAway(createOwnedApp([], partial))],
];

/** Each is in the router of the recipe once. */
const BROKEN_PROMISES = [
  ['status: 201, body: book', 'status: 202, body: book'],
  ['status: 200, body: book }', 'status: 200, body: book.title }'],
  ['lines: walk(books)', 'lines: books'],
] as const;

function breakPromises(): OwnedApp {
  const app = createRecipe('openapi.md');
  for (const [right, wrong] of BROKEN_PROMISES) app.replace(ROUTER, right, wrong);
  return app;
}

let apps: OwnedApp[];
let said: string[];
beforeAll(async () => {
  apps = [...sound.map(([, create]) => create()), breakPromises()];
  said = await checkTypes(apps.map(({ folder }) => folder));
}, 120_000);
afterAll(() => {
  for (const app of apps ?? []) app.remove();
});

it.each(sound.map(([name], index) => [name, index] as const))('%s compiles', (_, index) => {
  expect(said[index]).toBe('');
});

it('a handler that does not answer what the API promises does not compile', () => {
  expect(said.at(-1)?.match(/^src\/server\/product\/api\/books\/router\.ts\(/gm)).toHaveLength(BROKEN_PROMISES.length);
});
