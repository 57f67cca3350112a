import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Refusal } from './names.mjs';
import { planPage } from './page.mjs';
import { planResource } from './resource.mjs';

const project = fileURLToPath(new URL('../..', import.meta.url));

const USAGE = `Usage:
  npm run new -- page /orders/:id [--id order] [--static] [--no-data]
  npm run new -- api gauges`;

const OPTIONS = { id: { type: 'string' }, static: { type: 'boolean' }, 'no-data': { type: 'boolean' } };

/**
 * @typedef {object} Plan
 * @property {{ path: string, about: string, text: string }[]} files
 * @property {{ path: string, text: string | undefined, byHand: string }[]} edits `text` is undefined if the position
 *   was not found; then `byHand` says what to add
 * @property {string} next
 */

/**
 * Creates a page or a resource of the API: its files, its test, and its lines in the tables. Never overwrites a file.
 *
 * @param {string[]} args
 * @param {{ root?: string, log?: (line: string) => void }} [options]
 */
export function createNew(args, { root = project, log = console.log } = {}) {
  try {
    const plan = toPlan(root, args);
    requireFreeFiles(root, plan);
    writePlan(root, plan);
    const unformatted = format(root, toWritten(plan));
    log([describe(plan), ...(unformatted ? [unformatted] : [])].join('\n'));
    if (plan.edits.some(({ text }) => text === undefined)) process.exitCode = 1;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

/** @returns {Plan} */
function toPlan(root, args) {
  const { values, positionals } = readArgs(args);
  const [kind, name, ...others] = positionals;
  if (!name || others.length > 0) throw new Refusal(USAGE);
  if (kind === 'page') return planPage(root, { path: name, ...values });
  if (kind === 'api' && Object.keys(values).length === 0) return planResource(root, { resource: name });
  throw new Refusal(USAGE);
}

function readArgs(args) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch {
    throw new Refusal(USAGE);
  }
}

function requireFreeFiles(root, { files }) {
  const taken = files.find(({ path }) => existsSync(join(root, path)));
  if (taken) throw new Refusal(`The file ${taken.path} already exists. Nothing was written.`);
}

/** Writes the files before the tables, because `npm run dev` builds as soon as a table names them. */
function writePlan(root, plan) {
  for (const { path, text } of toWritten(plan)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function toWritten({ files, edits }) {
  return [...files, ...edits.filter(({ text }) => text !== undefined)];
}

/** Formats the files with Biome. Returns a message if that fails. */
function format(root, written) {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  if (!existsSync(biome)) {
    return 'The files are not formatted, because Biome is not installed. Run `npm install`, then `npm run format`.';
  }
  try {
    const paths = written.map(({ path }) => path);
    execFileSync(process.execPath, [biome, 'check', '--write', ...paths], { cwd: root, stdio: 'ignore' });
    return undefined;
  } catch {
    return 'Some files may be unformatted, because Biome failed. Run `npm run lint` to see why.';
  }
}

function describe({ files, edits, next }) {
  const left = edits.filter(({ text }) => text === undefined);
  return [
    'Created',
    ...files.map(({ path, about }) => `  ${path} (${about})`),
    ...(left.length < edits.length ? ['and added a line to'] : []),
    ...edits.filter(({ text }) => text !== undefined).map(({ path }) => `  ${path}`),
    ...left.flatMap(({ path, byHand }) => [`The position in ${path} was not found. Add this manually:`, `  ${byHand}`]),
    next,
  ].join('\n');
}
