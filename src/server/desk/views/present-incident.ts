import type {
  FeedbackShape,
  IncidentData,
  PlaceShape,
  ReleaseShape,
  SimilarShape,
} from '../../../shared/desk/shapes.ts';
import { explainReactError } from '../../../shared/engine/rendering/react-errors.ts';
import type { Feedback } from '../../reports/feedback/feedback.ts';
import { findFrameLine } from '../store/ingest/frame-line.ts';
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
  | 'assignee'
  | 'merged'
  | 'counts'
  | 'visitors'
  | 'firstAt'
  | 'lastAt'
>;

/** @param whole one of its occurrences, which has the line */
export function presentIncident(incident: Incident, whole: StoredFailure | undefined): Head {
  const { digest, environment, kind, message, version, assignee, aliases, counts, visitors } = incident;
  return {
    digest,
    environment,
    kind,
    title: presentTitle(incident),
    // The title already explains it.
    message: explainReactError(message) === undefined ? message : '',
    place: { ...presentPlace(incident), ...toLine(incident, whole) },
    status: presentStatus(incident),
    version: String(version),
    ...(assignee !== undefined && { assignee }),
    merged: aliases,
    counts: { server: counts.server, browser: counts.browser },
    ...(visitors > 0 && { visitors }),
    firstAt: incident.firstAt,
    lastAt: incident.lastAt,
  };
}

/** Returns the line of the shown occurrence, because lines move from build to build. */
function toLine({ site }: Incident, whole: StoredFailure | undefined): Pick<PlaceShape, 'line'> {
  const line = whole && findFrameLine(site, whole);
  return line === undefined ? {} : { line };
}

export function presentRelease({ release, build, firstAt, lastAt, count, regressedAt }: IncidentRelease): ReleaseShape {
  return { release, build, firstAt, lastAt, count, isRegression: regressedAt !== undefined };
}

export function presentFeedback({ id, at, text, name, email, url }: Feedback): FeedbackShape {
  return {
    id,
    at,
    text,
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email }),
    ...(url !== undefined && { url }),
  };
}

/** @param to the incident that it is similar to */
export function presentSimilar(incident: Incident, to: Incident): SimilarShape {
  const { digest, kind, state, lastAt, counts, site } = incident;
  return {
    digest,
    kind,
    title: presentTitle(incident),
    state,
    lastAt,
    count: counts.server + counts.browser,
    because: site !== undefined && site.path === to.site?.path ? 'file' : 'message',
  };
}
