import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { planMigration } from './migration.mjs';
import { planModel } from './model.mjs';
import { Refusal } from './names.mjs';
import { planPage } from './page.mjs';
import { planResource } from './resource.mjs';

const project = fileURLToPath(new URL('../..', import.meta.url));

const USAGE = `Usage:
  npm run new -- page /orders/:id [--id order] [--static] [--no-data]
  npm run new -- api gauges
  npm run new -- migration add-notes
  npm run new -- model note title:text body:longtext pages:number done:boolean due:date`;

const OPTIONS = { id: { type: 'string' }, static: { type: 'boolean' }, 'no-data': { type: 'boolean' } };

/**
 * @typedef {object} Plan
 * @property {{ path: string, about: string, text: string }[]} files
 * @property {{ path: string, text: string | undefined, byHand: string }[]} edits `text` is undefined if the position
 *   was not found; then `byHand` says what to add
 * @property {string} next
 */

/**
 * Creates a page, a resource, a migration or a model: its files, its tests, and its lines in the tables. Never overwrites
 * a file.
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

/**
 * @param {string} root
 * @param {string[]} args
 * @returns {Plan}
 * @throws Refusal
 */
export function toPlan(root, args) {
  const { kind, name, fields, options } = readArgs(args);
  if (kind === 'model') return planModel(root, { name, fields });
  if (fields.length > 0) throw new Refusal(USAGE);
  if (kind === 'page') return planPage(root, { path: name, ...options });
  if (kind === 'api') return planResource(root, { resource: name });
  return planMigration(root, { name });
}

const KINDS = new Set(['page', 'api', 'migration', 'model']);

function readArgs(args) {
  try {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    const [kind, name, ...fields] = positionals;
    const hasOptions = Object.keys(values).length > 0;
    if (name !== undefined && KINDS.has(kind) && (kind === 'page' || !hasOptions)) {
      return { kind, name, fields, options: { ...values } };
    }
  } catch {
    // An unknown option is handled like a wrong number of arguments.
  }
  throw new Refusal(USAGE);
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
  const width = Math.max(...[...files, ...edits].map(({ path }) => path.length)) + 2;
  const changed = edits.filter(({ text }) => text !== undefined);
  const left = edits.filter(({ text }) => text === undefined);
  return [
    'Created',
    ...files.map(({ path, about }) => `  ${path.padEnd(width)}${about}`),
    ...(changed.length > 0 ? ['and added a line to', ...changed.map(({ path }) => `  ${path}`)] : []),
    ...left.flatMap(({ path, byHand }) => [`The position in ${path} was not found. Add this manually:`, `  ${byHand}`]),
    next,
  ].join('\n');
}
