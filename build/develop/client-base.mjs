import { join } from 'node:path';
import { createKeptContext } from './kept-context.mjs';

/**
 * Bundles what the product imports of engine and packages, once. The modules of the product find it in
 * `__spillwayBase`, by file.
 *
 * @param {string} root
 * @param {import('esbuild').BuildOptions} options the client's
 * @param {{ wiring: string, wiringUrl: string, owner: import('../owner.mjs').OwnersBuild }} parts `wiring` connects
 *   engine and product
 */
export function createClientBase(root, options, { wiring, wiringUrl, owner }) {
  let files = [];
  let context;
  let built;

  /** Replaces the wiring, so that the file's place decides how esbuild reads the names of CommonJS. */
  const plugin = {
    name: 'base',
    setup(build) {
      build.onResolve({ filter: /^\/_dev\// }, ({ path }) => ({ path, external: true }));
      build.onLoad({ filter: /[\\/]main\.tsx$/ }, ({ path }) => {
        if (path !== join(root, wiring)) return undefined;
        const imports = files.map((file, index) => `import * as m${index} from ${JSON.stringify(join(root, file))};`);
        // With the namespace as prototype, its names stay live.
        const entries = files.map((file, index) => `${JSON.stringify(file)}: Object.create(m${index}, isModule)`);
        const contents = `${imports.join('\n')}
const isModule = { __esModule: { value: true } };
globalThis.__spillwayBase = { ${entries.join(',\n')} };
await import(${JSON.stringify(wiringUrl)});`;
        return { contents, loader: 'js' };
      });
    },
  };

  return {
    dispose: () => context?.dispose(),

    /**
     * @param {string[]} wanted files that the product imports, relative to the root, sorted
     * @param {(metafile: import('esbuild').Metafile) => boolean} isChanged
     * @throws {import('esbuild').BuildFailure}
     */
    async build(wanted, isChanged) {
      if (built && wanted.join() === files.join() && !isChanged(built.metafile)) return built;
      built = undefined;
      files = wanted;
      context ??= createKeptContext(
        'client-base',
        {
          ...options,
          sourcemap: /** @type {const} */ ('linked'),
          sourceRoot: undefined,
          plugins: [plugin, ...(options.plugins ?? [])],
        },
        { root, owner, entries: wanted },
      );
      built = await context.rebuild();
      return built;
    },
  };
}
