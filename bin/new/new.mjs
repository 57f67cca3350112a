import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findPackage } from '../../build/packages.mjs';
import { CommandError, readArguments } from '../command.mjs';
import { planPage } from './page.mjs';
import { planResource } from './resource.mjs';

const project = join(import.meta.dirname, '../..');

const USAGE = `Usage:
  npm run new -- page /orders/:id [--static] [--no-data]
  npm run new -- api gauges`;

const OPTIONS = { static: { type: 'boolean' }, 'no-data': { type: 'boolean' } };

/**
 * @typedef {object} Plan
 * @property {Record<string, string>} files new files: text by path
 * @property {{ path: string, text: string | undefined, byHand: string }[]} edits `text` is undefined if the position
 *   was not found; then `byHand` says what to add
 * @property {string} next
 */

/**
 * Creates a page or a resource of the API: its files, its test, and its lines in the tables. Never overwrites a file.
 *
 * @param {string[]} args
 * @param {{ root?: string, log?: (line: string) => void }} [options]
 * @throws CommandError
 */
export function createNew(args, { root = project, log = console.log } = {}) {
  const { files, edits, next } = toPlan(root, args);
  const taken = Object.keys(files).find((path) => existsSync(join(root, path)));
  if (taken) throw new CommandError(`The file ${taken} already exists. Nothing was written.`);
  const [done, left] = [edits.filter(({ text }) => text !== undefined), edits.filter(({ text }) => !text)];
  // The tables last, because `npm run dev` builds as soon as they name the files.
  const written = [...Object.entries(files), ...done.map(({ path, text }) => [path, text])];
  for (const [path, text] of written) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    log(path in files ? `Created ${path}` : `Added a line to ${path}`);
  }
  const biome = findPackage('@biomejs/biome', root);
  const paths = written.map(([path]) => path);
  const format = () =>
    spawnSync(process.execPath, [join(biome, 'bin/biome'), 'check', '--write', ...paths], { cwd: root });
  if (!biome || format().status !== 0) log('The files could not be formatted. Run `npm run lint` to see why.');
  for (const { path, byHand } of left) log(`The position in ${path} was not found. Add this manually:\n  ${byHand}`);
  log(next);
  if (left.length > 0) process.exitCode = 1;
}

/** @returns {Plan} */
function toPlan(root, args) {
  const { values, positionals } = readArguments(args, OPTIONS, USAGE);
  const [kind, name, ...others] = positionals;
  const isPage = kind === 'page';
  if (!name || others.length > 0 || !(isPage || (kind === 'api' && Object.keys(values).length === 0))) {
    throw new CommandError(USAGE);
  }
  return isPage ? planPage(root, { path: name, ...values }) : planResource(root, name);
}
