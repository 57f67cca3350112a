import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLocations } from '../locations.mjs';
import { mapSource } from '../unbundled-maps.mjs';

/**
 * Creates the table of one source file. Digests of development are then those of production.
 *
 * @param {string} root
 * @param {string} folder of the development build
 * @param {string} path relative to the root
 * @param {string} text
 * @returns {string} JSON, as in `dist/sites.json`
 */
export function createSourceLocations(root, folder, path, text) {
  const owner = JSON.parse(readFileSync(join(folder, 'owner.json'), 'utf8'));
  return createLocations(root, [mapSource(path, text)], owner);
}
