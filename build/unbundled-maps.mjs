import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { encodedMappings, TraceMap } from '@jridgewell/trace-mapping';
import { LINE_END } from '../src/shared/location-format.mjs';
import { listExistingApp, listModules } from './existing-app.mjs';
import { findWorkspace, toRelative } from './files.mjs';
import { findPackage } from './packages.mjs';

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
