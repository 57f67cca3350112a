import { cpSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build as esbuild } from 'esbuild';
import { isYours } from '../src/shared/whose-code.mjs';
import { makeFolder, root } from './servers.mjs';

/** What an app has besides its product. */
const UPSTREAM = ['bin', 'build', 'src', 'build.mjs', 'package.json'];

/**
 * Copies the files of this checkout, with the small app of `bench/app` as the product.
 *
 * @returns {string} the folder
 */
export function makeApp() {
  const folder = join(makeFolder(), 'app');
  const isProduct = (path) => isYours(`${relative(root, path).replaceAll('\\', '/')}/`);
  for (const path of UPSTREAM) {
    cpSync(join(root, path), join(folder, path), { recursive: true, filter: (from) => !isProduct(from) });
  }
  cpSync(join(root, 'bench/app'), folder, { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
  return folder;
}

/** Bundles the servers without Spillway, and returns their files by name. */
export async function buildPlainSides(folder) {
  const outputs = {};
  for (const name of ['bare', 'express', 'middleware']) {
    outputs[name] = join(folder, 'dist-plain', `${name}.mjs`);
    await bundlePlain({
      entryPoints: [join(folder, 'plain', name === 'bare' ? 'bare.tsx' : 'express.tsx')],
      outfile: outputs[name],
      conditions: ['production'],
      alias: { '#engine': join(folder, 'plain/engine.tsx') },
      loader: { '.module.css': 'local-css' },
      define: {
        'process.env.NODE_ENV': '"production"',
        SENDS_DATA: String(name !== 'bare'),
        HAS_MIDDLEWARE: String(name === 'middleware'),
      },
    });
  }
  return outputs;
}

/** @param {import('esbuild').BuildOptions} options */
export function bundlePlain(options) {
  return esbuild({
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    platform: 'node',
    define: { 'process.env.NODE_ENV': '"production"' },
    banner: { js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);" },
    ...options,
  });
}
