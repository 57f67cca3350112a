import { toIncidentHref } from '../../shared/href.ts';
import type { CommitShape, IncidentShape, MissedShape } from '../../shared/shapes.ts';
import { type DeskLinks, fillLink } from '../links.ts';
import type { Neighbours } from '../store/occurrence-table.ts';
import type { Incident, Occurrence } from '../store/records.ts';
import type { DeskCalls } from '../worker/desk-calls.ts';
import { presentChanges } from './present-changes.ts';
import { presentCharts, presentMarks } from './present-charts.ts';
import { listPlaces } from './present-errors.ts';
import { presentIncident, presentRelease } from './present-incident.ts';
import { presentOccurrence } from './present-occurrence.ts';

/** What an incident is read with: the calls of a server, or the store itself. */
export type StoryCalls = Pick<
  DeskCalls,
  | 'find'
  | 'readDeletion'
  | 'findNeighbours'
  | 'listHours'
  | 'listReleases'
  | 'listDeployments'
  | 'listKnownIn'
  | 'listOccurrences'
  | 'listChanges'
  | 'listNotes'
  | 'findCommit'
>;

/** The incident of an address, and the occurrence to show for it. */
export interface Shown {
  readonly found: Incident;
  /** Undefined if none is kept. */
  readonly shown: Occurrence | undefined;
  readonly missed: MissedShape | undefined;
  readonly neighbours: Neighbours;
}

interface ReadIncidentOptions {
  readonly calls: StoryCalls;
  readonly links: DeskLinks;
  /** The environment of this server. */
  readonly environment: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The most listed entries (counts). */
const RECENT = 12;
const CHANGES = 100;
/** Characters. Browsers and servers refuse URLs that are too long. */
const MAX_ISSUE_TITLE = 200;

/** Reads everything that is shown of an incident, for all front ends. */
export async function readIncident(
  { found, shown, missed, neighbours }: Shown,
  { calls, links, environment, now }: ReadIncidentOptions,
): Promise<IncidentShape> {
  const { digest, key } = found;
  const [hours, releases, builds, recent, changes, notes, known, commit] = await Promise.all([
    calls.listHours(key),
    calls.listReleases(key),
    calls.listDeployments(found.environment),
    calls.listOccurrences(key, { limit: RECENT }),
    calls.listChanges(key, CHANGES),
    calls.listNotes(key, CHANGES),
    calls.listKnownIn(digest),
    findCommit(),
  ]);
  const { day, fortnight } = presentCharts(hours, now);
  const head = presentIncident(found, shown?.full);
  const scope = found.environment === environment ? '' : found.environment;
  return {
    ...head,
    ...(commit && { commit }),
    ...(links.issue && { issueLink: toIssueLink(links.issue) }),
    elsewhere: known.filter((name) => name !== found.environment),
    day,
    fortnight,
    marks: presentMarks(builds, now),
    releases: releases.map(presentRelease),
    ...(shown && { shown: presentOccurrence(shown, links) }),
    ...(missed && { missed }),
    ...(neighbours.newer && { newer: neighbours.newer.occurrence }),
    ...(neighbours.older && { older: neighbours.older.occurrence }),
    recent: recent.occurrences.map(({ occurrence, at, side, release }) => ({ occurrence, at, side, release })),
    changes: presentChanges(changes, notes),
  };

  async function findCommit(): Promise<CommitShape | undefined> {
    const places = shown?.full ? listPlaces(shown.full) : [];
    return shown && places.length > 0 ? calls.findCommit(key, shown.build, places) : undefined;
  }

  function toIssueLink(template: string): string {
    const { file = '', line = '', route = '' } = head.place;
    const url = `${links.origin ?? ''}${toIncidentHref(digest, shown?.occurrence, scope)}`;
    const release = shown?.release ?? found.lastRelease;
    const title = head.title.slice(0, MAX_ISSUE_TITLE);
    return fillLink(template, { digest, title, url, release, environment: found.environment, route, file, line });
  }
}
