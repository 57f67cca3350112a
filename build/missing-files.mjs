import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { toRelative } from './files.mjs';
import { findOwner } from './packages.mjs';
import { assetLoaders } from './styles.mjs';

const NAMED = /\bnew URL\(\s*(["'`])([^"'`:]+\.\w+)\1,\s*import\.meta\.url,?\s*\)/g;

/**
 * Warns of files that code expects beside itself, as in `new Worker(new URL('./sum.js', import.meta.url))`. The bundle is
 * elsewhere, so they are missing at run time.
 *
 * @param {string} root
 * @param {{ metafile: import('esbuild').Metafile, outputFiles: import('esbuild').OutputFile[] }} bundle
 * @param {boolean} isServer
 * @returns {string[]}
 * @throws if browsers would request the source of a module, or a file of the team, which no URL leads to
 */
export function warnOfMissingFiles(root, bundle, isServer) {
  return findInSources(root, bundle, NAMED).map(({ input, line, name }) => {
    const words = `${input}:${line} looks for ${name} beside itself. It is not there, because the build bundles the code. ${advise(input, name, isServer)}`;
    if (!isServer && (/\.tsx?$/.test(name) || !findOwner(input))) throw new Error(words);
    return `warning: ${words}`;
  });
}

/**
 * Finds matches in the sources of a bundle, if the bundle itself, which is without comments, has them too.
 *
 * @param {RegExp} pattern whose last group is a name
 * @returns {{ input: string, line: number, name: string }[]}
 */
export function findInSources(root, { metafile, outputFiles }, pattern) {
  return outputFiles
    .filter(({ path }) => path.endsWith('.js'))
    .flatMap(({ path, text }) => {
      const names = new Set([...text.matchAll(pattern)].map((match) => match.at(-1)));
      const inputs = names.size > 0 ? Object.keys(metafile.outputs[toRelative(root, path)]?.inputs ?? {}) : [];
      return inputs.flatMap((input) => findNamed(root, input, pattern, names));
    });
}

function findNamed(root, input, pattern, names) {
  const source = existsSync(join(root, input)) ? readFileSync(join(root, input), 'utf8') : '';
  return [...source.matchAll(pattern)]
    .map((match) => ({ input, line: source.slice(0, match.index).split('\n').length, name: match.at(-1) }))
    .filter(({ name }) => names.has(name));
}

function advise(input, name, isServer) {
  const owner = findOwner(input);
  if (!owner && extname(name) in assetLoaders) return 'Import it: the import is its URL.';
  if (!isServer) return 'Give the code a URL: see docs/recipes/workers.md.';
  if (owner) return `Add '${owner}' to \`external\` in src/server/product/build.mjs.`;
  return 'Import the file, with a plugin in src/server/product/build.mjs that loads it.';
}
