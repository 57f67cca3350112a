import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import * as esbuild from 'esbuild';
import { isProductCode } from '../src/shared/whose-code.mjs';
import { findDesk } from './apps.mjs';
import { clientInputs } from './client-inputs.mjs';
import { excerpts } from './excerpts.mjs';
import { findFolderInWorkspace } from './files.mjs';
import { firstLoad } from './first-load.mjs';
import { engineByName } from './import-by-name.mjs';
import { inlineScripts } from './inline-script.mjs';
import { joinReactWritesPlugin } from './join-react-writes.mjs';
import { listPackageFolders } from './linked-packages.mjs';
import { findOwner, nativePackages } from './packages.mjs';
import { quickStart } from './quick-start.mjs';
import { reactRouter, routerContexts } from './react-router.mjs';
import { unknownSuffixes } from './source-warnings.mjs';
import { assetLoaders } from './styles.mjs';

/** Recent browsers, so that the syntax they support is not compiled to longer code. */
export const browserTarget = 'es2022';
const serverTarget = 'node24';

/**
 * Loaded from `node_modules`. The first two start worker threads from their own files, which a bundle does not have
 * (Spillway's own log has no such thread, see quick-start.mjs).
 * `pg` uses its native module only if it is installed.
 */
const serverExternals = ['pino', 'pino-pretty', 'pg-native'];

/**
 * Separate server bundles. Optional parts, such as the SDK, do not slow down the start: `import()` of the file loads its
 * bundle. A worker thread and the health check of a container need their own files.
 */
export const listServerParts = (root) => ({
  sentry: 'src/server/reports/sentry/sentry.ts',
  mail: 'src/server/mail/send-mail.ts',
  'health-check': 'src/server/start/health-check.ts',
  stamp: join(import.meta.dirname, 'stamp.mjs'), // `npm start` compares it, and one file loads faster than eight
  ...findDesk(root).parts,
});

/** Build flags of Sentry's SDK. Without tracing, wrappers and debug messages, the SDK is half the size. */
const sentryFlags = {
  __SENTRY_TRACING__: 'false',
  __SENTRY_CHANNEL_INJECTION__: 'false',
  __SENTRY_DEBUG__: 'false',
};

/** Bundled CommonJS calls `require` for Node's modules. The alias avoids conflicts with names in the bundle. */
const requireBanner = `import { createRequire as __cr } from 'node:module';\nconst require = __cr(import.meta.url);`;

/** Names that the sources test, in any code. */
export const toDefinitions = (dev) => ({
  'process.env.NODE_ENV': JSON.stringify(dev ? 'development' : 'production'),
  'process.env.SPILLWAY_DEV': JSON.stringify(dev ? '1' : ''),
});

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
    define: toDefinitions(dev),
    sourcemap: 'external',
    alias: { ...owner.alias, ...routerContexts(root, { dev }) },
    loader: assetLoaders,
    assetNames: 'assets/[name]-[hash]',
    publicPath: '/',
    // Source maps are one folder deeper than their files.
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
    plugins: [
      styles.plugin,
      excerpts(root),
      ...owner.plugins,
      unknownSuffixes,
      clientInputs(root),
      ...(dev ? [] : [engineByName(root)]),
      reactRouter(root, { dev }),
      zodWithoutEval,
    ],
  };
}

/** Zod otherwise tries `new Function()`, which the policy blocks and reports. */
const zodWithoutEval = {
  name: 'zod-without-eval',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/]core\.js$/ }, async ({ path }) => ({
      contents: `${await readFile(path, 'utf8')}\nglobalConfig.jitless = true;`,
    }));
  },
};

/** @returns {Promise<esbuild.BuildResult<{ write: false, metafile: true }>>} */
export function bundleServer(options) {
  return esbuild.build(serverOptions(options));
}

