import * as esbuild from 'esbuild';
import { nodeModulesInClient } from './client-inputs.mjs';
import { excerpts } from './excerpts.mjs';
import { firstLoad } from './first-load.mjs';
import { joinReactWritesPlugin } from './join-react-writes.mjs';
import { reactRouter, routerContexts } from './react-router.mjs';
import { assetLoaders } from './styles.mjs';

/** Browsers of the last years: what they know is not rewritten into something longer. */
export const browserTarget = 'es2022';
const serverTarget = 'node24';

/**
 * These start worker threads from files of their own, which a bundle does not have. They are loaded
 * from `node_modules`.
 */
const serverExternals = ['pino', 'pino-pretty'];

/** Bundled CommonJS calls `require` for Node's modules. The alias keeps clear of names that the bundle declares. */
const requireBanner = `import { createRequire as __cr } from 'node:module';\nconst require = __cr(import.meta.url);`;

function commonOptions({ root, dev, owner }) {
  return {
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    jsx: 'automatic',
    jsxDev: dev,
    logLevel: 'silent',
    legalComments: 'none',
    conditions: [dev ? 'development' : 'production'],
    alias: owner.alias,
    loader: assetLoaders,
    assetNames: 'assets/[name]-[hash]',
    publicPath: '/',
    // Maps lie one folder deeper than the files that they were made for.
    sourceRoot: '../',
  };
}

/** @returns {Promise<esbuild.BuildResult<{ write: false, metafile: true }>>} */
export function bundleClient(options) {
  const { root, entry } = options;
  const base = clientOptions(options);
  return esbuild.build({ ...base, plugins: [...base.plugins, firstLoad(root, entry)] });
}

export function clientOptions({ root, entry, outdir, dev, owner, styles }) {
  return {
    ...commonOptions({ root, dev, owner }),
    entryPoints: [entry],
    outdir,
    entryNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    splitting: true,
    platform: 'browser',
    target: browserTarget,
    minify: !dev,
    sourcemap: 'external',
    define: {
      'process.env.NODE_ENV': JSON.stringify(dev ? 'development' : 'production'),
      'process.env.SPILLWAY_DEV': JSON.stringify(dev ? '1' : ''),
    },
    plugins: [styles.plugin, excerpts(root), ...owner.plugins, reactRouter(root, { dev }), nodeModulesInClient],
  };
}

/** @returns {Promise<esbuild.BuildResult<{ write: false, metafile: true }>>} */
export function bundleServer(options) {
  return esbuild.build(serverOptions(options));
}

export function serverOptions({ root, entry, outfile, dev, owner, styles, warn }) {
  const joins = !dev && process.env.SPILLWAY_JOIN !== '0';
  return {
    ...commonOptions({ root, dev, owner }),
    entryPoints: { main: entry },
    outfile,
    platform: 'node',
    target: serverTarget,
    external: serverExternals,
    banner: { js: requireBanner },
    sourcemap: 'external',
    define: {
      'process.env.NODE_ENV': JSON.stringify(dev ? 'development' : 'production'),
      'process.env.SPILLWAY_DEV': JSON.stringify(dev ? '1' : ''),
    },
    plugins: [
      styles.plugin,
      excerpts(root),
      ...owner.plugins,
      routerContexts(root, { dev }),
      ...(joins ? [joinReactWritesPlugin({ warn })] : []),
    ],
  };
}

/**
 * The desk's thread: a bundle of its own, because a worker starts from a file. Nothing of the product
 * or of React is in it.
 *
 * @returns {Promise<esbuild.BuildResult<{ write: false, metafile: true }>>}
 */
export function bundleKeeper(options) {
  return esbuild.build(keeperOptions(options));
}

export function keeperOptions({ root, entry, outfile, dev, owner }) {
  return {
    ...commonOptions({ root, dev, owner }),
    entryPoints: { keeper: entry },
    outfile,
    platform: 'node',
    target: serverTarget,
    // `pg` asks for its native half where somebody installed it, and does without.
    external: ['pg-native'],
    banner: { js: requireBanner },
    sourcemap: 'external',
  };
}

/** esbuild's errors with the lines of source that they are about. */
export async function throwReadable(error) {
  if (!Array.isArray(error.errors)) throw error;
  // What the entry cannot import, none of the late modules can: the entry's own message is enough.
  const own = error.errors.filter(({ location }) => !location?.file.startsWith('late:'));
  const errors = own.length > 0 ? own : error.errors;
  const messages = await esbuild.formatMessages(errors, { kind: 'error', color: process.stderr.isTTY });
  throw new Error(messages.join('').trim(), { cause: error });
}
