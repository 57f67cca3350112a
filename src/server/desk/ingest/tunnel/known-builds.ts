import { Minute } from '../../../../shared/units.ts';
import type { KnownBuild } from './report-parts.ts';

/** The list is asked for anew after this long, where a name is not in it (ms): strangers make names up. */
const REFRESH_INTERVAL = 1 * Minute;

export interface KnownBuildsOptions {
  /** The build that runs. */
  readonly own: KnownBuild;
  /** The builds that were published to the store; the newest first where two have one release. */
  readonly list: () => Promise<readonly { readonly id: string; readonly release: string }[]>;
  /** Milliseconds, never going back. */
  readonly now?: () => number;
}

/**
 * Finds a build by its id, or by its release. A name that is not known waits for the list: tabs that were
 * open across a deploy report to a server that has just begun, and without its build an error of theirs
 * has no place in the source.
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
      // The store is away: what was known stays, and the next one asks again.
    }
    asking = undefined;
  }

  function refresh(): Promise<void> {
    asking ??= ask();
    return asking;
  }
  void refresh();

  return async function findBuild(named: string): Promise<KnownBuild | undefined> {
    if (!known.has(named) && (asking || now() - knownSince >= REFRESH_INTERVAL)) await refresh();
    return known.get(named);
  };
}

/**
 * An id wins over a release of the same name, and the first one over the others: what runs may have been
 * published under the name of an earlier release, in which browsers got the same.
 */
function index(builds: readonly KnownBuild[]): Map<string, KnownBuild> {
  const byName = new Map<string, KnownBuild>();
  const lastFirst = builds.toReversed();
  for (const known of lastFirst) byName.set(known.release, known);
  for (const known of lastFirst) byName.set(known.build, known);
  return byName;
}
