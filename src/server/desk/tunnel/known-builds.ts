import { Minute } from '../../../shared/units.ts';
import type { KnownBuild } from './report-parts.ts';

/** A name that nobody knows is looked for anew after this long (ms): strangers make names up. */
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
 * Finds a build by its id, or by its release. It answers at once, with what it knew before: another
 * replica's build is found the next time.
 */
export function createKnownBuilds({ own, list, now = () => performance.now() }: KnownBuildsOptions) {
  let known = index([own]);
  let askedAt = Number.NEGATIVE_INFINITY;

  async function refresh(): Promise<void> {
    askedAt = now();
    try {
      const builds = await list();
      known = index([own, ...builds.map(({ id, release }) => ({ build: id, release }))]);
    } catch {
      // The store is away: what was known stays.
    }
  }
  void refresh();

  return function findBuild(named: string): KnownBuild | undefined {
    const found = known.get(named);
    if (!found && now() - askedAt >= REFRESH_INTERVAL) void refresh();
    return found;
  };
}

/** An id wins over a release of the same name, and the first of a release over the others. */
function index(builds: readonly KnownBuild[]): Map<string, KnownBuild> {
  const byName = new Map<string, KnownBuild>();
  for (const known of builds) if (!byName.has(known.release)) byName.set(known.release, known);
  for (const known of builds) byName.set(known.build, known);
  return byName;
}
