import { rmSync } from 'node:fs';
import { posix } from 'node:path';
import { spillwayFile } from './spillway-file.mjs';

/** Your code. `tests/support/product` is not: it connects your tests to Spillway's. */
const product = /^(?:(?:src|tests)\/(?!support\/)(?:[^/]+\/)?product|src\/client\/public)\//;
/** Files that a release replaces only if you have not changed them. */
const yours = ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md'];
/** Files that are merged by key, or written anew. */
const written = ['package.json', 'package-lock.json', spillwayFile];

/**
 * Stages what changed between two releases, without your own files and what you deleted.
 *
 * @param {import('./git.mjs').Git} git
 * @param {{ base: string, next: string, prefix: string }} options the two releases, and the app's folder in the
 *   repository
 * @returns {{ marked: string[], kept: string[] }} files with conflict marks, and files that stay as you have them
 *   although the release removed or renamed its own
 * @throws CommandError Nothing was changed.
 */
export function applyFiles(git, { base, next, prefix }) {
  const [before, own, after] = [base, `HEAD:${prefix}`, next].map((tree) => listFiles(git, tree));
  const isDeleted = (path) => before.has(path) && !own.has(path);
  const isEdited = (path) => own.has(path) && own.get(path) !== before.get(path);
  const isInDeletedFolder = (path) => {
    const folder = posix.dirname(path);
    if (folder === '.') return false;
    const known = [...before.keys()].filter((other) => other.startsWith(`${folder}/`));
    return known.length > 0 ? !known.some((other) => own.has(other)) : isInDeletedFolder(folder);
  };

  const oldNames = new Map(listChanges(git, base, next).map(({ path, target }) => [target, path]));
  const isLeftOut = (path) =>
    product.test(path) ||
    written.includes(path) ||
    (yours.includes(path) && isEdited(path)) ||
    isDeleted(path) ||
    isDeleted(oldNames.get(path)) ||
    (!before.has(path) && isInDeletedFolder(path));
  const [from, to] = [before, after].map((files) => new Map([...files].filter(([path]) => !isLeftOut(path))));

  // git refuses a whole patch that removes a file which you changed, or renames one to a name that you use.
  const kept = [];
  for (const { status, path, target = path } of listChanges(git, writeTree(git, from), writeTree(git, to))) {
    if (status === 'R' ? !own.has(target) : status !== 'D' || !isEdited(path)) continue;
    kept.push(target);
    for (const files of [from, to]) for (const name of [path, target]) files.delete(name);
  }
  return { marked: applyPatch(git, writeTree(git, from), writeTree(git, to), prefix), kept };
}

/** Returns mode, type and id of each file in a tree. */
function listFiles(git, tree) {
  const lines = git(['ls-tree', '-r', '-z', '--full-tree', tree]).split('\0').filter(Boolean);
  return new Map(lines.map((line) => line.split('\t')).map(([facts, path]) => [path, facts]));
}

function writeTree(git, files) {
  const env = { GIT_INDEX_FILE: `${git(['rev-parse', '--absolute-git-dir']).trim()}/spillway-index` };
  const lines = [...files].map(([path, facts]) => `${facts}\t${path}\0`);
  try {
    git(['update-index', '-z', '--index-info'], { env, input: lines.join('') });
    return git(['write-tree'], { env }).trim();
  } finally {
    rmSync(env.GIT_INDEX_FILE, { force: true });
  }
}

const comparing = ['diff-tree', '-r', '-M', '-l0', '--full-index'];

/** @returns {{ status: string, path: string, target?: string }[]} `target` is the new name of a renamed file */
function listChanges(git, one, other) {
  const changes = [];
  const words = git([...comparing, '-z', '--name-status', one, other])
    .split('\0')
    .values();
  for (const [status] of words) {
    if (status === undefined) break;
    changes.push({ status, path: words.next().value, target: status === 'R' ? words.next().value : undefined });
  }
  return changes;
}

/** @returns {string[]} the files with conflict marks */
function applyPatch(git, one, other, prefix) {
  const patch = git([...comparing, '-p', '--binary', one, other], { encoding: 'latin1' });
  if (patch === '') return [];
  const args = ['apply', '--3way', '--index', '--whitespace=nowarn', ...(prefix ? [`--directory=${prefix}`] : [])];
  try {
    git(args, { input: Buffer.from(patch, 'latin1') });
    return [];
  } catch (error) {
    // With conflicts it fails too. Otherwise it has changed nothing.
    const conflicts = git(['diff', '--name-only', '--diff-filter=U', '-z']).split('\0').filter(Boolean);
    if (conflicts.length === 0) throw error;
    return conflicts;
  }
}
