import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * An upgrade in progress. The file is in git's folder, and is replaced as a whole, so that a process that is killed
 * leaves the old or the new one.
 *
 * @typedef {object} Progress
 * @property {'merge' | 'install' | 'codemods' | 'check'} phase
 * @property {string} branch of the upgrade
 * @property {string} from the branch that it started from, or the commit if no branch was checked out
 * @property {string} start the commit that it started from
 * @property {string} pick the commit that is cherry-picked
 * @property {string} base version
 * @property {string} version
 * @property {string[]} codemods
 */

/** @param {import('./git.mjs').Git} git */
export function openProgress(git) {
  const file = toGitFile(git, 'spillway-upgrade.json');
  return {
    /** @returns {Progress | undefined} undefined if no upgrade is in progress, or its branch was deleted */
    read() {
      const progress = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
      return progress && git.resolve(`refs/heads/${progress.branch}`) ? progress : undefined;
    },
    write(/** @type {Progress} */ progress) {
      writeFileSync(`${file}.new`, JSON.stringify(progress));
      renameSync(`${file}.new`, file);
    },
    remove: () => rmSync(file, { force: true }),
  };
}

/** Says what git is in the middle of in this work tree. */
export function readState(git) {
  const status = ['status', '--porcelain=v2', '--branch', '--untracked-files=all'];
  const lines = git.run(['--no-optional-locks', '-c', 'core.quotePath=false', ...status]).split('\n');
  const header = (name) => lines.find((line) => line.startsWith(`# branch.${name} `))?.split(' ')[2];
  const branch = header('head');
  return {
    head: header('oid'),
    /** Undefined if no branch is checked out. */
    branch: branch === '(detached)' ? undefined : branch,
    isPicking: existsSync(toGitFile(git, 'CHERRY_PICK_HEAD')),
    isLocked: existsSync(toGitFile(git, 'index.lock')),
    /** Whether files differ that git does not ignore. */
    isChanged: lines.some((line) => !line.startsWith('# ')),
    /** Paths with conflicts. */
    unmerged: lines.filter((line) => line.startsWith('u ')).map((line) => line.split(' ').slice(10).join(' ')),
  };
}

/** Returns the path of a file in git's folder, which a linked work tree has elsewhere. */
export function toGitFile(git, name) {
  return resolve(git.root, git.run(['rev-parse', '--git-path', name]));
}
