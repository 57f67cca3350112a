const packageMaps = ['dependencies', 'devDependencies', 'optionalDependencies'];

/**
 * Merges package.json by key. Your value wins if both sides changed it, except for a package, whose higher version wins.
 *
 * @param {object} base of the release that you have
 * @param {object} own
 * @param {object} next of the new release
 * @returns {{ merged: object, conflicts: string[] }} a line for each key where your value won
 */
export function mergeManifest(base, own, next) {
  const conflicts = [];
  const [before, mine, theirs] = [base, own, next].map(withoutPackages);
  if (own.version !== base.version) theirs.version = own.version; // the version of your app
  const merged = mergeKeys(before, mine, theirs, (path, left, right) => {
    conflicts.push(`${path}: you have ${JSON.stringify(left)}, the release has ${JSON.stringify(right)}`);
    return left;
  });
  const [from, left, right] = [base, own, next].map(listPackages);
  const versions = mergeKeys(from, left, right, (_name, left, right) => toHigher(left, right));
  for (const map of packageMaps) {
    // A package that you moved to another map stays there.
    const names = Object.keys(versions).filter((name) => (findMap(own, name) ?? findMap(next, name)) === map);
    if (names.length > 0) merged[map] = Object.fromEntries(names.sort().map((name) => [name, versions[name]]));
  }
  return { merged, conflicts };
}

function withoutPackages(manifest) {
  return Object.fromEntries(Object.entries(manifest).filter(([key]) => !packageMaps.includes(key)));
}

function listPackages(manifest) {
  return Object.assign({}, ...packageMaps.map((map) => manifest[map]));
}

function findMap(manifest, name) {
  return packageMaps.find((map) => manifest[map]?.[name] !== undefined);
}

function mergeKeys(base, own, next, resolve, parents = '') {
  const merged = {};
  for (const key of new Set([...Object.keys(own), ...Object.keys(next)])) {
    const [from, left, right] = [base[key], own[key], next[key]];
    const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);
    if (isSame(left, from) || isSame(left, right)) merged[key] = right;
    else if (isSame(right, from)) merged[key] = left;
    else if ([left, right].every((value) => typeof value === 'object' && !Array.isArray(value))) {
      merged[key] = mergeKeys(from ?? {}, left, right, resolve, `${parents}${key}.`);
    } else merged[key] = resolve(parents + key, left, right);
    if (merged[key] === undefined) delete merged[key];
  }
  return merged;
}

/** What you removed stays removed. */
function toHigher(own, next) {
  if (own === undefined || next === undefined) return own;
  return next.localeCompare(own, 'en', { numeric: true }) > 0 ? next : own;
}
