/** Releases from before tags were signed, by the commit that they are. */
export const unsignedReleases = {
  '0.1.0': 'fa719aa9253b8dd59632e538c61ffb3a947b5ebb',
  '0.2.0': 'cfedcbe2c834ac43adab6b7a8492f921186a1469',
};

/** @param {unknown} value */
export function isVersion(value) {
  return typeof value === 'string' && /^\d+\.\d+\.\d+$/.test(value);
}

/**
 * @param {string} a
 * @param {string} b
 * @returns {number} negative if `a` is older than `b`
 */
export function compareVersions(a, b) {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  const differing = left.findIndex((part, index) => part !== right[index]);
  return differing < 0 ? 0 : left[differing] - right[differing];
}

/**
 * Returns the sections of a changelog for the versions after `from`, up to `to`.
 *
 * @param {string} changelog
 * @param {string} from
 * @param {string} to
 * @param {{ unreleased: boolean }} options whether to include changes that have no version yet
 */
export function readChanges(changelog, from, to, { unreleased }) {
  return changelog
    .split(/^(?=## \[)/m)
    .filter((section) => {
      const heading = /^## \[(.+?)\]/.exec(section)?.[1];
      if (!isVersion(heading)) return unreleased && heading === 'Unreleased' && section.trim().includes('\n');
      return compareVersions(heading, from) > 0 && compareVersions(heading, to) <= 0;
    })
    .join('')
    .trim();
}
