import { compareVersions, isVersion } from './versions.mjs';

const dependencyMaps = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];
/** Fields that describe your app. */
const fieldsOfYours = ['name', 'version', 'description', 'private', 'license', 'author', 'repository', 'homepage'];

/**
 * Merges package.json by key. A version of a package that both sides changed becomes the higher one. A package that you
 * moved to another map, or removed, stays so.
 *
 * @param {string} base
 * @param {string} ours
 * @param {string} theirs
 * @returns {{ base: string, theirs: string, conflicts: string[] }} texts whose three-way merge with `ours` is the
 *   result. Without conflicts, `base` equals `ours`. With conflicts, git marks them.
 */
export function mergeManifest(base, ours, theirs) {
  const [before, mine, next] = [base, ours, theirs].map((text) => JSON.parse(text));
  for (const field of fieldsOfYours) if (!isSame(mine[field], before[field])) next[field] = mine[field];
  for (const map of dependencyMaps) followMoves(map, before, mine, next);
  const conflicts = [];
  const merged = toJson(mergeObjects(before, mine, next, conflicts), ours);
  if (conflicts.length === 0) return { base: ours, theirs: merged, conflicts: [] };
  const withBase = toJson(restore(mine, before, conflicts), ours);
  return { base: withBase, theirs: merged, conflicts: conflicts.map((path) => path.join('.')) };
}

/**
 * Merges package-lock.json by package. If both sides changed a package, the entry with the higher version is taken, so
 * npm has to check the result.
 *
 * @param {string} base
 * @param {string} ours
 * @param {string} theirs
 * @param {Record<string, unknown>} manifest the merged package.json
 */
export function mergeLock(base, ours, theirs, manifest) {
  const [before, mine, next] = [base, ours, theirs].map((text) => JSON.parse(text));
  const packages = {};
  const paths = new Set([...Object.keys(mine.packages), ...Object.keys(next.packages)]);
  paths.delete('');
  for (const path of [...paths].sort()) {
    const [from, left, right] = [before, mine, next].map((lock) => lock.packages[path]);
    const entry = isSame(left, from) ? right : isSame(right, from) ? left : toHigher(left, right);
    if (entry) packages[path] = entry;
  }
  const root = { ...next.packages[''] };
  for (const field of ['name', 'version', 'license', ...dependencyMaps, 'engines']) {
    if (manifest[field] === undefined) delete root[field];
    else root[field] = manifest[field];
  }
  const { name, version } = manifest;
  return toJson({ ...next, name, version, packages: { '': root, ...packages } }, ours);
}

function toHigher(left, right) {
  if (!left || !right) return left ?? right;
  const versions = [left.version, right.version];
  return versions.every(isVersion) && compareVersions(...versions) > 0 ? left : right;
}

/** If you moved a package from `map` to another one, moves it in `next` too. */
function followMoves(map, before, mine, next) {
  for (const [name, version] of Object.entries(next[map] ?? {})) {
    if (before[map]?.[name] === undefined || mine[map]?.[name] !== undefined) continue;
    const moved = dependencyMaps.find((other) => mine[other]?.[name] !== undefined);
    delete next[map][name];
    if (moved) {
      before[moved] = { ...before[moved], [name]: before[map][name] };
      next[moved] = { ...next[moved], [name]: version };
    }
  }
}

/** Merges by key, with the value of `next` where both sides changed it. Adds the paths of those to `conflicts`. */
function mergeObjects(before, mine, next, conflicts, path = []) {
  const merged = {};
  const isDependency = dependencyMaps.includes(path.at(-1));
  const keys = [...new Set([...Object.keys(mine), ...Object.keys(next)])];
  for (const key of isDependency ? keys.sort() : keys) {
    const [from, left, right] = [before[key], mine[key], next[key]];
    if (isSame(left, from) || isSame(left, right)) merged[key] = right;
    else if (isSame(right, from)) merged[key] = left;
    else if (isObject(left) && isObject(right)) {
      merged[key] = mergeObjects(isObject(from) ? from : {}, left, right, conflicts, [...path, key]);
    } else if (isDependency && (right === undefined || [left, right].every(isVersion))) {
      merged[key] = right === undefined || compareVersions(left, right) > 0 ? left : right;
    } else {
      conflicts.push([...path, key]);
      merged[key] = right;
    }
  }
  return merged;
}

/** Returns `mine` with the values of `before` at these paths. */
function restore(mine, before, paths) {
  const result = structuredClone(mine);
  for (const path of paths) {
    const holder = path.slice(0, -1).reduce((object, key) => object[key], result);
    holder[path.at(-1)] = path.reduce((object, key) => object?.[key], before);
  }
  return result;
}

function isSame(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Prints as `model` is printed. */
function toJson(value, model) {
  const indent = /^\{\r?\n([ \t]+)/.exec(model)?.[1] ?? '  ';
  return `${JSON.stringify(value, null, indent)}\n`;
}