/** Options for the server or its separate parts. */
export function serverOptions({ root, entryPoints, outdir, dev, owner, styles, warn }) {
  return {
    ...commonOptions({ root, dev, owner }),
    entryPoints,
    outdir,
    platform: 'node',
    target: serverTarget,
    // Comments would be a quarter of what V8 reads and keeps, and twice that if one of them is not ASCII. Names stay.
    minifyWhitespace: !dev,
    lineLimit: 500, // Node prints the line of an uncaught error
    external: [...serverExternals, ...owner.external],
    banner: { js: requireBanner },
    define: {
      ...toDefinitions(dev),
      ...sentryFlags,
      'process.env.SPILLWAY_FOLDER': JSON.stringify(findFolderInWorkspace(root)),
      'process.env.SPILLWAY_PACKAGES': JSON.stringify(listPackageFolders(root).join()),
    },
    plugins: [
      apart(root, listServerParts(root)),
      nativePackages(root),
      quickStart(root),
      inlineScripts(root, browserTarget), // before styles: it also inlines style sheets
      styles.plugin,
      excerpts(root),
      engineByName(root),
      ...owner.plugins,
      unknownSuffixes,
      ...(dev ? [] : [reactByName]),
      ...(dev || process.env.SPILLWAY_JOIN === '0' ? [] : [joinReactWritesPlugin({ warn })]),
    ],
  };
}

/** Keeps `import()` of a part, with the name of its bundle. */
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

/**
 * Gives React's CommonJS modules real exports. Otherwise esbuild reads each of them through a getter, also `jsx` for each
 * element: a tenth of the CPU time of a page.
 *
 * @type {import('esbuild').Plugin}
 */
const reactByName = {
  name: 'react-by-name',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^react(?:\/jsx-runtime)?$/ }, ({ path, kind, namespace: from, resolveDir }) => {
      if (kind !== 'import-statement' || from === 'react-by-name') return undefined;
      return { path, namespace: 'react-by-name', pluginData: resolveDir };
    });
    onLoad({ filter: /.*/, namespace: 'react-by-name' }, ({ path, pluginData: resolveDir }) => ({
      contents: [
        `const all = require('${path}');`,
        'export default all;',
        ...Object.keys(createRequire(import.meta.url)(path)).map((name) => `export const ${name} = all.${name};`),
      ].join('\n'),
      resolveDir,
    }));
  },
};

/** Throws esbuild's errors formatted with their source lines. */
export async function throwReadable(error) {
  if (!Array.isArray(error.errors)) throw error;
  // An import that fails in the entry also fails in every dynamically imported module. Its message is enough.
  const own = error.errors.filter(({ location }) => !location?.file.startsWith('late:'));
  const errors = own.length > 0 ? own : error.errors;
  throw new Error(await formatErrors(errors), { cause: error });
}

/** @returns {Promise<string[]>} esbuild's warnings about the product, each once, although a file can be in several bundles */
export async function formatWarnings(warnings) {
  const own = warnings.filter(({ location }) => !location || isOwn(location.file));
  // Bundles differ in the plugins through which a warning passes.
  const plain = own.map(({ text, location, notes }) => ({
    ...{ text, location },
    notes: notes.filter((note) => !note.text.startsWith('The plugin "')),
  }));
  const messages = await esbuild.formatMessages(plain, { kind: 'warning', color: process.stderr.isTTY });
  return [...new Set(messages.map((message) => message.trim()))];
}

/** Modules of `firstLoad` have what esbuild warns of. */
const isOwn = (file) => !/^late:|\bnode_modules\//.test(file) && isProductCode(file);

/** @returns {Promise<string>} esbuild's errors with their source lines */
export async function formatErrors(errors) {
  const messages = await esbuild.formatMessages(errors.map(addAdvice), { kind: 'error', color: process.stderr.isTTY });
  return messages.join('').trim();
}

const PLACE =
  'Put a file that needs no hashed name in src/client/public, or add a plugin that loads it to src/server/product/build.mjs.';

/** Adds what to do about an error of esbuild, as a note. */
export function addAdvice(error) {
  const { text, notes = [] } = error;
  const [, missing] = /^Could not resolve "((?:@[\w.-]+\/)?\w[\w.-]*)/.exec(text) ?? [];
  const importer = findOwner(error.location?.file ?? '');
  const advice = importer
    ? `If ${importer} works without it, add '${importer}' to \`external\` in src/server/product/build.mjs.`
    : `If it is a package, install it: npm install --save-prod ${missing}`;
  const others = notes.filter((note) => !note.text.startsWith('You can mark the path'));
  if (missing) return { ...error, notes: [...others, { text: advice }] };
  return text.startsWith('No loader is configured') ? { ...error, notes: [...notes, { text: PLACE }] } : error;
}
