import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Digits of a commit: what hosts of repositories show, and unique in any of them. */
const commitDigits = 12;

/**
 * Names what is built: the setting RELEASE, else the commit that is checked out. The files of Git are
 * read as they are, because an image that builds has often no Git.
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
  // A worktree has a HEAD of its own, and its branches in the folder that it was made from.
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
