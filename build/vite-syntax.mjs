import { basename, extname } from 'node:path';
import { isProductCode } from '../src/shared/whose-code.mjs';
import { findInSources } from './missing-files.mjs';
import { findOwner } from './packages.mjs';
import { assetLoaders } from './styles.mjs';

// Code for Vite also compiles here. What only Vite has would fail when it runs.

const USED = /\bimport\.meta\.(env\b(?!\?\.)|glob\b)/g;
const INSTEAD = {
  env: 'Use process.env.NODE_ENV for its MODE, DEV and PROD. For other values, see docs/recipes/public-settings.md.',
  glob: 'Import each file with its path.',
};

/** @returns {string[]} warnings about the product. Packages check whether there is an `import.meta.env` */
export function warnOfVite(root, bundle) {
  return findInSources(root, bundle, USED)
    .filter(({ input }) => isProductCode(input) && !findOwner(input))
    .map(({ input, line, name }) => `${input}:${line} uses import.meta.${name}, which only Vite has. ${INSTEAD[name]}`)
    .map((words) => `warning: ${words}`);
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
