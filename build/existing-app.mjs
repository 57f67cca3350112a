import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { listFiles } from './files.mjs';
import { isForeign } from './linked-packages.mjs';

const owner = 'src/server/product/index.ts';
const isModule = /(?<!\.min)\.[cm]?[jt]s$/;
/** Folders of the project without code of the app's server. */
const spillways = new Set(['bench', 'bin', 'build', 'dist', 'dist-dev', 'docs', 'src', 'templates', 'tests']);
/** Larger files (bytes) are bundled or generated. */
const maxBytes = 300_000;

/**
 * Returns the folder of the file in `existingApp`, relative to the root. The server refuses one outside of the root.
 *
 * @param {string} root
 * @returns {string | undefined} `.` if the file is in the root itself
 */
export function findExistingApp(root) {
  const file = join(root, owner);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const [, value = ''] = /^(?!\s*(?:\/\/|\*)).*\bexistingApp\s*:([\s\S]*)/m.exec(text) ?? [];
  const entry = [...value.matchAll(/(['"`])(\.\/[^'"`\n]+)\1/g)]
    .map(([, , path]) => path)
    .map((path) => normalize(path).replaceAll('\\', '/'))
    .find((path) => isModule.test(path) && !path.startsWith('../') && existsSync(join(root, path)));
  return entry && dirname(entry);
}

/** @returns {string[]} the modules of the existing app, relative to the root */
export function listExistingApp(root) {
  const folder = findExistingApp(root);
  return folder === undefined ? [] : listModules(root, folder);
}

/** @returns {string[]} the modules in a folder, relative to the root */
export function listModules(root, folder) {
  const prefix = folder === '.' ? '' : `${folder}/`;
  const isLeftOut = (path) => isForeign(path) || basename(path) === 'public' || spillways.has(prefix + path);
  return listFiles(join(root, folder), isLeftOut)
    .map((path) => prefix + path)
    .filter((path) => isModule.test(path) && statSync(join(root, path)).size <= maxBytes);
}
