import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Reads the source map that a module contains, as the output of a plugin often does: esbuild applies it too.
 *
 * @param {string} path absolute, of the module
 * @param {string} text the module, with the map in its last `sourceMappingURL`
 * @returns a map with absolute sources; undefined if there is none that can be read
 */
export async function readInputMap(path, text) {
  const url = [...text.matchAll(/\/\/[#@] sourceMappingURL=(data:\S+)/g)].at(-1)?.[1];
  if (url === undefined) return undefined;
  try {
    const map = /** @type {any} */ (await (await fetch(url)).json());
    const toPath = (source) =>
      source.startsWith('file:') ? fileURLToPath(source) : resolve(dirname(path), map.sourceRoot ?? '', source);
    return { ...map, sourceRoot: undefined, sources: map.sources.map(toPath) };
  } catch {
    return undefined;
  }
}
