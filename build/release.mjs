import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

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

function readCommit(root) {
  const folder = findGitFolder(root);
  const head = folder && readText(join(folder, 'HEAD'));
  if (!head) return undefined;
  const ref = /^ref: (\S+)$/.exec(head)?.[1];
  if (!ref) return isCommit(head) ? head : undefined;
  // A worktree has its own HEAD, but its branches are in the main repository's folder.
  const common = resolve(folder, readText(join(folder, 'commondir')) ?? '.');
  const loose = readText(join(folder, ref)) ?? readText(join(common, ref));
  const commit = loose ?? findPacked(readText(join(common, 'packed-refs')) ?? '', ref);
  return isCommit(commit) ? commit : undefined;
}

function findGitFolder(root) {
  const path = join(root, '.git');
  const pointer = /^gitdir: (.+)$/.exec(readText(path) ?? '')?.[1];
  if (pointer) return resolve(root, pointer);
  return readText(join(path, 'HEAD')) === undefined ? undefined : path;
}

function findPacked(text, ref) {
  return text
    .split('\n')
    .find((line) => line.endsWith(` ${ref}`))
    ?.split(' ')[0];
}

function isCommit(text) {
  return /^[0-9a-f]{40,64}$/.test(text ?? '');
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
