import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, dirname, relative, resolve } from 'node:path';
import * as esbuild from 'esbuild';
import { toLateFile } from './first-load.mjs';

const assets = '.avif .gif .jpeg .jpg .png .svg .webp .eot .otf .ttf .woff .woff2';

/** Images and fonts that sources can refer to. Each becomes an asset with a hashed name. */
export const assetLoaders = Object.fromEntries(assets.split(' ').map((ending) => [ending, 'file']));

/**
 * Compiles each style sheet once and separately, for both bundles. With esbuild's own handling, the server's and the
 * minified browser bundle would name the classes of a CSS module differently, two sheets of the same name would conflict,
 * and a sheet that several pages use would be copied into each page's.
 *
 * The product's plugins run here, so that a plugin that writes CSS, such as Tailwind's, works as in any esbuild build.
 *
 * @param {string} root
 * @param {{ minify: boolean, target: string, outdir: string, plugins?: esbuild.Plugin[] }} options
 */
export function createStyles(root, { minify, target, outdir, plugins = [] }) {
  /** @type {Map<string, Promise<{ css: string, names: string, assets: esbuild.OutputFile[] }>>} */
  const compiled = new Map();

  function compile(file) {
    let sheet = compiled.get(file);
    if (!sheet) {
      sheet = compileSheet(file);
      compiled.set(file, sheet);
    }
    return sheet;
  }

  async function compileSheet(file) {
    const isModule = file.endsWith('.module.css');
    const { outputFiles } = await esbuild.build({
      stdin: {
        contents: `${isModule ? 'export { default } from' : 'import'} ${JSON.stringify(file)}`,
        resolveDir: root,
      },
      absWorkingDir: root,
      bundle: true,
      write: false,
      outdir,
      format: 'esm',
      target,
      minifySyntax: minify,
      minifyWhitespace: minify,
      legalComments: 'none',
      logLevel: 'silent',
      assetNames: 'assets/[name]-[hash]',
      publicPath: '/',
      loader: assetLoaders,
      plugins: [...plugins, namesFromPath(root)],
    });
    const css = outputFiles.find(({ path }) => path.endsWith('stdin.css'))?.text ?? '';
    const names = outputFiles.find(({ path }) => path.endsWith('stdin.js'))?.text ?? '';
    return {
      css,
      names: isModule ? names : '',
      assets: outputFiles.filter(({ path }) => !/stdin\.(js|css)$/.test(path)),
    };
  }

  return {
    compile,
    /** Makes the next build compile a changed file again. With plugins, any file can be part of any sheet. */
    forget(file) {
      if (plugins.length > 0) compiled.clear();
      else compiled.delete(file);
    },
    /** Bundles import only the class names. The text of the sheets is collected by `bundleStyles`. */
    plugin: {
      name: 'styles',
      setup(build) {
        build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
          try {
            return { contents: (await compile(path)).names, loader: 'js' };
          } catch (error) {
            return { errors: error.errors ?? [{ text: error.message }] };
          }
        });
      },
    },
  };
}

/** `.card` in `pages/home/home.module.css` becomes `home_3k9fa_card`. The path makes it the same in every bundle. */
function namesFromPath(root) {
  return {
    name: 'names-from-path',
    setup(build) {
      build.onResolve({ filter: /\.module\.css$/ }, ({ path, resolveDir }) => {
        const file = resolve(resolveDir, path);
        const key = hash('sha256', relative(root, file).replaceAll('\\', '/')).slice(0, 5);
        return {
          path: `${basename(file, '.module.css')}-${key}.module.css`,
          namespace: 'css-module',
          pluginData: file,
        };
      });
      build.onLoad({ filter: /.*/, namespace: 'css-module' }, async ({ pluginData }) => ({
        contents: await readFile(pluginData, 'utf8'),
        loader: 'local-css',
        resolveDir: dirname(pluginData),
      }));
    },
  };
}

/**
 * Lists the style sheets of a module in the order of its imports, depth first. A sheet follows the sheets of modules that
 * are imported before it, so that it can override them. A dynamically imported part of a page has its sheets in the
 * page's list, because nothing else would load them.
 *
 * @param {esbuild.Metafile} metafile
 * @param {string} entry a key of `metafile.inputs`
 * @param {Set<string>} pages keys of `metafile.inputs` that have their own lists
 * @returns {string[]} keys of `metafile.inputs`
 */
export function listSheets(metafile, entry, pages) {
  const seen = new Set();
  const sheets = [];
  visit(entry);
  return sheets;

  function visit(path) {
    const input = metafile.inputs[path];
    if (!input || seen.has(path)) return;
    seen.add(path);
    for (const { path: imported, kind, external } of input.imports) {
      if (!external && !(kind === 'dynamic-import' && pages.has(toLateFile(imported)))) visit(imported);
    }
    if (path.endsWith('.css')) sheets.push(path);
  }
}

/**
 * Groups sheets like chunks: sheets that the same modules use become one file, so that no rule is loaded twice. A rule
 * that is loaded again would win over the rules that override it. Only sheets that are neighbours in every list are
 * joined, so that each module gets its sheets in its own order.
 *
 * @param {Map<string, string[]>} sheetsByUser ordered sheets by the module that the browser loads
 * @returns {{ groups: string[][], groupsByUser: Map<string, number[]> }}
 */
export function groupSheets(sheetsByUser) {
  const lists = [...sheetsByUser.values()];
  const groups = [];
  const groupOf = new Map();
  for (const list of lists) {
    for (const [index, sheet] of list.entries()) {
      if (groupOf.has(sheet)) continue;
      const before = list[index - 1];
      const areNeighbours = (other) => {
        const place = other.indexOf(sheet);
        return place < 0 ? !other.includes(before) : place > 0 && other[place - 1] === before;
      };
      groupOf.set(sheet, lists.every(areNeighbours) ? groupOf.get(before) : groups.push([]) - 1);
      groups[groupOf.get(sheet)].push(sheet);
    }
  }
  const toGroups = (sheets) => [...new Set(sheets.map((sheet) => groupOf.get(sheet)))];
  return { groups, groupsByUser: new Map([...sheetsByUser].map(([user, sheets]) => [user, toGroups(sheets)])) };
}
