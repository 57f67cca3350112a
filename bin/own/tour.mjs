import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listFiles, readJson } from '../../build/files.mjs';
import { hashFiles, spillwayFile, toSpillwayText } from '../upgrade/spillway-file.mjs';
import { planWithout, pruneLock, toSorted, withoutPackages } from './without.mjs';

const emptyApp = fileURLToPath(new URL('empty', import.meta.url));

/** What `--with` adds to the empty app: the files of a folder with its name, settings, and packages. */
export const PARTS = {
  accounts: {
    packages: ['kysely', 'pg'],
    next: `Accounts and a database are in docs/guide/accounts.md. To see them, run SEED=on npm run dev, and sign in as
ada@example.com with the password "correct horse battery".`,
  },
};

/** The part's lines for .env.example. */
const settingsOfPart = '.env.part';

export const settingsFile = 'src/server/product/settings.ts';

/** Folders of the tour. Tests add `tests/<tree>/product`. */
const tourFolders = ['src/shared/product', 'src/server/product', 'src/client/product', 'src/client/public'];

/** Files that the pages, resources and tests of any product share. `npm run new` uses them. */
const sharedByAll = [
  'src/shared/product/error-pages.tsx',
  'src/shared/product/href.ts',
  'tests/shared/product/error-pages.test.tsx',
  'tests/support/product/open-app.ts',
  'tests/support/product/render-page.ts',
  'tests/support/product/visit-page.ts',
];

/** Folders of a product's tests. In your app, `npm test` runs only these, `npm run test:all` everything. */
const testFolders = [
  'tests/shared/product',
  'tests/server/product',
  'tests/client/product',
  'tests/e2e/product',
  'tests/product',
];

/** The setting that enables the tour's failures. Other code relies on its name, but your app does not need it. */
export const tourSetting = 'TOUR_FAILURES';

/** @param {string} root */
export function hasTour(root) {
  const file = join(root, settingsFile);
  return existsSync(file) && readFileSync(file, 'utf8').includes(tourSetting);
}

/**
 * Lists the files to remove, keep and write, as paths relative to `root`. Kept files are those that the pages, resources
 * and tests of any product share.
 *
 * @param {string} root
 * @param {keyof typeof PARTS} [part]
 */
export function planRemoval(root, part) {
  const sources = new Map(
    [emptyApp, ...(part ? [toFolder(part)] : [])].flatMap((folder) =>
      listFiles(folder).map((path) => [path, join(folder, path)]),
    ),
  );
  sources.delete(settingsOfPart);
  const written = [...sources.keys()];
  const kept = followImports(root, sharedByAll, new Set(written));
  const removed = [...tourFolders, ...listTestFolders(root)].flatMap((folder) =>
    listFiles(join(root, folder))
      .map((path) => ({ folder, path: `${folder}/${path}` }))
      .filter(({ path }) => !kept.has(path)),
  );
  return { removed, kept: [...kept].sort(), written, sources, part };
}

/**
 * @param {string} root
 * @param {ReturnType<typeof planRemoval>} plan
 * @param {string | undefined} upstream the git URL of Spillway's repository
 * @param {readonly string[]} [without] parts of Spillway that the app does without
 */
export function removeTour(root, { removed, sources, part }, upstream, without = []) {
  const settings = listSettings(readFileSync(join(root, settingsFile), 'utf8'));
  for (const { path } of removed) rmSync(join(root, path));
  for (const folder of new Set(removed.map(({ folder }) => folder))) removeEmptyFolders(join(root, folder));
  for (const [path, source] of sources) cpSync(source, join(root, path));
  const added = part ? readFileSync(join(toFolder(part), settingsOfPart), 'utf8') : '';
  rewrite(join(root, '.env.example'), (text) => withoutSettings(text, settings) + added);
  rewrite(join(root, 'package.json'), withOwnersTests);
  for (const name of without) removePart(root, name);
  for (const name of part ? PARTS[part].packages : []) useInProduction(root, name);
  for (const path of ['README.md', ...listFiles(join(root, 'docs')).map((name) => `docs/${name}`)]) {
    if (path.endsWith('.md')) rewrite(join(root, path), withoutTour);
  }
  const { version } = readJson(join(root, 'package.json'));
  writeFileSync(join(root, spillwayFile), toSpillwayText({ version, upstream, without, files: hashFiles(root) }));
}

/** Removes the text between `<!-- tour -->` and `<!-- /tour -->`, with the line after it. */
export function withoutTour(markdown) {
  return markdown.replace(/^<!-- tour -->\n[\s\S]*?^<!-- \/tour -->\n\n?/gm, '');
}

