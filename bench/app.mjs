import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build as esbuild } from 'esbuild';
import { makeFolder, root } from './servers.mjs';

/** What an app has besides its product. */
const UPSTREAM = ['bin', 'build', 'src', 'build.mjs', 'moves.json', 'package.json', 'package-lock.json'];

/**
 * Copies the files of this checkout, with the small app of `bench/app` as the product. The folder has its own cache, so
 * that its first build is like the one after `npm ci`.
 *
 * @returns {string} the folder
 */
export function makeApp() {
  const folder = join(makeFolder(), 'app');
  const isProduct = (path) => /^src[\\/](?:\w+[\\/]product|client[\\/]public)(?:[\\/]|$)/.test(relative(root, path));
  const configurations = readdirSync(root).filter((name) => /^tsconfig\..*json$/.test(name));
  for (const path of [...UPSTREAM, ...configurations].filter((name) => existsSync(join(root, name)))) {
    cpSync(join(root, path), join(folder, path), { recursive: true, filter: (from) => !isProduct(from) });
  }
  cpSync(join(root, 'bench/app'), folder, { recursive: true });
  for (const path of ['src/client/public', 'node_modules']) mkdirSync(join(folder, path), { recursive: true });
  for (const entry of readdirSync(join(root, 'node_modules'), { withFileTypes: true })) {
    const path = join('node_modules', entry.name);
    if (!entry.isFile() && entry.name !== '.cache') symlinkSync(join(root, path), join(folder, path), 'junction');
  }
  return folder;
}

/** Bundles the servers without Spillway, and returns their files by name. */
export async function buildPlainSides(folder) {
  const outputs = {};
  for (const name of ['bare', 'express', 'middleware']) {
    outputs[name] = join(folder, 'dist-plain', `${name}.mjs`);
    await esbuild({
      ...plainOptions(folder, name),
      entryPoints: [join(folder, 'plain', name === 'bare' ? 'bare.tsx' : 'express.tsx')],
      outfile: outputs[name],
      platform: 'node',
      banner: { js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);" },
    });
  }
  return outputs;
}

function plainOptions(folder, name) {
  return {
    bundle: true,
    format: /** @type {const} */ ('esm'),
    jsx: /** @type {const} */ ('automatic'),
    conditions: ['production'],
    alias: { '#engine': join(folder, 'plain/engine.tsx') },
    loader: { '.module.css': /** @type {const} */ ('local-css') },
    define: {
      'process.env.NODE_ENV': '"production"',
      SENDS_DATA: String(name !== 'bare'),
      HAS_MIDDLEWARE: String(name === 'middleware'),
    },
  };
}
