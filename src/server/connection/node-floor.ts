/**
 * By major version, the first Node whose Brotli decoder does not write past its memory (CVE-2026-111497). Older major
 * versions that are not listed have reached their end of life and get no fix.
 */
const MENDED: Readonly<Record<number, readonly [minor: number, patch: number]>> = {
  24: [22, 1],
  26: [12, 1],
};
const NEWEST_LISTED = 26;

/**
 * Returns a warning about this version of Node for its operator; undefined if there is none.
 *
 * @param version such as `26.10.0`
 */
export function describeNodeFloor(version: string): string | undefined {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  const mended = MENDED[major];
  if (major > NEWEST_LISTED || (mended && (minor > mended[0] || (minor === mended[0] && patch >= mended[1])))) {
    return undefined;
  }
  const newer = mended ? `${major}.${mended.join('.')}` : '26.12.1';
  return `Node ${version} has a known vulnerability (CVE-2026-111497). Visitors cannot exploit it. Update to ${newer} if your code fetches from servers that you do not trust.`;
}
