import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const codeFile = /\.[cm]?[jt]sx?$/;

/**
 * Notes the text of each module that a plugin loads, in the plugin's own words: of its map, and without a map, its output.
 * Positions refer to that text, and production makes digests from it.
 *
 * @param {readonly import('esbuild').Plugin[]} plugins
 * @param {Map<string, string>} texts by absolute path
 * @returns {import('esbuild').Plugin[]}
 */
export function noteSourceTexts(plugins, texts) {
  return plugins.map((plugin) =>
    withLoads(plugin, async ({ namespace, path }, result) => {
      if (namespace === 'file' && codeFile.test(path)) await note(path, result);
      return result;
    }),
  );

  async function note(path, result) {
    texts.delete(path);
    if (result?.contents === undefined) return;
    const output = Buffer.from(result.contents).toString();
    const map = await readInputMap(path, output);
    const text = map ? map.sourcesContent?.[map.sources.indexOf(path)] : output;
    if (typeof text === 'string') texts.set(path, text);
  }
}

/**
 * Returns a plugin whose results of `onLoad` can be replaced.
 *
 * @param {import('esbuild').Plugin} plugin
 * @param {(args: import('esbuild').OnLoadArgs, result: any) => any} replace
 * @returns {import('esbuild').Plugin}
 */
export function withLoads({ name, setup }, replace) {
  const onLoad = (build) => (filter, load) => build.onLoad(filter, async (args) => replace(args, await load(args)));
  return { name, setup: (build) => setup({ ...build, onLoad: onLoad(build) }) };
}

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
