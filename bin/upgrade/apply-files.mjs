import { spillwayFile } from './spillway-file.mjs';

/** Your code. `tests/support/product` is not: it connects your tests to Spillway's. */
const product = /^(?:(?:src|tests)\/(?!support\/)(?:[^/]+\/)?product|src\/client\/public)\//;
/** Files that a release replaces only if you have not changed them. */
const yours = ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md'];
/** Files that are merged by key, or written anew. */
const written = ['package.json', 'package-lock.json', spillwayFile];
const comparing = ['diff-tree', '-r', '-M', '-l0', '--full-index'];

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
  const [before, own] = [base, `HEAD:${prefix}`].map((tree) => listFiles(git, tree));
  const isDeleted = (path) => before.has(path) && !own.has(path);
  const isEdited = (path) => own.has(path) && own.get(path) !== before.get(path);
  const has = (files, folder) => [...files.keys()].some((path) => path.startsWith(folder));
  const isInDeletedFolder = (path) => {
    const folders = [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1));
    const folder = folders.findLast((other) => has(before, other));
    return folder !== undefined && !has(own, folder);
  };
  const isLeftOut = ({ path, target }) =>
    [path, target].some((name) => product.test(name) || written.includes(name)) ||
    (yours.includes(path) && isEdited(path)) ||
    isDeleted(path) ||
    isDeleted(target) ||
    (!before.has(target) && isInDeletedFolder(target));
  // git refuses a whole patch that removes a file which you changed, or renames one to a name that you use.
  const isKept = ({ status, path, target }) => (path === target ? status === 'D' && isEdited(path) : own.has(target));

  const changes = listChanges(git, base, next).filter((change) => !isLeftOut(change));
  const patches = changes.filter((change) => !isKept(change)).map(({ patch }) => patch);
  return {
    marked: applyPatch(git, patches.join(''), prefix),
    kept: changes.filter(isKept).map(({ target }) => target),
  };
}

/** Returns the id of each file in a tree. */
function listFiles(git, tree) {
  const lines = git(['ls-tree', '-r', '-z', '--full-tree', tree]).split('\0').filter(Boolean);
  return new Map(lines.map((line) => line.split('\t')).map(([facts, path]) => [path, facts]));
}

/**
 * @returns {{ status: string, path: string, target: string, patch: string }[]} `target` is the new name of a renamed file,
 *   or else `path`, and the bytes of `patch` are characters
 */
function listChanges(git, one, other) {
  const words = git([...comparing, '--raw', '-z', one, other])
    .split('\0')
    .values();
  const text = git([...comparing, '-p', '--binary', one, other], { encoding: 'latin1' });
  // Lines of files have a sign before them.
  const patches = text.split(/^(?=diff --git )/m).values();
  const changes = [];
  for (const facts of words) {
    if (facts === '') break;
    const status = facts.split(' ')[4];
    const path = words.next().value;
    const target = status.startsWith('R') ? words.next().value : path;
    // Another type of file, such as a link, is a removal and an addition.
    const patch = patches.next().value + (status === 'T' ? patches.next().value : '');
    changes.push({ status, path, target, patch });
  }
  return changes;
}

/** @returns {string[]} the files with conflict marks */
function applyPatch(git, patch, prefix) {
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
