import { execFileSync } from 'node:child_process';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { withoutCredentials } from '../upgrade/spillway-file.mjs';
import { hasTour, PARTS, planRemoval, removeTour } from './tour.mjs';
import { OPTIONAL_PARTS } from './without.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Replaces the tour with an empty app, or with one that has accounts and a database. First lists the removed files and asks for confirmation. Requires a clean git tree,
 * so that one command restores everything.
 *
 * @param {string[]} args
 */
export async function own(args) {
  const options = readOptions(args);
  if (!options) return refuse('Usage: npm run own -- [--with accounts] [--without desk] [--yes] [--force]');
  if (!hasTour(root)) {
    return refuse('The tour has already been removed: the product does not have its setting TOUR_FAILURES.');
  }
  const changes = listChanges(root);
  if (changes?.length && !options.force) {
    return refuse(
      `There are uncommitted changes (${changes[0].slice(3)}${changes.length > 1 ? ` and ${changes.length - 1} more` : ''}). Commit or stash them first, so that you lose nothing, or run \`npm run own -- --force\`.`,
    );
  }
  const plan = planRemoval(root, options.with);
  console.log(describe(plan, changes !== undefined, options.without));
  if (!options.yes && !(await agree(args))) return refuse('Nothing was removed.');
  removeTour(root, plan, findUpstream(root), options.without ? [options.without] : []);
  console.log(FAREWELL);
  if (options.with) console.log(`\n${PARTS[options.with].next}`);
}

const FAREWELL = `
The tour has been removed. Next steps:

  npm run dev                   serves your app; its home page says where things are
  npm run new -- page /about    creates a page, its server half and its test
  npm run new -- api notes      creates an API resource, /api/notes, and its test
  npm test                      runs your tests; npm run test:all also runs Spillway's

The guide starts with docs/guide/01-pages.md. It builds an address book from this app, step by step.

Replace Spillway's name with yours in package.json, README.md, CHANGELOG.md and LICENSE.`;

function readOptions(args) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        with: { type: 'string' },
        without: { type: 'string' },
        yes: { type: 'boolean' },
        force: { type: 'boolean' },
      },
    });
    const isKnown =
      (values.with === undefined || Object.hasOwn(PARTS, values.with)) &&
      (values.without === undefined || OPTIONAL_PARTS.includes(values.without));
    return isKnown ? values : undefined;
  } catch {
    return undefined;
  }
}

/** Returns uncommitted changes as lines of `git status --short`; undefined without git. */
function listChanges(folder) {
  return askGit(folder, ['status', '--short', '--', '.'])
    ?.split('\n')
    .filter((line) => line !== '');
}

/** Returns the URL that this clone comes from, for later upgrades. */
function findUpstream(folder) {
  const url = askGit(folder, ['remote', 'get-url', 'origin'])?.trim();
  return url && withoutCredentials(url);
}

/** Returns the output of git; undefined without git, or if it fails. */
function askGit(folder, args) {
  try {
    return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return undefined;
  }
}

function describe({ removed, kept, written }, hasGit, without) {
  const counts = Map.groupBy(removed, ({ folder }) => folder);
  return [
    `This removes the ${removed.length} files of the tour:`,
    ...[...counts].map(([folder, files]) => `  ${String(files.length).padStart(4)}  ${folder}`),
    `and writes an app of ${written.length} files. These files stay unchanged:`,
    ...kept.map((path) => `        ${path}`),
    ...(without ? [`It also removes the ${without} of Spillway, with its tests, settings and packages.`] : []),
    ...(hasGit ? [] : ['This is not a git repository, so you cannot restore the removed files.']),
  ].join('\n');
}

async function agree(args) {
  if (!process.stdin.isTTY) {
    const confirmed = ['npm run own --', ...args, '--yes'].join(' ');
    console.error(`Cannot ask for confirmation without a terminal. Run \`${confirmed}\` to confirm.`);
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

function refuse(sentence) {
  console.error(sentence);
  process.exitCode = 1;
}
