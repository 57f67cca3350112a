import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/** The public indexes, by their names in `imports` in package.json. */
const indexes = { '#engine': 'src/shared/index.ts', '#engine/server': 'src/server/index.ts' };

/**
 * Replaces `#engine`, for each importing module, with a module that exports only the imported names, each from its
 * defining file. esbuild puts a module into the chunk of everything that can reach it, used or not. Without this plugin,
 * everything that one page uses of an index would be in the first load of every page.
 *
 * @param {string} root
 * @returns {import('esbuild').Plugin}
 */
export function engineByName(root) {
  return {
    name: 'engine-by-name',
    setup(build) {
      for (const [index, file] of Object.entries(indexes)) {
        const path = join(root, file);
        openFrontDoors(build, {
          name: index,
          folder: dirname(path),
          readExports: async () => listReExports(await readFile(path, 'utf8')),
        });
      }
    },
  };
}

/**
 * @param {import('esbuild').PluginBuild} build
 * @param {{
 *   name: string,
 *   folder: string,
 *   readExports: () => Promise<Map<string, { local: string, file: string }>>,
 *   isOurs?: (importer: string) => boolean,
 * }} door the imported name, the folder of its index, and the index's exports
 */
export function openFrontDoors(build, { name: door, folder, readExports, isOurs = () => true }) {
  const namespace = `names of ${door}`;
  let exports;
  build.onStart(() => {
    exports = undefined;
  });
  build.onResolve({ filter: new RegExp(`^${RegExp.escape(door)}$`) }, async ({ importer, kind }) => {
    if (kind !== 'import-statement' || !isOurs(importer)) return;
    const names = listImportedNames(await readFile(importer, 'utf8'), door);
    exports ??= readExports();
    const known = await exports;
    if (!names?.length || !names.every((name) => known.has(name))) return;
    const contents = names.map((name) => {
      const { local, file } = known.get(name);
      return `export { ${local} as ${name} } from "${file}";`;
    });
    // One module per importer. A shared one would become a separate chunk.
    const path = relative(build.initialOptions.absWorkingDir ?? '', importer).replaceAll('\\', '/');
    return { path, namespace, sideEffects: false, pluginData: contents.join('\n') };
  });
  build.onLoad({ filter: /.*/, namespace }, ({ pluginData }) => ({
    contents: pluginData,
    loader: 'js',
    resolveDir: folder,
  }));
}

/** @returns {Map<string, { local: string, file: string }>} the values that an index exports, by exported name */
function listReExports(index) {
  const exports = new Map();
  for (const [, clause, file] of index.matchAll(/^export \{([^}]*)\} from '(\.[^']+)';$/gm)) {
    for (const { name, local, isType } of listNames(clause)) if (!isType) exports.set(local, { local: name, file });
  }
  return exports;
}

/** @returns {string[] | undefined} the values that a module imports by name; undefined if it imports in another way */
export function listImportedNames(source, from) {
  const names = new Set();
  const statement = new RegExp(
    `^\\s*(?:import|export)\\s+(type\\s)?([^;'"]*?)\\s*from\\s*['"]${RegExp.escape(from)}['"]`,
    'gm',
  );
  for (const [, type, clause] of source.matchAll(statement)) {
    if (type) continue;
    const list = /^\{([^}]*)\}$/.exec(clause)?.[1];
    if (list === undefined) return undefined;
    for (const { name, isType } of listNames(list)) if (!isType) names.add(name);
  }
  return [...names].sort();
}

/** Parses the names between the braces of an import or export: `a, b as c, type D`. */
export function listNames(list) {
  const items = list.split(',').map((item) => item.trim());
  return items.filter(Boolean).map((item) => {
    const [, type, name, local] = /^(type\s+)?(\S+)(?:\s+as\s+(\S+))?$/.exec(item) ?? ['', '', item, ''];
    return { name, local: local || name, isType: Boolean(type) };
  });
}
