import { explainReactError } from '#engine/tracker';
import { KIND_WORDS } from '../../shared/choices.ts';
import type { IncidentRow, LocationShape, StatusShape } from '../../shared/shapes.ts';
import { defined } from '../defined.ts';
import type { ListedIncident } from '../store/list-incidents.ts';
import type { Incident } from '../store/records.ts';

/** The longest title in a row (characters). */
const MAX_TITLE = 250;

export function presentIncidentRow(incident: ListedIncident): IncidentRow {
  const { charts, firstRelease, lastRelease } = incident;
  const facts = presentFacts(incident);
  return {
    ...facts,
    title: facts.title.slice(0, MAX_TITLE).toWellFormed(),
    firstRelease,
    lastRelease,
    chart: charts.fortnight,
  };
}

/** Presents the facts that a row and a page show. */
export function presentFacts(incident: Incident): Omit<IncidentRow, 'firstRelease' | 'lastRelease' | 'chart'> {
  const { digest, environment, kind, counts, visitors, firstAt, lastAt } = incident;
  return defined({
    digest,
    environment,
    kind,
    title: presentTitle(incident),
    place: presentLocation(incident),
    status: presentStatus(incident),
    counts,
    visitors: visitors || undefined,
    firstAt,
    lastAt,
  });
}

/**
 * Explains the numbered errors of React's production build. If nothing was thrown, returns the name of the kind and
 * what distinguishes it (`csp img-src cdn.example`).
 */
export function presentTitle({ kind, title }: Pick<Incident, 'kind' | 'title'>): string {
  if (title === kind) return KIND_WORDS[kind];
  if (title.startsWith(`${kind} `)) return `${KIND_WORDS[kind]}: ${title.slice(kind.length + 1)}`;
  return explainReactError(title) ?? title;
}

function presentLocation({ location, locationLine, route }: Incident): LocationShape {
  return defined({
    route,
    file: location?.path,
    line: locationLine,
    function: location?.function || undefined,
  });
}

export function presentStatus(incident: Incident): StatusShape {
  const { state, regressedIn, resolvedIn, ignoredUntil, ignoredGrowth, stateAt, stateBy } = incident;
  return defined({
    state,
    isRegression: regressedIn !== undefined || undefined,
    isForNext: resolvedIn === 'next' || undefined,
    ignoredUntil,
    ignoredUntilMore: ignoredGrowth,
    changedAt: stateAt,
    changedBy: stateBy,
  });
}
