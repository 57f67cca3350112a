import { execFileSync } from 'node:child_process';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { hasTour, planRemoval, removeTour } from './tour.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Puts an empty app in the place of the tour. Says first what goes, asks, and wants a clean git tree,
 * so that one command brings everything back.
 *
 * @param {string[]} args
 */
export async function own(args) {
  const options = readOptions(args);
  if (!options) return refuse('Usage: npm run own -- [--yes] [--force]');
  if (!hasTour(root)) {
    return refuse('The tour is gone already: the setting TOUR_FAILURES, which comes with it, is not in the product.');
  }
  const changes = listChanges(root);
  if (changes?.length && !options.force) {
    return refuse(
      `There are changes that are not committed (${changes[0].slice(3)}${changes.length > 1 ? ` and ${changes.length - 1} more` : ''}). Commit or stash them first, so that nothing of yours is lost, or run \`npm run own -- --force\`.`,
    );
  }
  const plan = planRemoval(root);
  console.log(describe(plan, changes !== undefined));
  if (!options.yes && !(await agree())) return refuse('Nothing was removed.');
  removeTour(root, plan);
  console.log(FAREWELL);
}

const FAREWELL = `
The tour is gone. What to do first:

  npm run dev                   serves your app; its home page says where things are
  npm run new -- page /about    writes a page with its half on the server and its test
  npm run new -- api notes      writes a resource under /api with its test
  npm test                      runs your tests; npm run test:all those of the engine too

docs/guide/01-pages.md begins the guide: an address book step by step, from here on.

What still says Spillway and should say your name: package.json, README.md, CHANGELOG.md, LICENSE.`;

function readOptions(args) {
  try {
    return parseArgs({ args, options: { yes: { type: 'boolean' }, force: { type: 'boolean' } } }).values;
  } catch {
    return undefined;
  }
}

/** What git would lose, a line each as `git status --short` has them; undefined without git. */
function listChanges(folder) {
  try {
    const text = execFileSync('git', ['status', '--short', '--', '.'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.split('\n').filter((line) => line !== '');
  } catch {
    return undefined;
  }
}

function describe({ removed, kept, written }, hasGit) {
  const counts = Map.groupBy(removed, ({ folder }) => folder);
  return [
    `This removes the tour, ${removed.length} files:`,
    ...[...counts].map(([folder, files]) => `  ${String(files.length).padStart(4)}  ${folder}`),
    `and writes an empty app of ${written.length} files in its place. These stay as they are:`,
    ...kept.map((path) => `        ${path}`),
    ...(hasGit ? [] : ['There is no git here, so nothing brings back what is removed.']),
  ].join('\n');
}

async function agree() {
  if (!process.stdin.isTTY) {
    console.error('There is no terminal to ask on. Run `npm run own -- --yes` if this is what you want.');
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(?:es)?$/i.test((await terminal.question('Go on? [y/N] ')).trim());
  } catch {
    return false; // Ctrl+C and Ctrl+D say no
  } finally {
    terminal.close();
  }
}

function refuse(sentence) {
  console.error(sentence);
  process.exitCode = 1;
}
