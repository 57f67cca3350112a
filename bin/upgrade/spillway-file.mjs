import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from '../../build/files.mjs';

/** Says which release an app is based on: its version, after an upgrade its commit, and Spillway's repository. */
export const spillwayFile = '.spillway.json';

/** @returns {{ version: string, base?: string, upstream?: string }} Without the file, the version of package.json. */
export function readOrigin(root) {
  const file = join(root, spillwayFile);
  return readJson(existsSync(file) ? file : join(root, 'package.json'));
}

/** Leaves out a name and password in the URL, because the file is committed. */
export function writeOrigin(root, { version, base, upstream }) {
  writeJson(join(root, spillwayFile), { version, base, upstream: upstream?.replace(/^(https?:\/\/)[^/@]*@/, '$1') });
}

/** @param {string} file */
export function writeJson(file, content) {
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
}
