import type { SideCounts } from '../../../../shared/desk/shapes.ts';
import { Hour } from '../../../../shared/units.ts';
import type { FailureKind, FrameLocation } from '../../../engine/errors/failure.ts';
import type { Feedback } from '../../../reports/feedback/feedback.ts';
import type { Salt } from '../../../reports/tunnel/visitors.ts';
import { type CountRecord, type ThinOccurrence, toThin } from '../../ingest/journal-entry.ts';
import type { StoredFailure } from '../records.ts';
import { findFrameLine } from './frame-line.ts';

/** A prepared journal line that the desk worker stores. */
export type Intake =
  | {
      readonly entry: 'whole';
      readonly failure: StoredFailure;
      readonly shownAs?: string;
      readonly sameVisitor?: readonly string[] | undefined;
    }
  | { readonly entry: 'thin'; readonly thin: ThinOccurrence; readonly sameVisitor?: readonly string[] }
  | { readonly entry: 'count'; readonly record: CountRecord }
  | { readonly entry: 'feedback'; readonly feedback: Feedback }
  | { readonly entry: 'salt'; readonly salt: Salt };

/** Entries that count as failures. */
type Counted = Exclude<Intake, { entry: 'feedback' | 'salt' }>;

/** The facts of an incident, from its first full record. */
export interface IncidentFacts {
  /** 0 until there is a full record. */
  readonly rule: number;
  readonly kind: FailureKind;
  readonly title: string;
  readonly class: string;
  readonly message: string;
  readonly site: FrameLocation | undefined;
  readonly route: string | undefined;
  readonly weak: boolean;
}

export interface HourTally extends SideCounts {
  readonly hour: number;
  readonly server: number;
  readonly browser: number;
  readonly occurrences: readonly ThinOccurrence[];
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

/** A batch's entries for one digest, added up. */
export interface Tally {
  readonly digest: string;
  readonly facts: IncidentFacts;
  readonly firstSide: 'server' | 'browser';
  readonly firstAt: number;
  readonly lastAt: number;
  readonly first: ReleaseTally;
  readonly last: ReleaseTally;
  readonly counts: SideCounts;
  readonly hours: readonly HourTally[];
  readonly releases: readonly ReleaseTally[];
  /** By hash, each as last seen. */
  readonly visitors: ReadonlyMap<string, SeenVisitor>;
  /** By occurrence. */
  readonly wholes: ReadonlyMap<string, StoredFailure>;
  /** The line of the frame location, from the latest full record that has it. */
  readonly locationLine: number | undefined;
}

interface SeenVisitor {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The visitor's other hashes since yesterday. */
  readonly others: readonly string[];
}

/** One entry of any kind, in the form that is counted. */
interface Sighting {
  readonly digest: string;
  readonly side: 'server' | 'browser';
  readonly build: string;
  readonly release: string;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly count: number;
  readonly facts: IncidentFacts;
  readonly occurrence?: ThinOccurrence;
  readonly sameVisitor?: readonly string[] | undefined;
  readonly whole?: StoredFailure;
}

/** Adds up a batch by digest, sorted by digest, so that replicas lock rows in the same order and never deadlock. */
export function tallyBatch(batch: readonly Intake[]): readonly Tally[] {
  const failed = batch.filter((intake): intake is Counted => intake.entry !== 'feedback' && intake.entry !== 'salt');
  const sightings = failed.map(toSighting).filter((sighting) => sighting.count > 0);
  const groups = [...Map.groupBy(sightings, ({ digest }) => digest)];
  return groups.sort(([left], [right]) => (left < right ? -1 : 1)).map(([digest, group]) => tallyDigest(digest, group));
}

function toSighting(intake: Counted): Sighting {
  if (intake.entry === 'count') return toCounted(intake.record);
  const whole = intake.entry === 'whole' ? intake.failure : undefined;
  const thin = intake.entry === 'whole' ? toThin(intake.failure) : intake.thin;
  return {
    digest: thin.digest,
    side: thin.side,
    build: thin.build,
    release: thin.release,
    firstAt: thin.at,
    lastAt: thin.at,
    // An echo is a server's failure as the browser saw it, so it is already counted.
    count: whole?.echoOf === undefined ? 1 : 0,
    facts: whole ? readFacts(whole) : toUnknownFacts('exception', ''),
    occurrence: thin,
    sameVisitor: intake.sameVisitor,
    ...(whole && { whole }),
  };
}

function toCounted(record: CountRecord): Sighting {
  return { ...record, facts: toUnknownFacts(record.kind, record.title) };
}

export function readFacts(failure: StoredFailure): IncidentFacts {
  const [outermost] = failure.errors;
  return {
    rule: failure.rule,
    kind: failure.kind,
    title: failure.title,
    class: outermost?.class ?? '',
    message: outermost?.message ?? '',
    site: failure.site,
    route: failure.route,
    weak: failure.weak === true,
  };
}

function toUnknownFacts(kind: FailureKind, title: string): IncidentFacts {
  return { rule: 0, kind, title, class: '', message: '', site: undefined, route: undefined, weak: false };
}

function tallyDigest(digest: string, group: readonly Sighting[]): Tally {
  const facts = group.find(({ facts }) => facts.rule > 0)?.facts ?? group[0]?.facts ?? toUnknownFacts('exception', '');
  const releases = tallyReleases(group);
  const first = releases.reduce((found, release) => (release.firstAt < found.firstAt ? release : found));
  const last = releases.reduce((found, release) => (release.lastAt > found.lastAt ? release : found));
  return {
    digest,
    facts,
    firstSide: group.some(({ side }) => side === 'server') ? 'server' : 'browser',
    firstAt: first.firstAt,
    lastAt: last.lastAt,
    first,
    last,
    counts: countSides(group),
    hours: [...Map.groupBy(group, ({ firstAt }) => toHour(firstAt))].map(([hour, some]) => tallyHour(hour, some)),
    releases,
    visitors: new Map(group.flatMap(toSeen)),
    wholes: new Map(group.flatMap(({ whole }) => (whole ? [[whole.occurrence, whole] as const] : []))),
    locationLine: findLatestLine(group),
  };
}

function toSeen({ occurrence, lastAt, sameVisitor = [] }: Sighting): [string, SeenVisitor][] {
  return occurrence?.visitor === undefined ? [] : [[occurrence.visitor, { at: lastAt, others: sameVisitor }]];
}

function findLatestLine(group: readonly Sighting[]): number | undefined {
  const lines = group.flatMap(({ whole }) => {
    const line = whole && findFrameLine(whole.site, whole);
    return line === undefined ? [] : [{ at: whole?.at ?? 0, line }];
  });
  return lines.sort((left, right) => right.at - left.at)[0]?.line;
}

function tallyHour(hour: number, group: readonly Sighting[]): HourTally {
  const occurrences = new Map(
    group.flatMap(({ occurrence }) => (occurrence ? [[occurrence.occurrence, occurrence] as const] : [])),
  );
  return { hour, ...countSides(group), occurrences: [...occurrences.values()] };
}

function tallyReleases(group: readonly Sighting[]): ReleaseTally[] {
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

function countSides(group: readonly Sighting[]): SideCounts {
  return {
    server: sum(group.filter(({ side }) => side === 'server')),
    browser: sum(group.filter(({ side }) => side === 'browser')),
  };
}

function sum(group: readonly Sighting[]): number {
  return group.reduce((total, { count }) => total + count, 0);
}

/** Returns the start of the hour (ms since 1970). */
export function toHour(at: number): number {
  return Math.floor(at / Hour) * Hour;
}
