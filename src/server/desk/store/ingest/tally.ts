import type { SideCounts } from '../../../../shared/desk/shapes.ts';
import type { FailureKind } from '../../../engine/errors/failure.ts';
import { type CountRecord, type OccurrenceSummary, toSummary } from '../../ingest/journal-entry.ts';
import type { IncidentKey } from '../incident-key.ts';
import { type IncidentFacts, readFacts, toHour } from '../incident-table.ts';
import type { StoredFailure } from '../records.ts';

/** A journal entry that the desk worker has prepared. */
export type PreparedEntry =
  /** @param shownAs the digest that the visitor was shown, if the failure has another one now */
  | { readonly entry: 'full'; readonly failure: StoredFailure; readonly shownAs?: string }
  | { readonly entry: 'summary'; readonly summary: OccurrenceSummary }
  | { readonly entry: 'count'; readonly record: CountRecord };

/** An occurrence of a batch, with its full record if the journal had one. */
export interface BatchOccurrence extends OccurrenceSummary {
  readonly full?: StoredFailure;
}

interface HourTally extends SideCounts {
  readonly hour: number;
  readonly occurrences: readonly BatchOccurrence[];
}

export interface ReleaseTally {
  readonly release: string;
  readonly build: string;
  readonly firstAt: number;
  readonly lastAt: number;
  /** The last occurrence on a server, or 0. */
  readonly lastServerAt: number;
  readonly count: number;
}

/** A batch's entries for one incident, added up. */
export interface Tally {
  readonly key: IncidentKey;
  readonly digest: string;
  readonly facts: IncidentFacts;
  readonly firstSide: 'server' | 'browser';
  readonly first: ReleaseTally;
  readonly last: ReleaseTally;
  readonly counts: SideCounts;
  readonly hours: readonly HourTally[];
  readonly releases: readonly ReleaseTally[];
  /** The line of the failure's location, from the latest full record that has it. */
  readonly locationLine: number | undefined;
}

/** One entry of any kind, in the form that is counted. */
interface Counted {
  readonly digest: string;
  readonly side: 'server' | 'browser';
  readonly build: string;
  readonly release: string;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly count: number;
  readonly facts: IncidentFacts;
  readonly occurrence?: BatchOccurrence;
}

/** Adds up a batch by incident, sorted by key, so that replicas lock rows in the same order and never deadlock. */
export function tallyBatch(
  entries: readonly PreparedEntry[],
  toKey: (digest: string) => IncidentKey,
): readonly Tally[] {
  // An echo is a server's failure as the browser saw it, so it is already counted.
  const counted = entries
    .filter((entry) => entry.entry !== 'full' || entry.failure.echoOf === undefined)
    .map(toCounted);
  const groups = [...Map.groupBy(counted, ({ digest }) => digest)];
  return groups
    .map(([digest, group]) => tallyIncident(toKey(digest), digest, group))
    .sort((one, other) => (one.key < other.key ? -1 : 1));
}

function toCounted(entry: PreparedEntry): Counted {
  if (entry.entry === 'count') return { ...entry.record, facts: toUnknownFacts(entry.record) };
  const full = entry.entry === 'full' ? entry.failure : undefined;
  const summary = entry.entry === 'full' ? toSummary(entry.failure) : entry.summary;
  const { digest, side, build, release, at } = summary;
  return {
    ...{ digest, side, build, release, firstAt: at, lastAt: at, count: 1 },
    facts: full ? readFacts(full) : toUnknownFacts({ kind: 'exception', title: '' }),
    occurrence: { ...summary, ...(full && { full }) },
  };
}

function toUnknownFacts({ kind, title }: { readonly kind: FailureKind; readonly title: string }): IncidentFacts {
  return { rule: 0, kind, title, class: '', message: '', location: undefined, route: undefined, weak: false };
}

function tallyIncident(key: IncidentKey, digest: string, group: readonly Counted[]): Tally {
  const releases = tallyReleases(group);
  const facts = group.find((one) => one.facts.rule > 0) ?? group.find((one) => one.facts.title !== '') ?? group[0];
  return {
    key,
    digest,
    facts: facts?.facts ?? toUnknownFacts({ kind: 'exception', title: '' }),
    firstSide: group.some(({ side }) => side === 'server') ? 'server' : 'browser',
    first: releases.reduce((found, release) => (release.firstAt < found.firstAt ? release : found)),
    last: releases.reduce((found, release) => (release.lastAt > found.lastAt ? release : found)),
    counts: countSides(group),
    hours: [...Map.groupBy(group, ({ firstAt }) => toHour(firstAt))].map(([hour, some]) => tallyHour(hour, some)),
    releases,
    locationLine: findLocationLine(group),
  };
}

function tallyHour(hour: number, group: readonly Counted[]): HourTally {
  const occurrences = group.flatMap(({ occurrence }) =>
    occurrence ? [[occurrence.occurrence, occurrence] as const] : [],
  );
  return { hour, ...countSides(group), occurrences: [...new Map(occurrences).values()] };
}

function tallyReleases(group: readonly Counted[]): ReleaseTally[] {
  const groups = [...Map.groupBy(group, ({ release, build }) => `${release}\n${build}`).values()];
  return groups.map((some) => ({
    release: some[0]?.release ?? '',
    build: some[0]?.build ?? '',
    firstAt: Math.min(...some.map(({ firstAt }) => firstAt)),
    lastAt: Math.max(...some.map(({ lastAt }) => lastAt)),
    lastServerAt: Math.max(0, ...some.map(({ side, lastAt }) => (side === 'server' ? lastAt : 0))),
    count: sum(some),
  }));
}

function countSides(group: readonly Counted[]): SideCounts {
  return {
    server: sum(group.filter(({ side }) => side === 'server')),
    browser: sum(group.filter(({ side }) => side === 'browser')),
  };
}

function sum(group: readonly Counted[]): number {
  return group.reduce((total, { count }) => total + count, 0);
}

/** Returns the line of the latest full record. The location itself has none, because lines move from build to build. */
function findLocationLine(group: readonly Counted[]): number | undefined {
  const fulls = group.flatMap(({ occurrence }) => occurrence?.full ?? []).sort((one, other) => other.at - one.at);
  for (const full of fulls) {
    const line = findLine(full.site, full);
    if (line !== undefined) return line;
  }
  return undefined;
}

/** Returns the line of a location in one occurrence. @param resolved the frames of each error, as resolved by source maps */
export function findLine(
  location: StoredFailure['site'],
  { resolved = [], components = [] }: Pick<StoredFailure, 'resolved' | 'components'>,
): number | undefined {
  const inFile = [...resolved.flat(), ...components].filter(({ file, line }) => file === location?.path && line > 0);
  // The source map can have another function name than the location. Then any frame in the file is used.
  return (inFile.find((frame) => frame.function === location?.function) ?? inFile[0])?.line;
}
