import { basename, join } from 'node:path';
import * as esbuild from 'esbuild';
import { nodeModulesInClient } from './client-inputs.mjs';
import { excerpts } from './excerpts.mjs';
import { firstLoad } from './first-load.mjs';
import { engineByName } from './front-doors.mjs';
import { inlineScripts } from './inline-script.mjs';
import { joinReactWritesPlugin } from './join-react-writes.mjs';
import { nodeHttp } from './node-http.mjs';
import { reactRouter, routerContexts } from './react-router.mjs';
import { assetLoaders } from './styles.mjs';

/** Browsers of the last years: what they know is not rewritten into something longer. */
export const browserTarget = 'es2022';
export const serverTarget = 'node24';

/**
 * The first two start worker threads from files of their own, which a bundle does not have: they are
 * loaded from `node_modules`. `pg` asks for its native half where somebody installed it, and does without.
 */
const serverExternals = ['pino', 'pino-pretty', 'pg-native'];

/**
 * Bundles beside the server's own. What only some need (the SDK, without which most run) costs a start
 * nothing: `import()` of its file loads its bundle. A thread starts from a file of its own, and so does
 * what asks a container how it is.
 */
export const serverParts = {
  sentry: 'src/server/sentry/sentry.ts',
  'desk-worker': 'src/server/desk/worker/main.ts',
  mail: 'src/server/desk/notifications/send-mail.ts',
  'health-check': 'src/server/boot/health-check.ts',
};

/** Constants that Sentry's SDK leaves open: without tracing, its own wrappers and debug lines half of it is gone. */
const sentryFlags = {
  __SENTRY_TRACING__: 'false',
  __SENTRY_CHANNEL_INJECTION__: 'false',
  __SENTRY_DEBUG__: 'false',
};

/** Bundled CommonJS calls `require` for Node's modules. The alias keeps clear of names that the bundle declares. */
export const requireBanner = `import { createRequire as __cr } from 'node:module';\nconst require = __cr(import.meta.url);`;

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
    alias: { ...owner.alias, ...routerContexts(root, { dev }) },
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

export function clientOptions({ root, name = 'main', entry, outdir, dev, owner, styles }) {
  return {
    ...commonOptions({ root, dev, owner }),
    entryPoints: { [name]: entry },
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
    plugins: [
      styles.plugin,
      excerpts(root),
      ...owner.plugins,
      ...(dev ? [] : [engineByName(root)]),
      reactRouter(root, { dev }),
      nodeModulesInClient,
    ],
  };
}

/** @returns {Promise<esbuild.BuildResult<{ write: false, metafile: true }>>} */
export function bundleServer(options) {
  return esbuild.build(serverOptions(options));
}

/** Of the server, or of the parts beside it. */
export function serverOptions({ root, entryPoints, outdir, dev, owner, styles, warn }) {
  const joins = !dev && process.env.SPILLWAY_JOIN !== '0';
  return {
    ...commonOptions({ root, dev, owner }),
    entryPoints,
    outdir,
    platform: 'node',
    target: serverTarget,
    external: serverExternals,
    banner: { js: requireBanner },
    sourcemap: 'external',
    define: {
      'process.env.NODE_ENV': JSON.stringify(dev ? 'development' : 'production'),
      'process.env.SPILLWAY_DEV': JSON.stringify(dev ? '1' : ''),
      ...sentryFlags,
    },
    plugins: [
      apart(root, serverParts),
      nodeHttp(root),
      styles.plugin,
      excerpts(root),
      inlineScripts(root, browserTarget),
      engineByName(root),
      ...owner.plugins,
      ...(joins ? [joinReactWritesPlugin({ warn })] : []),
    ],
  };
}

/** Leaves `import()` of a part as it is, with the name of the part's bundle. */
function apart(root, parts) {
  return {
    name: 'apart',
    setup({ onResolve }) {
      const files = Object.values(parts).map((file) => RegExp.escape(basename(file)));
      onResolve({ filter: new RegExp(`/(?:${files.join('|')})$`) }, ({ kind, path, resolveDir }) => {
        if (kind !== 'dynamic-import') return undefined;
        const name = Object.keys(parts).find((part) => join(root, parts[part]) === join(resolveDir, path));
        return name && { path: `./${name}.js`, external: true };
      });
    },
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
