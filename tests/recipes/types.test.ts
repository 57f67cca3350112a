import { spawnSync } from 'node:child_process';
import { cpSync, globSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createNew } from '../../bin/new/new.mjs';
import { changeFirstThings, createNewApp } from '../bin/new-app.ts';
import { checkTypes } from '../support/check-types.ts';
import { createEmptyApp, createGuideApp, followPage } from '../support/guide.ts';
import { createOwnedApp, type OwnedApp, project, readProjectFile } from '../support/owned-app.ts';
import { applyBlocks, listBlocks } from '../support/recipe-blocks.ts';
import { createRecipe, listRecipe } from './recipe.ts';

// Type-checks code that the docs tell you to write, and code that the commands write.

const biome = join(project, 'node_modules/.bin/biome');
/** What the docs and the commands write. */
const PRODUCT = ['src/shared/product', 'src/server/product', 'src/client/product'];
/** Files that recipes import and do not show. */
const IMPORTED = ['lake-640.webp', 'lake-1280.webp', 'map.svg'];
const HANDLERS = 'src/server/product/api/books/handlers.ts';

function createWhole(name: string): OwnedApp {
  const options = { withPackages: true };
  const blocks = listRecipe(name);
  // Tailwind's recipe changes the global styles, which the smallest product does not have.
  const app = name === 'tailwind' ? createEmptyApp(options) : createRecipe(name, options);
  if (name === 'tailwind') applyBlocks(app.folder, blocks);
  app.write(Object.fromEntries(IMPORTED.map((file) => [`src/shared/product/pages/home/${file}`, ''])));
  if (blocks.some(({ file }) => file.startsWith('tests/'))) {
    cpSync(join(project, 'tests/support/product'), join(app.folder, 'tests/support/product'), { recursive: true });
  }
  return app;
}

/** The tour with the page of the README, and with its own context. */
function createReadmeApp(): OwnedApp {
  const app = createOwnedApp();
  for (const path of [
    'src/shared/product',
    'src/server/product',
    'src/client/product',
    'tests/support/product',
    'biome.json',
    'build/shared-imports.grit',
    '.gitignore',
  ]) {
    rmSync(join(app.folder, path), { recursive: true, force: true });
    cpSync(join(project, path), join(app.folder, path), { recursive: true });
  }
  app.replace(
    'src/server/product/context.ts',
    'export type AppContext = ProductContext<Settings, Services>;',
    'export type AppContext = ProductContext<Settings, Services> & { readonly user: string };',
  );
  app.replace('src/server/product/index.ts', '  pages,', "  context: () => ({ user: 'Ada' }),\n  pages,");
  createNew(['page', '/guestbook'], { root: app.folder, log: () => undefined });
  const [, section = ''] = readProjectFile('README.md').split('\n## A page\n');
  applyBlocks(app.folder, listBlocks(section));
  return app;
}

/** What `npm run own -- --with accounts` leaves, with the chapter of the guide. */
function createAccountsApp(): OwnedApp {
  const app = createEmptyApp();
  cpSync(join(project, 'templates/accounts'), app.folder, { recursive: true });
  followPage(app.folder, readProjectFile('docs/guide/accounts.md'));
  return app;
}

/** Reduces a product to settings and pages, the minimum for an app. */
function takeAllAway(app: OwnedApp): OwnedApp {
  app.write({
    'src/server/product/index.ts': `
      import { defineProduct } from '#engine/server';
      import { pages } from './pages/index.ts';
      import { settings } from './settings.ts';
      export const product = defineProduct({ settings, pages });`,
    'src/server/product/api/index.ts': undefined,
  });
  return app;
}

const recipes = readdirSync(new URL('../../docs/recipes', import.meta.url))
  .filter((file) => file !== 'README.md')
  .map((file): [string, () => OwnedApp] => [file, () => createWhole(file.slice(0, -3))]);

const written: [string, () => OwnedApp][] = [
  ...recipes,
  ['the page of the README', createReadmeApp],
  ['the app of the guide, with its tests', createGuideApp],
  ['the app with accounts, with its tests', createAccountsApp],
  ['what `npm run own` leaves', createEmptyApp],
  ['what `npm run new` writes', createNewApp],
];

const sound: typeof written = [
  ...written,
  ['what `npm run new` wrote, changed', () => changeFirstThings(createNewApp())],
  ['an app with only settings and pages', () => takeAllAway(createOwnedApp())],
];

/** Each of these is in the recipe's handlers once. */
const BROKEN_PROMISES = [
  ['status: 201, body: book', 'status: 202, body: book'],
  ['status: 200, body: shown', 'status: 200, body: shown.length'],
  ['lines: walk(stored)', 'lines: stored'],
] as const;

function breakPromises(): OwnedApp {
  const app = createWhole('openapi');
  for (const [right, wrong] of BROKEN_PROMISES) app.replace(HANDLERS, right, wrong);
  return app;
}

async function check(app: OwnedApp): Promise<string> {
  onTestFinished(app.remove);
  return checkTypes(app.folder);
}

it.each(sound)('%s compiles', async (_, create) => {
  expect(await check(create())).toBe('');
});

it('a handler with an undeclared response does not compile', async () => {
  expect((await check(breakPromises())).match(/^src\/server\/product\/api\/books\/handlers\.ts\(/gm)).toHaveLength(
    BROKEN_PROMISES.length,
  );
});

function lint(folder: string) {
  for (const file of ['biome.json', 'build/shared-imports.grit', '.gitignore'])
    cpSync(join(project, file), join(folder, file));
  const paths = [...PRODUCT, ...globSync('tests/**/product', { cwd: folder })];
  return spawnSync(biome, ['check', '--error-on-warnings', ...paths], { cwd: folder, encoding: 'utf8' });
}

it.each(written)('%s passes the linter', (_, create) => {
  const { folder, remove } = create();
  onTestFinished(remove);
  const { stderr, status } = lint(folder);
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
});

it.each([
  ['#product-server/pages/index.ts', 'import'],
  ['../../server/product/pages/index.ts', 'import'],
  ['#product-server/pages/index.ts', 'import type'],
])('shared code that imports %s with `%s`', (path, keyword) => {
  const app = createOwnedApp();
  onTestFinished(app.remove);
  app.write({
    'src/shared/product/all.ts': `${keyword} { pages } from '${path}';\n\nexport type All = typeof pages;\n`,
  });
  const { stderr } = lint(app.folder);
  expect(stderr.includes('This would put code of the server into the browser')).toBe(keyword === 'import');
});
