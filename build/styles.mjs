import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import * as esbuild from 'esbuild';
import { toRelative } from './files.mjs';
import { toLazyFile } from './first-load.mjs';

const assets = '.avif .gif .jpeg .jpg .png .svg .webp .eot .otf .ttf .woff .woff2';

/** Images and fonts that sources can refer to. Each becomes an asset with a hashed name. */
export const assetLoaders = Object.fromEntries(assets.split(' ').map((ending) => [ending, 'file']));

/** Style sheets. The product's plugins compile the other languages to CSS. */
export const sheetFile = /\.(?:css|less|sass|scss)$/;
/** Imports of sheets of other sites, as esbuild writes them. Browsers ignore them after a rule. */
const otherSites = /@import ?"[^"]*"[^;{}]*;\s*/g;
const moduleEnd = /\.module\.(?:css|less|sass|scss)$/;

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
  /** @type {Map<string, Promise<{ css: string, names: string, warnings: esbuild.Message[], assets: esbuild.OutputFile[] }>>} */
  const compiled = new Map();
  /** The files of each compiled sheet: its own, and everything that it imports. */
  const parts = new Map();
  /** Files of CSS modules by what esbuild calls them. */
  const modules = new Map();

  function compile(file) {
    if (!compiled.has(file)) compiled.set(file, compileSheet(file));
    return compiled.get(file);
  }

  async function compileSheet(file) {
    const isModule = moduleEnd.test(file);
    const { outputFiles, warnings, metafile } = await esbuild.build({
      stdin: {
        contents: `${isModule ? 'export { default } from' : 'import'} ${JSON.stringify(file)}`,
        resolveDir: root,
      },
      absWorkingDir: root,
      bundle: true,
      write: false,
      metafile: true,
      outdir,
      format: 'esm',
      conditions: ['style'], // the sheet of a package, not its script
      target,
      minifySyntax: minify,
      minifyWhitespace: minify,
      legalComments: 'none',
      logLevel: 'silent',
      assetNames: 'assets/[name]-[hash]',
      publicPath: '/',
      loader: assetLoaders,
      plugins: [namesFromPath(root, readModule, modules), ...plugins],
    });
    const toFile = (input) => modules.get(input) ?? join(root, input);
    parts.set(file, Object.keys(metafile.inputs).map(toFile));
    const find = (name) => outputFiles.find(({ path }) => path.endsWith(name))?.text ?? '';
    return {
      css: find('stdin.css'),
      names: isModule ? find('stdin.js') : '',
      warnings,
      assets: outputFiles.filter(({ path }) => !/stdin\.(js|css)$/.test(path)),
    };
  }

  /** Returns the text of a CSS module as the product's plugins load it, and what esbuild says about it. */
  async function readModule(file) {
    if (plugins.length === 0 && file.endsWith('.css')) return { contents: await readFile(file, 'utf8') };
    const { outputFiles, warnings } = await esbuild.build({
      absWorkingDir: root,
      entryPoints: [file],
      write: false,
      outdir,
      logLevel: 'silent',
      loader: { '.module.css': 'css' },
      plugins,
    });
    return { contents: outputFiles[0].text, warnings };
  }

  /** Names the file of a CSS module in a message about it. */
  function withFile(message) {
    const { location } = message;
    const file = modules.get(location?.file);
    return file ? { ...message, location: { ...location, file: toRelative(root, file) } } : message;
  }

  /** Makes one file of the sheets of a group. @returns it, and what it refers to */
  async function bundleGroup(group) {
    const compiled = await Promise.all(group.map((sheet) => compile(join(root, sheet))));
    const css = compiled.map((sheet) => sheet.css).join('');
    const contents = Buffer.from((css.match(otherSites) ?? []).join('') + css.replaceAll(otherSites, ''));
    const name = basename(group.at(-1)).replace(/(?:\.module)?\.\w+$/, '');
    const url = `/assets/${name}-${hash('sha256', contents).slice(0, 8).toUpperCase()}.css`;
    return { url, path: join(outdir, url), contents, assets: compiled.flatMap((sheet) => sheet.assets) };
  }

  return {
    /**
     * Returns the style sheets of an app as outputs, and their URLs by module. A page does not list the sheets of the entry
     * again.
     *
     * @param {esbuild.Metafile} metafile
     * @param {string} entry a key of `metafile.inputs`, as are the pages
     * @param {string[]} pages
     */
    async bundle(metafile, entry, pages) {
      const lists = new Map([entry, ...pages].map((user) => [user, listSheets(metafile, user, new Set(pages))]));
      const fileOf = new Map();
      for (const group of groupSheets([...lists.values()])) {
        const file = await bundleGroup(group);
        for (const sheet of group) fileOf.set(sheet, file);
      }
      const toFiles = (sheets) =>
        [...new Set(sheets.map((sheet) => fileOf.get(sheet)))].filter(({ contents }) => contents.length > 0);
      const ofEntry = toFiles(lists.get(entry));
      const urlsByUser = new Map();
      for (const [user, sheets] of lists) {
        const own = toFiles(sheets).filter((file) => user === entry || !ofEntry.includes(file));
        urlsByUser.set(
          user,
          own.map(({ url }) => url),
        );
      }
      return { sheets: toFiles([...fileOf.keys()]).flatMap(({ assets, ...file }) => [file, ...assets]), urlsByUser };
    },
    /**
     * Makes the next build compile the sheets again that a changed file is part of. With plugins, that can be any sheet.
     * It is also any sheet that could not be compiled.
     */
    forget(file) {
      for (const sheet of compiled.keys()) {
        if (plugins.length === 0 && parts.get(sheet)?.includes(file) === false) continue;
        compiled.delete(sheet);
        parts.delete(sheet);
      }
    },
    /** Bundles import only the class names. The text of the sheets is collected by `bundle`. */
    plugin: {
      name: 'styles',
      setup(build) {
        build.onLoad({ filter: sheetFile }, async ({ path }) => {
          const { names, warnings, errors } = await orErrors(() => compile(path));
          return { contents: names, loader: 'js', warnings: warnings?.map(withFile), errors: errors?.map(withFile) };
        });
      },
    },
  };
}

