import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from '../../build/files.mjs';

/** Says which release an app is based on. `npm run own` and `npm run upgrade` write it. */
export const spillwayFile = '.spillway.json';

/**
 * @typedef {object} Origin
 * @property {string} version of the release
 * @property {string} [base] its commit
 * @property {string} [upstream] the git URL of Spillway's repository
 */

/**
 * @param {string} root
 * @returns {Origin} Without the file, the version is that of package.json.
 */
export function readOrigin(root) {
  const file = join(root, spillwayFile);
  return readJson(existsSync(file) ? file : join(root, 'package.json'));
}

/**
 * @param {string} root
 * @param {Origin} origin A name and password in its URL are left out, because the file is committed.
 */
export function writeOrigin(root, { version, base, upstream }) {
  writeJson(join(root, spillwayFile), { version, base, upstream: upstream?.replace(/^(https?:\/\/)[^/@]*@/, '$1') });
}

/** @param {string} file */
export function writeJson(file, content) {
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
}
