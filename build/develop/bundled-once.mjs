import { readFile } from 'node:fs/promises';
import { build as bundle } from 'esbuild';
import { listImportedNames } from '../front-doors.mjs';

const SDK = '@sentry/react';
const namespace = 'bundled-once';

/**
 * Bundles the SDK's imported names once into a single module. The SDK has 200 modules that never change, and esbuild
 * would link all of them again on every edit, in 200 ms.
 *
 * @param {string} root @param {string} target @returns {import('esbuild').Plugin}
 */
export function bundledOnce(root, target) {
  const bundles = new Map();
  return {
    name: namespace,
    setup(build) {
      build.onResolve({ filter: new RegExp(`^${SDK}$`) }, ({ importer }) => ({
        path: SDK,
        namespace,
        pluginData: importer,
        sideEffects: false,
      }));
      build.onLoad({ filter: /.*/, namespace }, async ({ pluginData: importer }) => {
        const names = (listImportedNames(await readFile(importer, 'utf8'), SDK) ?? []).join(', ');
        if (!bundles.has(names)) bundles.set(names, bundleNames(root, target, names));
        return { contents: await bundles.get(names), loader: 'js', resolveDir: root };
      });
    },
  };
}

async function bundleNames(root, target, names) {
  const { outputFiles } = await bundle({
    stdin: { contents: `export { ${names} } from '${SDK}';`, resolveDir: root },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target,
    external: ['react'],
    conditions: ['development'],
    logLevel: 'silent',
    legalComments: 'none',
  });
  return outputFiles[0].text;
}
