import { explainReactError } from '../../../shared/rendering/react-errors.ts';
import type { IncidentData } from '../../shared/page-data.ts';
import type { PlaceShape, ReleaseShape } from '../../shared/shapes.ts';
import { findLine } from '../store/ingest/batch.ts';
import type { Incident, IncidentRelease, StoredFailure } from '../store/records.ts';
import { presentPlace } from './present-incident-row.ts';
import { presentStatus } from './present-status.ts';
import { presentTitle } from './present-title.ts';

type Head = Pick<
  IncidentData,
  | 'digest'
  | 'environment'
  | 'kind'
  | 'title'
  | 'message'
  | 'place'
  | 'status'
  | 'version'
  | 'counts'
  | 'visitors'
  | 'firstAt'
  | 'lastAt'
>;

/** @param full one of its occurrences, which has the line */
export function presentIncident(incident: Incident, full: StoredFailure | undefined): Head {
  const { digest, environment, kind, message, version, counts, visitors } = incident;
  return {
    digest,
    environment,
    kind,
    title: presentTitle(incident),
    // The title already explains it.
    message: explainReactError(message) === undefined ? message : '',
    place: { ...presentPlace(incident), ...toLine(incident, full) },
    status: presentStatus(incident),
    version: String(version),
    counts: { server: counts.server, browser: counts.browser },
    ...(visitors > 0 && { visitors }),
    firstAt: incident.firstAt,
    lastAt: incident.lastAt,
  };
}

/** Returns the line of the shown occurrence, because lines move from build to build. */
function toLine({ location }: Incident, full: StoredFailure | undefined): Pick<PlaceShape, 'line'> {
  const line = full && findLine(location, full);
  return line === undefined ? {} : { line };
}

export function presentRelease({ release, build, firstAt, lastAt, count, regressedAt }: IncidentRelease): ReleaseShape {
  return { release, build, firstAt, lastAt, count, isRegression: regressedAt !== undefined };
}
