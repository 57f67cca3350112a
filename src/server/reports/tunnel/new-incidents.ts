import { Hour } from '../../../shared/units.ts';
import type { Failure } from '../../engine/errors/failure.ts';
import type { MakeReportDigest } from './report-parts.ts';

/** The most new incidents per hour from browser reports (SPEC section 6). */
const MAX_AN_HOUR = 50;

/** The number of admitted digests that are cached. */
const MAX_ADMITTED = 2000;

export interface NewIncidents {
  /** Resolves to true if the digest already has an incident, or the hourly limit is not reached. */
  admit(digest: string): Promise<boolean>;
}

interface NewIncidentsOptions {
  /** Whether there is an incident or an alias with this digest. A rejection counts as no. */
  readonly isKnown: (digest: string) => boolean | Promise<boolean>;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

/** Limits how many incidents forged errors can open. Each process counts separately. */
export function createNewIncidents({ isKnown, now = () => performance.now() }: NewIncidentsOptions): NewIncidents {
  const admitted = new Set<string>();
  let openedAt: number[] = [];

  function remember(digest: string): void {
    admitted.add(digest);
    if (admitted.size > MAX_ADMITTED) admitted.delete(admitted.values().next().value ?? digest);
  }

  function open(digest: string): boolean {
    const start = now() - Hour;
    openedAt = openedAt.filter((at) => at > start);
    if (openedAt.length >= MAX_AN_HOUR) return false;
    openedAt.push(now());
    remember(digest);
    return true;
  }

  async function ask(digest: string): Promise<boolean> {
    try {
      return await isKnown(digest);
    } catch {
      return false;
    }
  }

  return {
    async admit(digest) {
      if (admitted.has(digest)) return true;
      if (await ask(digest)) {
        remember(digest);
        return true;
      }
      // Another failure with this digest may have been admitted during the wait.
      return admitted.has(digest) || open(digest);
    },
  };
}

/** Never changes, so that all replicas and releases use the same incident. */
const TITLE = 'More kinds of browser errors in an hour than may open an incident of their own';

/**
 * Returns a function that moves a failure past the limit to the incident that reports the limit. Only the
 * failure's title is kept, because strangers can forge the rest.
 */
export function createOverflow(makeDigest: MakeReportDigest): (failure: Failure) => Failure {
  return (failure) => {
    const errors = [{ class: 'TooManyNewIncidents', message: TITLE, frames: [] }];
    const made = makeDigest({ kind: 'exception', side: 'browser', errors });
    const { id, occurrence, at, build, release, route, visitor, title } = failure;
    return {
      ...{ id, occurrence, at, build, release, route, visitor },
      digest: made.digest,
      rule: made.rule,
      weak: true,
      kind: 'exception',
      side: 'browser',
      origin: 'browser',
      errors,
      title: TITLE,
      extra: { title },
    };
  };
}
