import { existsSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { isProductCode } from '../src/shared/whose-code.mjs';
import { toRelative } from './files.mjs';
import { findOwner } from './packages.mjs';
import { assetLoaders } from './styles.mjs';

// What compiles, but would fail when it runs, or makes pages large.

/** `new Worker(new URL('./sum.js', import.meta.url))`: the bundle is elsewhere, so the file is missing. */
const besideItself = /\bnew URL\(\s*(["'`])([^"'`:]+\.\w+)\1,\s*import\.meta\.url,?\s*\)/g;

/** Packages check whether there is an `import.meta.env`. */
const onlyInVite = /\bimport\.meta\.(env\b(?!\?\.)|glob\b)/g;
const instead = {
  env: 'Use process.env.NODE_ENV for its MODE, DEV and PROD. For other values, see docs/recipes/public-settings.md.',
  glob: 'Import each file with its path.',
};

/** esbuild leaves nothing out of an object that is imported by its name. */
const allOfZod = /\bimport\s+(?:z\b|\{[^}]*\bz\b)[^;'"]*(["'])zod\1/g;

/**
 * Warns of files that code expects beside itself, of what only Vite has, and of imports of all of Zod in pages.
 *
 * @typedef {{ metafile: import('esbuild').Metafile, outputFiles: import('esbuild').OutputFile[] }} Bundle
 * @param {string} root
 * @param {Bundle} client
 * @param {Bundle} server
 * @returns {Set<string>}
 * @throws if browsers would request the source of a module, or a file of the team, which no URL leads to
 */
export function warnOfSources(root, client, server) {
  const words = [client, server].flatMap((bundle) => [
    ...findInSources(root, bundle, besideItself).map((found) => describeMissing(found, bundle === server)),
    ...findInSources(root, bundle, onlyInVite)
      .filter(({ input }) => isProductCode(input) && !findOwner(input))
      .map(({ at, name }) => `${at} uses import.meta.${name}, which only Vite has. ${instead[name]}`),
  ]);
  const withZod = Object.entries(client.metafile.inputs)
    .filter(([input, { imports }]) => !findOwner(input) && imports.some(({ original }) => original === 'zod'))
    .flatMap(([input]) => findNamed(root, input, allOfZod))
    .map(({ at }) => `${at} adds all of Zod to the page, 68 kB (gzip) more. Write import * as z from 'zod'.`);
  return new Set([...words, ...withZod].map((warning) => `warning: ${warning}`));
}

/** Finds matches in the sources of a bundle, if the bundle itself, which is without comments, has them too. */
function findInSources(root, { metafile, outputFiles }, pattern) {
  return outputFiles
    .filter(({ path }) => path.endsWith('.js'))
    .flatMap(({ path, text }) => {
      const names = new Set([...text.matchAll(pattern)].map((match) => match.at(-1)));
      const inputs = names.size > 0 ? Object.keys(metafile.outputs[toRelative(root, path)]?.inputs ?? {}) : [];
      return inputs.flatMap((input) => findNamed(root, input, pattern, names));
    });
}

/** @param {Set<string>} [names] that count; by default all */
function findNamed(root, input, pattern, names) {
  const source = existsSync(join(root, input)) ? readFileSync(join(root, input), 'utf8') : '';
  return [...source.matchAll(pattern)]
    .map((match) => ({ input, at: `${input}:${source.slice(0, match.index).split('\n').length}`, name: match.at(-1) }))
    .filter(({ name }) => names?.has(name) ?? true);
}

function describeMissing({ input, at, name }, isServer) {
  const words = `${at} looks for ${name} beside itself. It is not there, because the build bundles the code. ${advise(input, name, isServer)}`;
  if (!isServer && (/\.tsx?$/.test(name) || !findOwner(input))) throw new Error(words);
  return words;
}

function advise(input, name, isServer) {
  const owner = findOwner(input);
  if (!owner && extname(name) in assetLoaders) return 'Import it: the import is its URL.';
  if (!isServer) return 'Give the code a URL: see docs/recipes/workers.md.';
  if (owner) return `Add '${owner}' to \`external\` in src/server/product/build.mjs.`;
  return 'Import the file, with a plugin in src/server/product/build.mjs that loads it.';
}

/**
 * Refuses an import such as `./icon.svg?react` if no plugin of the product loads it: esbuild would ignore the suffix.
 *
 * @type {import('esbuild').Plugin}
 */
export const unknownSuffixes = {
  name: 'unknown-suffixes',
  setup({ onLoad }) {
    onLoad({ filter: /./, namespace: 'file' }, ({ path, suffix }) => {
      const isKnown = suffix === '?url' && extname(path) in assetLoaders;
      if (isKnown || !/^\?[a-z]+(?:&[a-z]+)*$/.test(suffix)) return undefined;
      const text = `No plugin loads ${basename(path)}${suffix}. Add one to src/server/product/build.mjs: see docs/guide/from-vite-spa.md.`;
      return { errors: [{ text }] };
    });
  },
};
