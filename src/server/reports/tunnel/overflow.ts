import type { Failure } from '../../engine/errors/failure.ts';
import type { MakeReportDigest } from './report-parts.ts';

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
