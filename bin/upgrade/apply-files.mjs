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
 * @param {string[]} trees of the release that you have, of your last commit, and of the new release
 * @param {string} prefix the app's folder in the repository
 * @returns {{ marked: string[], kept: string[] }} files with conflict marks, and files that stay as you have them
 *   although the release removed, moved or added its own
 * @throws CommandError Nothing was changed.
 */
export function applyFiles(git, [base, mine, next], prefix) {
  // A character is a byte, and a renamed file is removed and added.
  const compare = (...args) =>
    git(['-c', 'core.quotePath=false', 'diff-tree', '-r', '--no-renames', ...args], { encoding: 'latin1' });
  const lines = compare('-t', '--name-status', base, mine).split('\n');
  /** What you did to files and folders of the release that you have: A, M or D. */
  const own = new Map(lines.map((line) => /** @type {const} */ ([line.slice(2), line[0]])));
  const isDeleted = (path) =>
    path.split('/').some((_, index, names) => own.get(names.slice(0, index + 1).join('/')) === 'D');
  // Lines of files have a sign before them.
  const changes = compare('-p', '--binary', '--full-index', base, next)
    .split(/^(?=diff --git )/m)
    .map((patch) => ({ path: /^diff --git a\/(.+) b\/\1$/m.exec(patch)?.[1] ?? '', patch }))
    .filter(({ path }) => !(isYours(path) || written.includes(path) || isDeleted(path)))
    .filter(({ path }) => !(yours.includes(path) && own.has(path)));
  // git refuses a whole patch that removes a file which you changed, or adds one that you have.
  const isKept = ({ path, patch }) => own.has(path) && /^(?:deleted|new) file mode/m.test(patch);
  const kept = changes.filter(isKept).map(({ path }) => path);
  const patch = changes
    .filter((change) => !isKept(change))
    .map((change) => change.patch)
    .join('');
  const directory = prefix ? [`--directory=${prefix}`] : [];
  try {
    if (patch)
      git(['apply', '--3way', '--index', '--whitespace=nowarn', ...directory], { input: Buffer.from(patch, 'latin1') });
    return { marked: [], kept };
  } catch (error) {
    // With conflicts it fails too. Otherwise it has changed nothing.
    const marked = git(['diff', '--name-only', '--diff-filter=U', '-z']).split('\0').filter(Boolean);
    if (marked.length === 0) throw error;
    return { marked, kept };
  }
}
