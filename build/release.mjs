import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';

/** Digits of a commit: enough to be unique in any repository. */
const commitDigits = 12;

/**
 * Returns the name of the release: the setting RELEASE, or else the commit that is checked out. It reads Git's files
 * directly, because images that build often have no Git.
 *
 * @param {string} root
 * @returns {string | undefined} undefined outside of a repository
 */
export function readRelease(root, env = process.env) {
  return env.RELEASE?.trim() || readCommit(root)?.slice(0, commitDigits);
}

/**
 * Returns the name of the release of a build: `0123456789ab-dirty` if tracked files differ from the commit.
 *
 * @param {string[]} paths the files and folders that count. An image that builds has no others
 * @param {string[]} packages folders of linked packages. An image can lack some of their files, such as tests
 */
export async function nameRelease(root, paths, packages, env = process.env) {
  const release = readRelease(root, env);
  if (env.RELEASE?.trim() || !release) return release;
  // Files can have other modes in an image.
  const settings = ['-c', 'core.fileMode=false', '--no-optional-locks'];
  // Empty without Git, in a folder of another user, and for a package of another repository.
  const git = (...options) =>
    promisify(execFile)('git', [...settings, ...options], { cwd: root, timeout: 5000 }).then(
      ({ stdout }) => stdout,
      () => '',
    );
  const changes = await Promise.all([
    git('status', '--porcelain', '--untracked-files=no', '--', ...paths),
    ...packages.map((folder) => git('diff', '--name-only', '--diff-filter=d', 'HEAD', '--', folder)),
  ]);
  return changes.some(Boolean) ? `${release}-dirty` : release;
}

function readCommit(root) {
  const above = dirname(root);
  // In a monorepo, the repository is in a folder above.
  if (!existsSync(resolve(root, '.git')) && above !== root) return readCommit(above);
  const read = (...path) => readText(resolve(root, ...path));
  const folder = /^gitdir: (.+)$/.exec(read('.git'))?.[1] ?? '.git';
  // A worktree has its own HEAD, but its branches are in the main repository's folder.
  const common = resolve(root, folder, read(folder, 'commondir'));
  const head = read(folder, 'HEAD');
  const ref = head.replace(/^ref: /, '');
  const packed = () => new RegExp(`^(\\w+) ${RegExp.escape(ref)}$`, 'm').exec(read(common, 'packed-refs'))?.[1];
  const commit = ref === head ? head : read(folder, ref) || read(common, ref) || packed();
  return commit && /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined;
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
