import { readInputMap } from './input-map.mjs';

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
  return plugins.map(({ name, setup }) => ({
    name,
    setup: (build) =>
      setup({
        ...build,
        onLoad: (options, callback) =>
          build.onLoad(options, async (args) => {
            const result = await callback(args);
            if (args.namespace === 'file' && codeFile.test(args.path)) note(args.path, result);
            return result;
          }),
      }),
  }));

  function note(path, result) {
    texts.delete(path);
    if (result?.contents === undefined) return;
    const output = Buffer.from(result.contents).toString();
    const map = readInputMap(path, output);
    const text = map ? map.sourcesContent?.[map.sources.indexOf(path)] : output;
    if (typeof text === 'string') texts.set(path, text);
  }
}
