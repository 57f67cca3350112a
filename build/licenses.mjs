// node build/licenses.mjs
// Lists the license of each package that the build contains or loads at run time. Exits with 1 if a license is not in
// `ALLOWED_LICENSES`, whose only condition is attribution.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readJson } from './files.mjs';
import { listInstalled } from './packages.mjs';

/** SPDX identifiers. Before you add another one, check that its terms suit your project. */
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

/** `(MIT OR GPL-2.0)` allows a choice. `MIT AND CC-BY-4.0` requires both. */
function isAllowed(license) {
  const has = (one) => ALLOWED_LICENSES.includes(one.trim());
  const bare = license.replace(/[()]/g, '');
  return bare.includes(' OR ') ? bare.split(' OR ').some(has) : bare.split(' AND ').every(has);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const packages = listLicenses(fileURLToPath(new URL('..', import.meta.url)));
  for (const { name, version, license, isAllowed } of packages) {
    console.log(`${license.padEnd(14)} ${name} ${version}${isAllowed ? '' : '  <- not allowed in build/licenses.mjs'}`);
  }
  process.exitCode = packages.every(({ isAllowed }) => isAllowed) ? 0 : 1;
}
