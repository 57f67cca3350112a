import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles } from '../../build/files.mjs';
import { toOwner } from './whose.mjs';

/** Says which release an app is based on. `npm run own` and `npm run upgrade` write it. */
export const spillwayFile = '.spillway.json';

/** Enough digits to detect a change. This does not protect against people who want equal hashes. */
const hashDigits = 16;

/**
 * @typedef {object} Origin
 * @property {string} version
 * @property {string} [upstream] the git URL of Spillway's repository
 * @property {string} [commit] of the release there
 * @property {Record<string, true>} [without] parts of Spillway that the app does without
 * @property {Record<string, string>} files hashes of Spillway's files, by path
 */

/** @param {Omit<Origin, 'without'> & { without?: readonly string[] }} origin */
export function toSpillwayText({ version, upstream, commit, without = [], files }) {
  const sorted = Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
  return `${JSON.stringify({ version, upstream, commit, ...(without.length > 0 && { without: Object.fromEntries(without.map((part) => [part, true])) }), files: sorted }, null, 2)}\n`;
}

/**
 * @param {string} root
 * @returns {Origin | undefined}
 */
export function readSpillwayFile(root) {
  const file = join(root, spillwayFile);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** @param {string} id of the blob in git */
export function toHash(id) {
  return id.slice(0, hashDigits);
}

/** @param {string} root */
export function hashFiles(root) {
  const paths = ['bench', 'bin', 'build', 'docs', 'src', 'tests'].flatMap((folder) =>
    listFiles(join(root, folder)).map((path) => `${folder}/${path}`),
  );
  const present = [...paths, 'build.mjs', 'moves.json'].filter((path) => existsSync(join(root, path)));
  return Object.fromEntries(
    present.filter((path) => toOwner(path) === 'spillway').map((path) => [path, hashFile(join(root, path))]),
  );
}

/**
 * Lists Spillway's files that are not as the release has them, or are missing.
 *
 * @param {string} root
 * @returns {{ changed: string[], total: number } | undefined} undefined without a `.spillway.json`
 */
export function listChangedFiles(root) {
  const origin = readSpillwayFile(root);
  if (!origin) return undefined;
  const entries = Object.entries(origin.files);
  const changed = entries.filter(([path, hash]) => {
    const file = join(root, path);
    return !existsSync(file) || (hashFile(file) !== hash && hashFile(file, { unix: true }) !== hash);
  });
  return { changed: changed.map(([path]) => path), total: entries.length };
}

/** Hashes as git does. `unix` reads the line ends of a Windows checkout as git stores them. */
function hashFile(file, { unix = false } = {}) {
  const bytes = readFileSync(file);
  const content = unix ? Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1') : bytes;
  return toHash(createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex'));
}

/**
 * Removes a name and password from a URL, because `.spillway.json` is committed.
 *
 * @param {string} url
 */
export function withoutCredentials(url) {
  return url.replace(/^(https?:\/\/)[^/@]*@/, '$1');
}
