import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { findLockfile, listFiles, readJson } from '../../build/files.mjs';
import { CommandError, readArguments } from '../command.mjs';
import { createGit } from '../upgrade/git.mjs';
import { writeJson, writeOrigin } from '../upgrade/spillway-file.mjs';

const root = join(import.meta.dirname, '../..');

/** What each template needs in production, besides Spillway's packages. */
const templates = { empty: [], accounts: ['@better-auth/kysely-adapter', 'better-auth', 'kysely'] };

const usage = 'Usage: npm run own -- [--with accounts] [--without desk] [--yes]';
const tourSetting = 'TOUR_FAILURES';

/** Files of the tour that any app can keep. */
const kept = [
  'src/shared/product/error-pages.tsx',
  'src/shared/product/forms.ts',
  'tests/shared/product/error-pages.test.tsx',
];

/** Continuous integration of Spillway itself. */
const removed = [
  ...['README.md', 'chromium', 'clones', 'docs', 'soak'].map((name) => `.ci/${name}`),
  ...['soak.yml', 'spillway.yml'].map((name) => `.github/workflows/${name}`),
];

/** In your app, `npm test` runs only these, and `npm run test:all` everything. */
const testFolders = ['shared/', 'server/', 'client/', 'e2e/', ''].map((tree) => `tests/${tree}product`);

/**
 * Replaces the tour with a template. Asks first, and requires a clean git tree, so that git restores everything.
 *
 * @param {string[]} args
 */
export async function own(args) {
  const options = readOptions(args);
  if (!readFileSync(join(root, 'src/server/product/settings.ts'), 'utf8').includes(tourSetting)) {
    throw new CommandError(`The tour has already been removed: the product does not have its setting ${tourSetting}.`);
  }
  if (isInRepository(root) && findChanges() !== '') {
    throw new CommandError('There are uncommitted changes. Commit or stash them first, so that you lose nothing.');
  }
  const tour = listTour();
  const template = options.with ?? 'empty';
  console.log(
    `This replaces the tour (${tour.join(', ')}) with the app in templates/${template}, and removes Spillway's own CI jobs.`,
  );
  if (options.without) console.log(`It also removes the ${options.without} and its tests.`);
  if (!options.yes && !(await agree(args))) throw new CommandError('Nothing was removed.');

  const files = kept.map((path) => [join(root, path), readFileSync(join(root, path))]);
  for (const folder of tour) rmSync(join(root, folder), { recursive: true });
  for (const file of removed) rmSync(join(root, file), { force: true });
  for (const name of new Set(['empty', template])) {
    cpSync(join(root, 'templates', name), root, { recursive: true, filter: (path) => !path.endsWith('.part') });
  }
  for (const [file, content] of files) writeFileSync(file, content);
  const readPart = (name) => {
    const file = join(root, 'templates', template, name);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };
  rewrite('.env.example', (text) => withoutSettings(text, tourSetting) + readPart('.env.part'));
  rewrite('compose.yaml', (text) => withDatabase(text, readPart('compose.part')));
  for (const path of ['README.md', ...listFiles(join(root, 'docs')).map((name) => `docs/${name}`)]) {
    if (path.endsWith('.md')) rewrite(path, withoutTour);
  }
  if (options.without) removeDesk();
  writeManifest(templates[template]);
  writeOrigin(root, findOrigin());
  console.log(farewell.replace('GUIDE', template === 'accounts' ? guideOfAccounts : guide));
}

const farewell = `
The tour has been removed. Next steps:

  npm run dev                   serves your app; its home page says where things are
  npm run new -- page /about    creates a page, its server file and its test
  npm run new -- api tags       creates an API resource, /api/tags, and its test
  npm test                      runs your tests; npm run test:all also runs Spillway's

GUIDE

Replace Spillway's name with yours in package.json, README.md, CHANGELOG.md and LICENSE.`;

const guide = 'The guide starts with docs/guide/01-pages.md. It builds an address book from this app, step by step.';
const guideOfAccounts =
  'docs/guide/accounts.md explains this app. The other chapters build an address book from the app without accounts.';

function readOptions(args) {
  const text = { type: 'string' };
  const { values, positionals } = readArguments(args, { with: text, without: text, yes: { type: 'boolean' } }, usage);
  const { with: template = 'accounts', without = 'desk' } = values;
  if (template !== 'accounts' || without !== 'desk' || positionals.length > 0) throw new CommandError(usage);
  return values;
}

