import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const namespace = 'react-by-name';

/**
 * Gives React's CommonJS modules real exports. Otherwise esbuild reads each of them through a getter, also `jsx` for each
 * element: a tenth of the CPU time of a page.
 *
 * @type {import('esbuild').Plugin}
 */
export const reactByName = {
  name: namespace,
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^react(?:\/jsx-runtime)?$/ }, ({ path, kind, namespace: from, resolveDir }) => {
      if (kind !== 'import-statement' || from === namespace) return undefined;
      return { path, namespace, pluginData: resolveDir };
    });
    onLoad({ filter: /.*/, namespace }, ({ path, pluginData: resolveDir }) => ({
      contents: [
        `const all = require('${path}');`,
        'export default all;',
        ...Object.keys(require(path)).map((name) => `export const ${name} = all.${name};`),
      ].join('\n'),
      resolveDir,
    }));
  },
};
