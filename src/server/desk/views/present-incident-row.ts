import type { IncidentRow, PlaceShape, SpanName } from '../../../shared/desk/shapes.ts';
import { Day, Hour } from '../../../shared/units.ts';
import type { ListedIncident } from '../store/incidents/list-incidents.ts';
import type { Incident } from '../store/records.ts';
import { presentStatus } from './present-status.ts';
import { presentTitle } from './present-title.ts';

export function presentIncidentRow(incident: ListedIncident, span: SpanName): IncidentRow {
  const { digest, environment, kind, counts, visitors, assignee, chart } = incident;
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
    ...(assignee !== undefined && { assignee }),
    chart: { start: bars.start, step: bars.step, counts: bars.counts },
  };
}

/** The longest title in a row (characters). */
const MAX_TITLE = 250;

export function presentPlace({
  site,
  locationLine,
  route,
}: Pick<Incident, 'site' | 'locationLine' | 'route'>): PlaceShape {
  return {
    ...(route !== undefined && { route }),
    ...(site && { file: site.path }),
    ...(locationLine !== undefined && { line: locationLine }),
    ...(site?.function && { function: site.function }),
  };
}
