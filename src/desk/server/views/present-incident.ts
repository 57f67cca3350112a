import { explainReactError } from '#engine/tracker';
import { Day } from '../../../shared/units.ts';
import { toIncidentHref } from '../../shared/href.ts';
import type { IncidentShape, MarkShape, MissedShape, ReleaseShape } from '../../shared/shapes.ts';
import { defined } from '../defined.ts';
import type { DeskFacts } from '../facts.ts';
import { fillLink } from '../links.ts';
import type { BuildRecord } from '../store/build-table.ts';
import { CHART_DAYS } from '../store/charts.ts';
import type { IncidentDetails } from '../store/incident-details.ts';
import { findLine } from '../store/ingest/batch.ts';
import type { FoundIncident, IncidentRelease } from '../store/records.ts';
import { presentChanges } from './present-history.ts';
import { presentFacts } from './present-incident-row.ts';
import { presentOccurrence } from './present-occurrence.ts';

/** Presents everything that is shown of an incident, for all front ends. @param now milliseconds since 1970 */
export function presentIncident(
  found: FoundIncident,
  details: IncidentDetails,
  { links, environment }: Pick<DeskFacts, 'links' | 'environment'>,
  now: number,
): IncidentShape {
  const { incident } = found;
  const { shown, newer, older, commit } = details;
  const facts = presentFacts(incident);
  // The line of the shown occurrence, because lines move from build to build.
  const line = shown?.full && findLine(incident.location, shown.full);
  const place = { ...facts.place, ...defined({ line }) };
  return defined({
    ...facts,
    place,
    // The title already explains it.
    message: explainReactError(incident.message) === undefined ? incident.message : '',
    version: String(incident.version),
    commit,
    issueLink: links.issue && toIssueLink(links.issue),
    ...details.charts,
    marks: presentMarks(details.deployments, now),
    releases: details.releases.map(presentRelease),
    shown: shown && presentOccurrence(shown, links),
    missed: details.missed && presentMissed(details.missed, found.state),
    newer,
    older,
    recent: details.recent.map(({ occurrence, at, side, release }) => ({ occurrence, at, side, release })),
    changes: presentChanges(details.changes, details.notes),
  });

  function toIssueLink(template: string): string {
    const { digest, environment: own } = incident;
    const { file = '', line = '', route = '' } = place;
    const url = `${links.origin ?? ''}${toIncidentHref(digest, shown?.occurrence, own, environment)}`;
    const release = shown?.release ?? incident.lastRelease;
    const title = facts.title.slice(0, MAX_ISSUE_TITLE);
    return fillLink(template, { digest, title, url, release, environment: own, route, file, line });
  }
}

/** Characters. Browsers and servers refuse URLs that are too long. */
const MAX_ISSUE_TITLE = 200;

function presentMissed(
  { occurrence, row }: NonNullable<IncidentDetails['missed']>,
  state: FoundIncident['state'],
): MissedShape {
  return defined({
    occurrence,
    state: row ? 'summary' : state === 'sampled' || state === 'arriving' ? state : 'unknown',
    at: row?.at,
    requestId: row?.requestId,
  });
}

function presentRelease({ regressedAt, ...release }: IncidentRelease): ReleaseShape {
  return { ...release, isRegression: regressedAt !== undefined };
}

/** More lines than bars would be illegible (a count). */
const MAX_MARKS = CHART_DAYS;

/** Returns the releases that were first started within the longer chart, oldest first. A rebuilt release counts once. */
function presentMarks(builds: readonly BuildRecord[], now: number): MarkShape[] {
  const first = new Map<string, number>();
  for (const { release, firstAt } of builds) first.set(release, Math.min(firstAt, first.get(release) ?? firstAt));
  return [...first]
    .map(([release, at]) => ({ release, at }))
    .filter(({ at }) => at > now - CHART_DAYS * Day)
    .sort((left, right) => left.at - right.at)
    .slice(-MAX_MARKS);
}
