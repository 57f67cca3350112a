import { Minute } from '../../../shared/units.ts';
import type { KnownBuild } from './report-parts.ts';

/** The shortest interval between two reads of the list for unknown names (ms), because strangers invent names. */
const REFRESH_INTERVAL = 1 * Minute;

interface KnownBuildsOptions {
  /** The running build. */
  readonly own: KnownBuild;
  /** Lists the builds in the store. Of two with the same release, the newer one comes first. */
  readonly list: () => Promise<readonly { readonly id: string; readonly release: string }[]>;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

/**
 * Finds a build by its id or release. An unknown name waits for the list, because tabs that were open across
 * a deployment report to a server that has just started. Without their build, errors cannot be mapped to the
 * source.
 */
export function createKnownBuilds({ own, list, now = () => performance.now() }: KnownBuildsOptions) {
  let known = index([own]);
  let knownSince = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    try {
      const builds = await list();
      known = index([own, ...builds.map(({ id, release }) => ({ build: id, release }))]);
      knownSince = now();
    } catch {
      // The store is unavailable. The known builds stay, and the next unknown name reads the list again.
    }
    asking = undefined;
  }

  function refresh(): Promise<void> {
    asking ??= ask();
    return asking;
  }
  return async function findBuild(named: string): Promise<KnownBuild | undefined> {
    if (!known.has(named) && (asking || now() - knownSince >= REFRESH_INTERVAL)) await refresh();
    return known.get(named);
  };
}

/**
 * Maps names to builds. An id wins over a release with the same name, and the first build of a release wins,
 * because the running build can have the release name of an earlier one.
 */
function index(builds: readonly KnownBuild[]): Map<string, KnownBuild> {
  const byName = new Map<string, KnownBuild>();
  const lastFirst = builds.toReversed();
  for (const known of lastFirst) byName.set(known.release, known);
  for (const known of lastFirst) byName.set(known.build, known);
  return byName;
}
