import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { toNextRelease } from './release.mjs';

export const root = fileURLToPath(new URL('.', import.meta.url)).replace(/\/$/, '');

/** Each kind of build, with the engines that run it. */
export const kinds = {
  server: { engines: ['node'], entries: ['main'], minify: false, splitting: false, folder: 'server' },
  split: {
    engines: ['chromium', 'firefox', 'jsc'],
    entries: ['main', 'product/pages/pages', 'product/catalog/catalog', 'product/account/account'],
    minify: true,
    splitting: true,
    folder: 'client/assets',
  },
  whole: {
    engines: ['node', 'chromium', 'firefox', 'jsc'],
    entries: ['main'],
    minify: true,
    splitting: false,
    folder: 'client/assets',
  },
};

/** Returns the sources of a release by their path from the root. */
export function readSources(release) {
  const files = ['src', 'packages']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
  return Object.fromEntries(
    files.sort().map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return [path, release === 1 || path.startsWith('packages') ? text : toNextRelease(path, text)];
    }),
  );
}

/**
 * @param {keyof typeof kinds} kind
 * @param {number} release
 * @returns {Promise<{ path: string, text: string }[]>} with paths within `dist`
 */
export async function bundle(kind, release) {
  const { entries, minify, splitting, folder } = kinds[kind];
  const sources = readSources(release);
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: entries.map((entry) => ({ in: `src/shared/${entry}.ts`, out: entry.split('/').at(-1) })),
    outdir: `dist/${folder}`,
    entryNames: kind === 'server' ? '[name]' : '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    write: false,
    format: 'esm',
    minify,
    splitting,
    sourcemap: 'external',
    target: kind === 'server' ? 'node24' : 'es2022',
    plugins: [fromSources(sources)],
  });
  return outputFiles.map(({ path, text }) => ({ path: relative(join(root, 'dist'), path), text }));
}

function fromSources(sources) {
  return {
    name: 'sources',
    setup(build) {
      build.onResolve({ filter: /^money$/ }, () => ({ path: join(root, 'packages/money/index.js') }));
      build.onLoad({ filter: /\.[jt]s$/ }, ({ path }) => ({
        contents: sources[relative(root, path).replaceAll('\\', '/')],
        loader: path.endsWith('.ts') ? 'ts' : 'js',
      }));
    },
  };
}
