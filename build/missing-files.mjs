import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toRelative } from './files.mjs';
import { findOwner } from './packages.mjs';

const NAMED = /\bnew URL\(\s*(["'`])([^"'`:]+\.\w+)\1,\s*import\.meta\.url,?\s*\)/g;

/**
 * Warns of files that code expects beside itself, as in `new Worker(new URL('./sum.js', import.meta.url))`. The bundle is
 * elsewhere, so they are missing at run time.
 *
 * @param {string} root
 * @param {{ metafile: import('esbuild').Metafile, outputFiles: import('esbuild').OutputFile[] }} bundle
 * @param {boolean} isServer
 * @returns {string[]}
 * @throws if browsers would request the source of a module
 */
export function warnOfMissingFiles(root, { metafile, outputFiles }, isServer) {
  return outputFiles
    .filter(({ path }) => path.endsWith('.js'))
    .flatMap(({ path, text }) => {
      const names = new Set([...text.matchAll(NAMED)].map(([, , name]) => name));
      const inputs = names.size > 0 ? Object.keys(metafile.outputs[toRelative(root, path)]?.inputs ?? {}) : [];
      return inputs.flatMap((input) => findNamed(root, input, names, isServer));
    });
}

function findNamed(root, input, names, isServer) {
  const source = existsSync(join(root, input)) ? readFileSync(join(root, input), 'utf8') : '';
  return [...source.matchAll(NAMED)].flatMap(({ index, 2: name }) => {
    if (!names.has(name)) return [];
    const line = source.slice(0, index).split('\n').length;
    const words = `${input}:${line} looks for ${name} beside itself. It is not there, because the build bundles the code. ${advise(input, isServer)}`;
    if (!isServer && /\.tsx?$/.test(name)) throw new Error(words);
    return `warning: ${words}`;
  });
}

function advise(input, isServer) {
  const owner = findOwner(input);
  if (!isServer) return 'Give the code a URL: see docs/recipes/workers.md.';
  if (owner) return `Add '${owner}' to \`external\` in src/server/product/build.mjs.`;
  return 'Import the file, with a plugin in src/server/product/build.mjs that loads it.';
}
