const packageMaps = ['dependencies', 'devDependencies', 'optionalDependencies'];
const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

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
  const [before, mine, after] = [base, own, next].map(flatten);
  const merged = new Map(mine);
  const conflicts = [];
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [from, left, right] = [before, mine, after].map((entries) => entries.get(name));
    if (isSame(from, right) || isSame(left, right)) continue;
    const isPackage = name.startsWith('package ');
    const [version, newVersion] = [left, right].map((entry) => isPackage && toVersion(entry?.value));
    if (isSame(left, from)) merged.set(name, right);
    else if (version && newVersion) {
      const isNewer = newVersion.localeCompare(version, 'en', { numeric: true }) > 0;
      if (isNewer) merged.set(name, { ...left, value: right.value });
    } else if (isPackage ? left && right : name !== 'version') {
      const [yours, theirs] = [left, right].map((entry) => JSON.stringify(entry?.value));
      conflicts.push(`${name}: you have ${yours}, the release has ${theirs}`);
    }
  }
  return { merged: toManifest(merged.values()), conflicts };
}

/** @returns the numbers of `^4.1.0`; undefined for a pre-release, another range, or a path, which cannot be compared */
function toVersion(value) {
  return /^[\^~]?(\d+\.\d+\.\d+)$/.exec(value)?.[1];
}

/** Lists the keys of package.json and of the objects in it, by name. A package has the same name in each map. */
function flatten(manifest) {
  const entries = Object.entries(manifest).flatMap(([section, content]) => {
    if (typeof content !== 'object' || Array.isArray(content)) return [[section, { key: section, value: content }]];
    const toName = (key) => (packageMaps.includes(section) ? `package ${key}` : `${section}.${key}`);
    return Object.entries(content).map(([key, value]) => [toName(key), { section, key, value }]);
  });
  return new Map(entries);
}

function toManifest(entries) {
  const manifest = {};
  for (const { section, key, value } of [...entries].filter(Boolean)) {
    if (section) manifest[section] = { ...manifest[section], [key]: value };
    else manifest[key] = value;
  }
  for (const map of packageMaps.filter((name) => manifest[name])) {
    manifest[map] = Object.fromEntries(Object.entries(manifest[map]).sort());
  }
  return manifest;
}
