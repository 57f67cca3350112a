// node build/licenses.mjs
// Lists the licence of each package that the build consists of, or that it loads when it runs, and ends with 1 where one
// is not on the list of those that ask for no more than to be named.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readJson } from './files.mjs';
import { listInstalled } from './packages.mjs';

/** SPDX identifiers. Another one is a question for whoever owns the clone, and then a line here. */
export const ALLOWED_LICENSES = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
];

/**
 * @param {string} root of the project, built
 * @returns {{ name: string, version: string, license: string, isAllowed: boolean }[]} by name
 */
export function listLicenses(root) {
  const { bundled, loaded } = readJson(join(root, 'dist/packages.json'));
  const folders = [...new Set([...bundled, ...listInstalled(root, loaded)])].sort();
  return folders.map((folder) => {
    const { name, version, license } = readJson(join(root, folder, 'package.json'));
    const named = typeof license === 'string' ? license : 'unknown';
    return { name, version, license: named, isAllowed: isAllowed(named) };
  });
}

/** `(MIT OR GPL-2.0)` leaves the choice; of `MIT AND CC-BY-4.0` both hold. */
function isAllowed(license) {
  const has = (one) => ALLOWED_LICENSES.includes(one.trim());
  const bare = license.replace(/[()]/g, '');
  return bare.includes(' OR ') ? bare.split(' OR ').some(has) : bare.split(' AND ').every(has);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const packages = listLicenses(fileURLToPath(new URL('..', import.meta.url)));
  for (const { name, version, license, isAllowed } of packages) {
    console.log(
      `${license.padEnd(14)} ${name} ${version}${isAllowed ? '' : '  <- not on the list of build/licenses.mjs'}`,
    );
  }
  process.exitCode = packages.every(({ isAllowed }) => isAllowed) ? 0 : 1;
}
