import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { reuse } from '../reuse.mjs';

const namespace = 'base';

/** Follows the path of each file of the base: esbuild would read `module.exports` of a `.mjs` file as a plain name. */
const suffix = '/from-base.js';

/** What modules of the product import instead of a file of the base. */
export const inBase = (file) => ({ path: `${file}${suffix}`, namespace });

/** The file of the base that an input of a metafile stands for. */
export const toBaseFile = (input) => input.replace(`${namespace}:`, '').replace(suffix, '');

/** Finds the value of a file of the base. @param {import('esbuild').PluginBuild} build */
export function loadFromBase(build) {
  build.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
    contents: `module.exports = globalThis.__spillwayBase[${JSON.stringify(toBaseFile(path))}];`,
  }));
}

/**
 * Loads packages of which one can need a browser. It then fails where a module of the product uses it, and not here, also
 * if a promise of it is rejected.
 */
const toLoad = (imports) => `
const put = (file, loading) => loading.then(
  (all) => { __spillwayBase[file] = Object.create(all, isModule); },
  (error) => Object.defineProperty(__spillwayBase, file, { get() { throw error; } }),
);
const ignore = () => {};
process.on('unhandledRejection', ignore);
await Promise.all([${imports.join(',\n')}]);
await new Promise(setImmediate);
process.off('unhandledRejection', ignore);`;

/**
 * Bundles engine and packages once for a side of `npm run dev`: everything that its product imports and is not the
 * product's. The product's modules find it in `__spillwayBase`, by file.
 *
 * @param {string} name
 * @param {string} root
 * @param {import('esbuild').BuildOptions} options
 * @param {{ owner: import('../owner.mjs').OwnersBuild, at: string, toSource: () => string | Promise<string>, mayFail?: boolean }} parts
 *   `at` is the module that sets the value, and then runs `toSource()` instead of its own code. With `mayFail`, packages
 *   can fail as they load
 */
export function createBase(name, root, options, { owner, at, toSource, mayFail = false }) {
  let files = [];
  let built;

  /** In place of a file of the project, because the file's place decides how esbuild reads the names of CommonJS. */
  const plugin = {
    name: 'base',
    setup(build) {
      build.onLoad({ filter: new RegExp(`^${RegExp.escape(join(root, at))}$`) }, async () => {
        const toPath = (file) => JSON.stringify(join(root, file));
        const isLate = (file) => mayFail && !file.startsWith('src/');
        const early = files.filter((file) => !isLate(file));
        const imports = early.map((file, index) => `import * as m${index} from ${toPath(file)};`);
        // With the namespace as prototype, its names stay live.
        const entries = early.map((file, index) => `${JSON.stringify(file)}: Object.create(m${index}, isModule)`);
        const late = files.filter(isLate).map((file) => `put(${JSON.stringify(file)}, import(${toPath(file)}))`);
        const contents = `${imports.join('\n')}
const isModule = { __esModule: { value: true } };
globalThis.__spillwayBase = { ${entries.join(',\n')} };
${late.length > 0 ? toLoad(late) : ''}
${await toSource()}`;
        return { contents, loader: 'ts' };
      });
    },
  };

  return {
    /**
     * @param {Iterable<string>} wanted files that the product imports, relative to the root
     * @param {(metafile: import('esbuild').Metafile) => boolean} isChanged
     * @throws {import('esbuild').BuildFailure}
     */
    async build(wanted, isChanged) {
      const sorted = [...wanted].sort();
      if (built && sorted.join() === files.join() && !isChanged(built.metafile)) return built;
      built = undefined;
      files = sorted;
      const plugins = [plugin, ...(options.plugins ?? [])];
      built = await reuse(name, { root, dev: true, owner, entries: files }, () =>
        esbuild.build({ ...options, plugins }),
      );
      return built;
    },
  };
}