/** `.card` in `pages/home/home.module.css` becomes `home_3k9fa_card`. The path makes it the same in every bundle. */
function namesFromPath(root, read, modules) {
  return {
    name: 'names-from-path',
    setup(build) {
      // A file of `src/client/public`.
      build.onResolve({ filter: /^\// }, ({ path, kind }) =>
        kind === 'url-token' ? { path, external: true } : undefined,
      );
      build.onResolve({ filter: moduleEnd }, ({ path: specifier, resolveDir }) => {
        const file = resolve(resolveDir, specifier);
        const key = hash('sha256', toRelative(root, file)).slice(0, 5);
        const path = `${basename(file).replace(moduleEnd, '')}-${key}.module.css`;
        modules.set(`css-module:${path}`, file);
        return { path, namespace: 'css-module', pluginData: file };
      });
      build.onLoad({ filter: /.*/, namespace: 'css-module' }, ({ pluginData: file }) =>
        orErrors(async () => ({ ...(await read(file)), loader: 'local-css', resolveDir: dirname(file) })),
      );
    },
  };
}

/** Passes on the errors of a build within a build, with their locations. */
async function orErrors(load) {
  try {
    return await load();
  } catch (error) {
    return { errors: error.errors ?? [{ text: error.message }] };
  }
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
function listSheets(metafile, entry, pages) {
  const seen = new Set();
  const sheets = [];
  visit(entry);
  return sheets;

  function visit(path) {
    const input = metafile.inputs[path];
    if (!input || seen.has(path)) return;
    seen.add(path);
    for (const { path: imported, kind, external } of input.imports) {
      if (!external && !(kind === 'dynamic-import' && pages.has(toLazyFile(imported)))) visit(imported);
    }
    if (sheetFile.test(path)) sheets.push(path);
  }
}

/**
 * Groups sheets like chunks: sheets that the same modules use become one file, so that no rule is loaded twice. A rule
 * that is loaded again would win over the rules that override it. Only sheets that are neighbours in every list are
 * joined, so that each module gets its sheets in its own order.
 *
 * @param {string[][]} lists ordered sheets of each module that the browser loads
 * @returns {Set<string[]>} the groups
 */
function groupSheets(lists) {
  const groupOf = new Map();
  for (const list of lists) {
    for (const [index, sheet] of list.entries()) {
      if (groupOf.has(sheet)) continue;
      const before = list[index - 1];
      const areNeighbours = (other) => {
        const place = other.indexOf(sheet);
        return place < 0 ? !other.includes(before) : place > 0 && other[place - 1] === before;
      };
      const group = lists.every(areNeighbours) ? groupOf.get(before) : [];
      group.push(sheet);
      groupOf.set(sheet, group);
    }
  }
  return new Set(groupOf.values());
}