/** Removes the lines of deleted settings, each with the comment above and the empty line below. */
export function withoutSettings(text, names) {
  return names
    .reduce((rest, name) => rest.replace(new RegExp(`^# [^\\n]*\\n# ${name}=[^\\n]*\\n\\n?`, 'm'), ''), text)
    .replace(/\n+$/, '\n');
}

/** Makes `npm test` run only the product's tests, which take seconds. */
export function withOwnersTests(text) {
  const manifest = JSON.parse(text);
  const { test } = manifest.scripts;
  Object.assign(manifest.scripts, { test: [test, ...testFolders].join(' '), 'test:all': test });
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Removes a part of Spillway: its rooms, what imports them, its settings and its packages. */
function removePart(root, name) {
  const paths = ['.github', 'bench', 'bin', 'build', 'docs', 'src', 'tests'].flatMap((folder) =>
    listFiles(join(root, folder)).map((path) => `${folder}/${path}`),
  );
  const top = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isFile());
  const read = (path) => readFileSync(join(root, path), 'utf8');
  const plan = planWithout(name, { paths: [...paths, ...top.map((entry) => entry.name)], read });
  const { removal, removed, written } = plan;
  const settings = listSettings(read(removal.settings));
  const added = read(`bin/own/without-${name}/${settingsOfPart}`);
  for (const path of removed) rmSync(join(root, path));
  for (const folder of ['src', 'tests', 'bench', 'docs']) removeEmptyFolders(join(root, folder));
  for (const [path, text] of written) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  rewrite(join(root, '.env.example'), (text) => withoutSettings(text, settings) + added);
  rewriteJson(join(root, 'package.json'), (manifest) => withoutPackages(manifest, removal));
  rewriteJson(join(root, 'package-lock.json'), (lock) => {
    withoutPackages(lock.packages[''], removal);
    pruneLock(lock);
  });
}

/** Turns a package for development into one that the app needs, as `npm install --save-prod` does. */
function useInProduction(root, name) {
  const change = (manifest) => {
    const { [name]: version, ...others } = manifest.devDependencies;
    if (version === undefined) return;
    manifest.devDependencies = others;
    manifest.dependencies = toSorted({ ...manifest.dependencies, [name]: version });
  };
  rewriteJson(join(root, 'package.json'), change);
  rewriteJson(join(root, 'package-lock.json'), ({ packages }) => {
    change(packages['']);
    pruneLock({ packages });
  });
}

/** Returns the names in a table of settings. */
export function listSettings(source) {
  return [...source.matchAll(/^ {2,4}([A-Z][A-Z0-9_]*): \{$/gm)].map(([, name]) => name);
}

/** Lists the folders of the tour's tests. Those in `tests/fixtures` are deeper and do not belong to the tour. */
function listTestFolders(root) {
  return readdirSync(join(root, 'tests'))
    .map((tree) => `tests/${tree}/product`)
    .filter((folder) => existsSync(join(root, folder)))
    .sort();
}

/** Returns `paths` and their imports from the product, without replaced files and files that only those import. */
function followImports(root, paths, replaced, found = new Set()) {
  for (const path of paths) {
    const isOurs = path.includes('/product/') && !replaced.has(path) && !found.has(path);
    if (!isOurs || !existsSync(join(root, path))) continue;
    found.add(path);
    followImports(root, listImports(root, path), replaced, found);
  }
  return found;
}

function listImports(root, path) {
  if (!existsSync(join(root, path))) return [];
  const source = readFileSync(join(root, path), 'utf8');
  return [...source.matchAll(/^(?:import|export)\b[^;'"]*['"](\.[^'"]+)['"]/gm)].map(([, target]) =>
    posix.join(posix.dirname(path), target),
  );
}

function rewrite(file, change) {
  if (!existsSync(file)) return;
  const text = readFileSync(file, 'utf8');
  const changed = change(text);
  if (changed !== text) writeFileSync(file, changed);
}

function rewriteJson(file, change) {
  rewrite(file, (text) => {
    const content = JSON.parse(text);
    change(content);
    return `${JSON.stringify(content, null, 2)}\n`;
  });
}

function toFolder(part) {
  return fileURLToPath(new URL(part, import.meta.url));
}

function removeEmptyFolders(folder) {
  const entriesHere = readdirSync(folder, { withFileTypes: true });
  for (const entry of entriesHere) if (entry.isDirectory()) removeEmptyFolders(join(folder, entry.name));
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}
