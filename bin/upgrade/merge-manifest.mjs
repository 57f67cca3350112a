const packageMaps = ['dependencies', 'devDependencies', 'optionalDependencies'];

/**
 * Merges package.json by key: makes the release's changes in yours. If both sides changed a key, your value stays, but of
 * two plain versions of a package, the higher one wins. A package that you removed, or moved to another map, stays so.
 *
 * @param {object} base of the release that you have
 * @param {object} own
 * @param {object} next of the new release
 * @returns {{ merged: object, conflicts: string[] }} a line for each key where your value stays
 */
export function mergeManifest(base, own, next) {
  const merged = structuredClone(own);
  const conflicts = [];
  const set = ({ section, key }, value) => {
    if (section !== '') merged[section] ??= {};
    const holder = section === '' ? merged : merged[section];
    holder[key] = value; // JSON leaves undefined out
    if (packageMaps.includes(section)) merged[section] = Object.fromEntries(Object.entries(holder).sort());
  };
  const [before, mine, after] = [base, own, next].map(flatten);
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [from, left, right] = [before.get(name), mine.get(name), after.get(name)];
    if (isSame(from, right) || isSame(left, right)) continue;
    if (isSame(left, from)) {
      if (left) set(left, undefined);
      if (right) set(right, right.value);
      continue;
    }
    const isPackage = packageMaps.includes((left ?? right)?.section);
    const [ownVersion, newVersion] = [left, right].map((entry) => isPackage && toVersion(entry?.value));
    if (ownVersion && newVersion) {
      if (newVersion.localeCompare(ownVersion, 'en', { numeric: true }) > 0) set(left, right.value);
    } else if (isPackage ? left && right : name !== 'version') {
      const [yours, theirs] = [left, right].map((entry) => JSON.stringify(entry?.value));
      conflicts.push(`${name}: you have ${yours}, the release has ${theirs}`);
    }
  }
  return { merged, conflicts };
}

/** @returns the numbers of `^4.1.0`; undefined for a pre-release, another range, or a path, which cannot be compared */
function toVersion(value) {
  return /^[\^~]?(\d+\.\d+\.\d+)$/.exec(value)?.[1];
}

/** Lists the keys of package.json and of the objects in it, by name. A package has the same name in each map. */
function flatten(manifest) {
  const entries = new Map();
  for (const [section, content] of Object.entries(manifest)) {
    const isObject = typeof content === 'object' && !Array.isArray(content);
    if (!isObject) entries.set(section, { section: '', key: section, value: content });
    for (const [key, value] of isObject ? Object.entries(content) : []) {
      entries.set(packageMaps.includes(section) ? `package ${key}` : `${section}.${key}`, { section, key, value });
    }
  }
  return entries;
}

function isSame(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}
