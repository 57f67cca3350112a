import type { Failure } from '../../../engine/errors/failure.ts';
import type { MakeReportDigest } from './report-parts.ts';

/** The same everywhere, so that its incident is one on all replicas and forever. */
const TITLE = 'More kinds of browser errors in an hour than may open an incident of their own';

/**
 * Makes, of a failure that may open no incident of its own, one of the incident that says so. What is
 * in it, the title apart, is left out: it would be a sample of whatever a stranger made up.
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