function findChanges() {
  try {
    return createGit(root)(['status', '--short', '--untracked-files', '--', '.']);
  } catch (error) {
    throw new CommandError(
      `${error.message}\nNothing was removed, because there can be uncommitted changes. Repair git first.`,
    );
  }
}

function isInRepository(folder) {
  const above = dirname(folder);
  return existsSync(join(folder, '.git')) || (above !== folder && isInRepository(above));
}

/** Lists the folders of the tour. The folder in `tests/support` belongs to any app. */
function listTour() {
  const trees = ['src', 'tests'].flatMap((top) => readdirSync(join(root, top)).map((tree) => `${top}/${tree}/product`));
  return [...trees, 'src/client/public'].filter(
    (path) => existsSync(join(root, path)) && path !== 'tests/support/product',
  );
}

async function agree(args) {
  if (!process.stdin.isTTY) {
    console.error(
      `Cannot ask without a terminal. Run \`${['npm run own --', ...args, '--yes'].join(' ')}\` to confirm.`,
    );
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(?:es)?$/i.test((await terminal.question('Continue? [y/N] ')).trim());
  } catch {
    return false; // Ctrl+C and Ctrl+D mean no
  } finally {
    terminal.close();
  }
}

/** Removes the text between `<!-- tour -->` and `<!-- /tour -->`, with the line after it. */
function withoutTour(markdown) {
  return markdown.replace(/^<!-- tour -->\n[\s\S]*?^<!-- \/tour -->\n\n?/gm, '');
}

/** Removes settings, each with the comment above it, from `.env.example`. @param {string} names separated by `|` */
export function withoutSettings(text, names) {
  return text.replace(new RegExp(`\\n# .*\\n# (?:${names})=.*\\n`, 'g'), '');
}

/** Adds settings to the replicas in `compose.yaml`, which wait for the database, because the app does not start without it. */
function withDatabase(text, settings) {
  if (settings === '') return text;
  return text
    .replace('OPERATOR_TOKEN=ada:…\n', 'OPERATOR_TOKEN=ada:… AUTH_SECRET=…\n')
    .replace(/^ {4}DESK_DATABASE_URL: .*\n/m, (line) => line + settings)
    .replace(
      /^ {2}#.*\n {2}depends_on: \[postgres\]\n/m,
      '  depends_on: { postgres: { condition: service_healthy } }\n',
    );
}

function rewrite(path, change) {
  const text = readFileSync(join(root, path), 'utf8');
  writeFileSync(join(root, path), change(text));
}

/** The build, the checks and the tests find out by themselves that it is gone. */
function removeDesk() {
  const settings = readFileSync(join(root, 'src/desk/server/settings.ts'), 'utf8').match(/(?<=^ {2})[A-Z_]+(?=: \{)/gm);
  rewrite('.env.example', (text) => withoutSettings(text, settings.join('|')));
  rewrite('compose.yaml', (text) => text.replace(/^ +DESK_.*\n/m, ''));
  for (const folder of ['src/desk', 'tests/desk']) rmSync(join(root, folder), { recursive: true });
  rewrite('src/server/main.ts', (text) => text.replace(/^.*desk\/server.*\n/m, ''));
}

/** Changes the scripts of tests, and turns packages for development into those that the app needs. */
function writeManifest(packages) {
  const manifest = readJson(join(root, 'package.json'));
  const { test } = manifest.scripts;
  Object.assign(manifest.scripts, { test: [test, ...testFolders].join(' '), 'test:all': test });
  for (const name of packages) {
    const { [name]: version, ...others } = manifest.devDependencies;
    manifest.devDependencies = others;
    manifest.dependencies[name] = version;
  }
  manifest.dependencies = Object.fromEntries(Object.entries(manifest.dependencies).sort());
  writeJson(join(root, 'package.json'), manifest);
  if (!findLockfile(root)[0]?.endsWith('package-lock.json')) return;
  const args = ['install', '--package-lock-only', '--offline', '--ignore-scripts'];
  execFileSync('npm', args, { cwd: root, shell: process.platform === 'win32' });
}

/** Without `base`, because `HEAD` can be your commit. An upgrade uses the common history, or the tag of the version. */
function findOrigin() {
  const readUrl = (name) => createGit(root)(['remote', 'get-url', name], { canFail: true }).trim();
  const upstream = readUrl('upstream') || readUrl('origin') || undefined;
  return { version: readJson(join(root, 'package.json')).version, upstream };
}
