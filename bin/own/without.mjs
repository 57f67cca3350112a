import { posix } from 'node:path';

/** Parts of Spillway that an app can do without. */
export const OPTIONAL_PARTS = ['desk'];

/**
 * @typedef {object} Sources files of a release or an app, on disk or in git
 * @property {string[]} paths
 * @property {(path: string) => string} read
 *
 * @typedef {object} Removal what `bin/own/without-<part>/removal.json` says
 * @property {string} room the name of the part's folders in `src` and `tests`
 * @property {string[]} paths other files, and folders that end with a slash
 * @property {string[]} regions files with lines between `#region <part>` and `#endregion <part>`
 * @property {Record<string, string | null>} scripts of package.json that are changed, or removed
 * @property {string[]} packages that nothing else needs
 * @property {string[]} developing packages that only tests and benchmarks still need
 * @property {string} settings the table of the part's settings
 */

/**
 * Lists what an app without a part does not have. It only reads, so it works for each release in git too.
 *
 * @param {string} part
 * @param {Sources} sources
 * @returns {{ removal: Removal, removed: Set<string>, written: Map<string, string> } | undefined} undefined if the
 *   release does not know how
 */
export function planWithout(part, { paths, read }) {
  const folder = `bin/own/without-${part}`;
  if (!paths.includes(`${folder}/removal.json`)) return undefined;
  /** @type {Removal} */
  const removal = JSON.parse(read(`${folder}/removal.json`));
  const replaced = new Map(
    paths
      .filter((path) => path.startsWith(`${folder}/files/`))
      .map((path) => [path.slice(`${folder}/files/`.length), read(path)]),
  );
  const removed = withImporters(
    paths.filter((path) => isListed(path, removal)),
    { paths: paths.filter((path) => !replaced.has(path)), read, removal },
  );
  const written = new Map(replaced);
  for (const path of paths) {
    const isEdited = removal.regions.includes(path) || path.endsWith('.md');
    if (!isEdited || removed.has(path) || replaced.has(path)) continue;
    const text = read(path);
    const changed = withoutRegions(text, part);
    if (changed !== text) written.set(path, changed);
  }
  return { removal, removed, written };
}

/** Removes the lines between the markers, in code and in Markdown, with the empty line after it. */
export function withoutRegions(text, part) {
  const lines = new RegExp(
    `^[ \\t]*(?://|#) #region ${part}\\n[\\s\\S]*?^[ \\t]*(?://|#) #endregion ${part}\\n\\n?`,
    'gm',
  );
  const blocks = new RegExp(`^<!-- ${part} -->\\n[\\s\\S]*?^<!-- /${part} -->\\n\\n?`, 'gm');
  return text.replace(lines, '').replace(blocks, '');
}

function isListed(path, { room, paths }) {
  const isCode = /^(?:src|tests)\//.test(path);
  return (
    (isCode && path.split('/').slice(0, -1).includes(room)) ||
    paths.some((listed) => path === listed || (listed.endsWith('/') && path.startsWith(listed)))
  );
}

/** Adds the tests and benchmarks that import removed files. */
function withImporters(listed, { paths, read, removal }) {
  const removed = new Set(listed);
  const importers = paths.filter((path) => /^(?:tests|bench)\/.*\.(?:tsx?|mjs)$/.test(path) && !removed.has(path));
  const imports = new Map(
    importers.map((path) => {
      const text = removal.regions.includes(path) ? withoutRegions(read(path), removal.room) : read(path);
      return [path, listImports(path, text)];
    }),
  );
  for (let size = 0; size !== removed.size; ) {
    size = removed.size;
    for (const [path, targets] of imports) if (targets.some((target) => removed.has(target))) removed.add(path);
  }
  return removed;
}

function listImports(path, text) {
  return [...text.matchAll(/(?:\bfrom|\bimport\(?)\s*['"](\.[^'"]+)['"]/g)].map(([, target]) =>
    posix.join(posix.dirname(path), target),
  );
}

/**
 * Removes scripts and packages from package.json.
 *
 * @param {Record<string, any>} manifest
 * @param {Removal} removal
 */
export function withoutPackages(manifest, { scripts, packages, developing }) {
  for (const [name, script] of Object.entries(manifest.scripts ? scripts : {})) {
    if (script === null) delete manifest.scripts[name];
    else manifest.scripts[name] = script;
  }
  for (const name of packages) delete manifest.dependencies[name];
  for (const name of developing) {
    const { [name]: version, ...others } = manifest.dependencies;
    if (version === undefined) continue;
    manifest.dependencies = others;
    manifest.devDependencies = toSorted({ ...manifest.devDependencies, [name]: version });
  }
}

/**
 * Removes packages from a lockfile that nothing in it needs, and marks those that only development needs.
 *
 * @param {{ packages: Record<string, any> }} lock
 */
export function pruneLock({ packages }) {
  const { devDependencies, ...root } = packages[''];
  const needed = listNeeded(packages, root);
  const all = listNeeded(packages, { ...root, devDependencies });
  for (const path of Object.keys(packages)) {
    if (path === '') continue;
    if (!all.has(path)) delete packages[path];
    else if (needed.has(path)) delete packages[path].dev;
    else if (!packages[path].devOptional) packages[path] = toDevelopment(packages[path]);
  }
}

/** In npm's order. */
function toDevelopment({ version, resolved, integrity, dev: _dev, ...rest }) {
  return { version, resolved, integrity, dev: true, ...rest };
}

function listNeeded(packages, root) {
  const found = new Set();
  const follow = (path, { dependencies, devDependencies, optionalDependencies, peerDependencies }) => {
    const names = Object.keys({ ...peerDependencies, ...dependencies, ...devDependencies, ...optionalDependencies });
    for (const name of names) {
      const target = findPackage(packages, path, name);
      if (target === undefined || found.has(target)) continue;
      found.add(target);
      const { devDependencies: _own, ...entry } = packages[target];
      follow(target, entry);
    }
  };
  follow('', root);
  return found;
}

/** Looks in `node_modules` of the package, then of those around it, as Node does. */
function findPackage(packages, path, name) {
  const target = `${path === '' ? '' : `${path}/`}node_modules/${name}`;
  if (packages[target]) return target;
  if (path === '') return undefined;
  const end = path.lastIndexOf('node_modules/');
  return findPackage(packages, path.slice(0, Math.max(0, end - 1)), name);
}

export function toSorted(entries) {
  return Object.fromEntries(Object.entries(entries).sort(([one], [other]) => (one < other ? -1 : 1)));
}
