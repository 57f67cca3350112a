import { toIncidentHref } from '../../../shared/desk/href.ts';
import type { CommitShape, IncidentData } from '../../../shared/desk/shapes.ts';
import { type DeskLinks, fillLink } from '../links.ts';
import { keyOf } from '../store/incident-key.ts';
import type { Neighbours } from '../store/occurrences/occurrence-table.ts';
import type { Incident, Occurrence } from '../store/records.ts';
import type { CallAnswer, CallArguments, CallName } from '../worker/calls.ts';
import { presentChanges } from './present-changes.ts';
import { presentCharts, presentMarks } from './present-charts.ts';
import { listPlaces } from './present-errors.ts';
import { presentFeedback, presentIncident, presentRelease, presentSimilar } from './present-incident.ts';
import { presentOccurrence } from './present-occurrence.ts';

/** The calls to the store that an incident needs. */
export type ReadCall = Extract<
  CallName,
  | 'find'
  | 'readDeletion'
  | 'findNeighbours'
  | 'listHours'
  | 'listReleases'
  | 'listDeployments'
  | 'listKnownIn'
  | 'listOccurrences'
  | 'listFeedback'
  | 'listSimilar'
  | 'listChanges'
  | 'listNotes'
  | 'findCommit'
>;

/** Calls the desk worker of a server, or the store directly. */
export type AskStore = <Name extends ReadCall>(name: Name, ...args: CallArguments<Name>) => Promise<CallAnswer<Name>>;

/** The incident of an address, and the occurrence to show for it. */
export interface Shown {
  readonly found: Incident;
  /** Undefined if none is kept. */
  readonly shown: Occurrence | undefined;
  readonly missed: IncidentData['missed'];
  readonly neighbours: Neighbours;
}

export interface ReadIncidentOptions {
  readonly ask: AskStore;
  readonly links: DeskLinks;
  /** The environment of this server. */
  readonly environment: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The most listed entries (counts). */
const RECENT = 12;
const SIMILAR = 8;
const FEEDBACK = 50;
const CHANGES = 100;
/** Characters. Browsers and servers refuse URLs that are too long. */
const MAX_ISSUE_TITLE = 200;

/** Reads everything that is shown of an incident, for all front ends. */
export async function readIncident(
  { found, shown, missed, neighbours }: Shown,
  { ask, links, environment, now }: ReadIncidentOptions,
): Promise<Omit<IncidentData, 'operator'>> {
  const { digest } = found;
  const key = keyOf(found);
  const [hours, releases, builds, recent, feedback, similar, changes, notes, known, commit] = await Promise.all([
    ask('listHours', key),
    ask('listReleases', key),
    ask('listDeployments', found.environment),
    ask('listOccurrences', key, { limit: RECENT }),
    ask('listFeedback', key, FEEDBACK),
    ask('listSimilar', key, SIMILAR),
    ask('listChanges', key, CHANGES),
    ask('listNotes', key, CHANGES),
    ask('listKnownIn', digest),
    findCommit(),
  ]);
  const { day, fortnight } = presentCharts(hours, now);
  const head = presentIncident(found, shown?.whole);
  const scope = found.environment === environment ? '' : found.environment;
  return {
    now,
    ...head,
    scope,
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
    feedback: feedback.map(presentFeedback),
    similar: similar.map((other) => presentSimilar(other, found)),
    changes: presentChanges(changes, notes),
  };

  async function findCommit(): Promise<CommitShape | undefined> {
    const places = shown?.whole ? listPlaces(shown.whole) : [];
    return shown && places.length > 0 ? ask('findCommit', key, shown.build, places) : undefined;
  }

  function toIssueLink(template: string): string {
    const { file = '', line = '', route = '' } = head.place;
    const url = `${links.origin ?? ''}${toIncidentHref(digest, shown?.occurrence, scope)}`;
    const release = shown?.release ?? found.lastRelease;
    const title = head.title.slice(0, MAX_ISSUE_TITLE);
    return fillLink(template, { digest, title, url, release, environment: found.environment, route, file, line });
  }
}
