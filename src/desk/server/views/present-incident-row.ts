import { Day, Hour } from '../../../shared/units.ts';
import type { SpanName } from '../../shared/page-data.ts';
import type { IncidentRow, PlaceShape } from '../../shared/shapes.ts';
import type { ListedIncident } from '../store/list-incidents.ts';
import type { Incident } from '../store/records.ts';
import { presentStatus } from './present-status.ts';
import { presentTitle } from './present-title.ts';

export function presentIncidentRow(incident: ListedIncident, span: SpanName): IncidentRow {
  const { digest, environment, kind, counts, visitors, chart } = incident;
  const bars = span === '24h' ? { ...chart.hours, step: Hour } : { ...chart.days, step: Day };
  return {
    digest,
    environment,
    kind,
    title: presentTitle(incident).slice(0, MAX_TITLE),
    place: presentPlace(incident),
    status: presentStatus(incident),
    counts: { server: counts.server, browser: counts.browser },
    ...(visitors > 0 && { visitors }),
    firstAt: incident.firstAt,
    lastAt: incident.lastAt,
    firstRelease: incident.firstRelease,
    lastRelease: incident.lastRelease,
    chart: { start: bars.start, step: bars.step, counts: bars.counts },
  };
}

/** The longest title in a row (characters). */
const MAX_TITLE = 250;

export function presentPlace({
  location,
  locationLine,
  route,
}: Pick<Incident, 'location' | 'locationLine' | 'route'>): PlaceShape {
  return {
    ...(route !== undefined && { route }),
    ...(location && { file: location.path }),
    ...(locationLine !== undefined && { line: locationLine }),
    ...(location?.function && { function: location.function }),
  };
}
