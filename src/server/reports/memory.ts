import { Hour, Minute } from '../../shared/units.ts';
import type { Failure } from '../errors/failure.ts';
import { ECHO_AGE } from '../limits.ts';
import { BoundedMap } from '../request/bounded-map.ts';
import type { Count } from '../request/counters.ts';
import type { MakeReportDigest, PublishedBuild } from './report-parts.ts';

/** The most new incidents per hour from browser reports. */
const MAX_AN_HOUR = 50;

/** The number of admitted digests that are cached. */
const MAX_ADMITTED = 2000;

export type NewIncidents = ReturnType<typeof createNewIncidents>;

interface NewIncidentsOptions {
  /** Whether there is an incident or an alias with this digest. A rejection counts as no. */
  readonly isKnown: (digest: string) => Promise<boolean>;
  readonly makeDigest: MakeReportDigest;
  readonly count: Count;
}

/** Limits how many incidents forged errors can open. Each process counts separately. */
export function createNewIncidents({ isKnown, makeDigest, count }: NewIncidentsOptions) {
  const admitted = new BoundedMap<true>(MAX_ADMITTED);
  let openedAt: number[] = [];

  function open(digest: string): boolean {
    const now = performance.now();
    openedAt = openedAt.filter((at) => at > now - Hour);
    if (openedAt.length >= MAX_AN_HOUR) return false;
    openedAt.push(now);
    admitted.set(digest, true);
    return true;
  }

  return {
    /**
     * Resolves to the failure if its digest already has an incident, or the hourly limit is not reached. Past the limit, to
     * the failure that reports the limit. That has only the title of the first one, because strangers can forge the rest.
     */
    async admit(failure: Failure): Promise<Failure> {
      const { digest } = failure;
      if (admitted.has(digest)) return failure;
      if (await isKnown(digest).catch(() => false)) {
        admitted.set(digest, true);
        return failure;
      }
      // Another failure with this digest may have been admitted during the wait.
      if (admitted.has(digest) || open(digest)) return failure;
      count('spillway_reports_past_cap_total', {});
      return toOverflow(failure, makeDigest);
    },
  };
}

/** Never changes, so that all replicas and releases use the same incident. */
const TITLE = 'More kinds of browser errors in an hour than may open an incident of their own';

function toOverflow(
  { id, occurrence, at, build, release, route, title }: Failure,
  makeDigest: MakeReportDigest,
): Failure {
  const errors = [{ class: 'TooManyNewIncidents', message: TITLE, frames: [] }];
  const { digest } = makeDigest({ kind: 'exception', side: 'browser', errors });
  return {
    id,
    digest,
    occurrence,
    at,
    build,
    release,
    route,
    kind: 'exception',
    side: 'browser',
    origin: 'browser',
    errors,
    title: TITLE,
    extra: { title },
  };
}

/** The number of addresses that are remembered. */
const MAX_REMEMBERED_ADDRESSES = 10_000;

export type Echoes = ReturnType<typeof createEchoes>;

interface EchoesOptions {
  /** Resolves to true if the store has a recent server occurrence with this address and no echo of it yet. */
  readonly isAwaited: (address: string) => Promise<boolean>;
}

/**
 * Decides which echoes to keep. An echo is a browser's report that it saw a server's failure too. Strangers
 * can forge echoes, so an echo needs a stored failure, and each failure gets only one.
 */
export function createEchoes({ isAwaited }: EchoesOptions) {
  /** Admitted echoes. The store may not have them yet. */
  const admitted = new BoundedMap<number>(MAX_REMEMBERED_ADDRESSES);

  return {
    async admit(address: string): Promise<boolean> {
      const now = performance.now();
      const at = admitted.get(address);
      if (at !== undefined && now - at < ECHO_AGE) return false;
      // Set before the question, so that only one of several simultaneous echoes is admitted.
      admitted.set(address, now);
      const isAdmitted = await isAwaited(address).catch(() => false);
      if (!isAdmitted) admitted.delete(address);
      return isAdmitted;
    },
    /** For an echo that could not be stored, and can be sent again. */
    forget: (address: string) => void admitted.delete(address),
  };
}

/** The shortest interval between two reads of the list for unknown names (ms), because strangers invent names. */
const BUILDS_INTERVAL = 1 * Minute;

interface PublishedBuildsOptions {
  /** The running build. */
  readonly own: PublishedBuild;
  /** Lists the builds in the store. Of two with the same release, the newer one comes first. */
  readonly list: () => Promise<readonly { readonly id: string; readonly release: string }[]>;
}

/**
 * Finds a build by its id or release. An unknown name waits for the list, because tabs that were open across
 * a deployment report to a server that has just started. Without their build, errors cannot be mapped to the
 * source.
 */
export function createPublishedBuilds({ own, list }: PublishedBuildsOptions) {
  let known = index([own]);
  let knownSince = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    try {
      const builds = await list();
      known = index([own, ...builds.map(({ id, release }) => ({ build: id, release }))]);
      knownSince = performance.now();
    } catch {
      // The store is unavailable. The known builds stay, and the next unknown name reads the list again.
    }
    asking = undefined;
  }

  function refresh(): Promise<void> {
    asking ??= ask();
    return asking;
  }
  return async function findBuild(named: string): Promise<PublishedBuild | undefined> {
    if (!known.has(named) && (asking || performance.now() - knownSince >= BUILDS_INTERVAL)) await refresh();
    return known.get(named);
  };
}

/**
 * Maps names to builds. An id wins over a release with the same name, and the first build of a release wins,
 * because the running build can have the release name of an earlier one.
 */
function index(builds: readonly PublishedBuild[]): Map<string, PublishedBuild> {
  const byName = new Map<string, PublishedBuild>();
  const lastFirst = builds.toReversed();
  for (const known of lastFirst) byName.set(known.release, known);
  for (const known of lastFirst) byName.set(known.build, known);
  return byName;
}
