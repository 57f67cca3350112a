import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { encodedMappings, TraceMap } from '@jridgewell/trace-mapping';
import { LINE_END } from '../src/shared/location-format.mjs';
import { findWorkspace, listFiles, toRelative } from './files.mjs';
import { isForeign } from './linked-packages.mjs';
import { findPackage } from './packages.mjs';

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

function listModules(root, folder) {
  const prefix = folder === '.' ? '' : `${folder}/`;
  const isLeftOut = (path) => isForeign(path) || basename(path) === 'public' || spillways.has(prefix + path);
  return listFiles(join(root, folder), isLeftOut)
    .map((path) => prefix + path)
    .filter((path) => isModule.test(path) && statSync(join(root, path)).size <= maxBytes);
}

/**
 * Returns source maps for the modules of the existing app, which runs unbundled. With them, digests use its function
 * names, and its source lines are known, as for the product.
 *
 * @param {string} root
 * @returns {{ path: string, contents: Uint8Array }[]} with paths as in `dist/maps`
 */
export function mapExistingApp(root) {
  return listExistingApp(root).map((path) => mapSource(path, readFileSync(join(root, path), 'utf8')));
}

/**
 * Returns the same for packages of the workspace that are loaded at run time, such as an existing app in `external`. An
 * image has them in `node_modules`.
 *
 * @param {string} root
 * @param {readonly string[]} loaded names of packages
 */
export function mapLoadedPackages(root, loaded) {
  const workspace = findWorkspace(root);
  return loaded.flatMap((name) => {
    const found = findPackage(name, root);
    const folder = found ? toRelative(workspace, realpathSync(found)) : '../';
    if (/^\.\.\/|(?:^|\/)node_modules\//.test(folder)) return [];
    return listModules(workspace, folder).flatMap((path) => {
      const text = readFileSync(join(workspace, path), 'utf8');
      const inImage = path.replace(folder, `node_modules/${name}`);
      return [mapSource(path, text), mapSource(path, text, inImage)];
    });
  });
}

/**
 * Returns the source map of a file that runs unbundled.
 *
 * @param {string} path relative to the root
 * @param {string} text
 * @param {string} [file] the path that stacks have
 */
export function mapSource(path, text, file = path) {
  const source = '../'.repeat(file.split('/').length) + path;
  const map = { version: 3, names: [], sourceRoot: '../', sources: [source], sourcesContent: [text] };
  // Each word and sign has its own position.
  const lines = text
    .split(LINE_END)
    .map((line, number) => [...line.matchAll(/[\w$]+|[^\s\w$]/g)].map(({ index }) => [index, 0, number, index]));
  const mappings = encodedMappings(new TraceMap({ ...map, mappings: lines }));
  return { path: `maps/${file}.map`, contents: Buffer.from(JSON.stringify({ ...map, mappings })) };
}
