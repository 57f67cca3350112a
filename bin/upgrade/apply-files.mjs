import { isYours } from '../../src/shared/whose-code.mjs';
import { spillwayFile } from './spillway-file.mjs';

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
 *   although the release removed, moved or added its own
 * @throws CommandError Nothing was changed.
 */
export function applyFiles(git, { base, next, prefix }) {
  const [before, own] = [base, `HEAD:${prefix}`].map((tree) => listFiles(git, tree));
  const isDeleted = (path) => listLevels(path).some((level) => before.has(level) && !own.has(level));
  const isEdited = (path) => own.has(path) && own.get(path) !== before.get(path);
  const isLeftOut = ({ path }) =>
    isYours(path) || written.includes(path) || isDeleted(path) || (yours.includes(path) && isEdited(path));
  // git refuses a whole patch that removes a file which you changed, or adds one that you have.
  const isKept = ({ path, patch }) => /^(?:deleted|new) file mode/m.test(patch) && isEdited(path);

  const changes = listChanges(git, base, next).filter((change) => !isLeftOut(change));
  const patches = changes.filter((change) => !isKept(change)).map(({ patch }) => patch);
  return {
    marked: applyPatch(git, patches.join(''), prefix),
    kept: changes.filter(isKept).map(({ path }) => path),
  };
}

/** Returns the id of each file and folder in a tree. */
function listFiles(git, tree) {
  const lines = git(['ls-tree', '-r', '-t', '-z', '--full-tree', tree]).split('\0').filter(Boolean);
  return new Map(lines.map((line) => line.split('\t')).map(([facts, path]) => [path, facts]));
}

/** Lists a path and the folders that it is in. */
function listLevels(path) {
  return path.split('/').map((_, index, names) => names.slice(0, index + 1).join('/'));
}

/** @returns {{ path: string, patch: string }[]} where a character is a byte, and a renamed file is removed and added */
function listChanges(git, one, other) {
  const compare = ['-c', 'core.quotePath=false', 'diff-tree', '-r', '-p', '--no-renames', '--binary', '--full-index'];
  // Lines of files have a sign before them.
  const patches = git([...compare, one, other], { encoding: 'latin1' }).split(/^(?=diff --git )/m);
  return patches
    .filter(Boolean)
    .map((patch) => ({ path: /^diff --git a\/(.+) b\/\1$/m.exec(patch)?.[1] ?? '', patch }));
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
