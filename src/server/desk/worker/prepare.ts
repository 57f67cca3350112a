import type { Failure } from '../../engine/errors/failure.ts';
import { cutText, MAX_TITLE_LENGTH } from '../../engine/errors/trim.ts';
import type { DeskLog } from '../desk-log.ts';
import type { JournalEntry } from '../ingest/journal-entry.ts';
import { FIRST_WHOLES, NEWEST_WHOLES, WHOLES_PER_HOUR } from '../limits.ts';
import { type Intake, toHour } from '../store/ingest/tally.ts';
import type { StoredFailure } from '../store/records.ts';
import { QueryFailedError } from '../store/sql.ts';
import { isEngineFile } from '../views/present-errors.ts';
import type { Digester } from './maps/digester.ts';
import type { MapReader } from './maps/map-reader.ts';

interface PrepareOptions {
  readonly maps: Pick<MapReader, 'resolve'>;
  readonly digester: Digester;
  /** The text of a build's `sites.json`. */
  readonly readLocations: (build: string) => Promise<string | undefined>;
  readonly log: DeskLog;
}

type WholeEntry = Extract<JournalEntry, { entry: 'whole' }>;

/** Turns journal entries into entries for the store. */
export type Prepare = (entries: readonly JournalEntry[]) => Promise<Intake[]>;

/** The number of failures per hour and digest with resolved frames. Of later ones, only the newest are resolved. */
const RESOLVED_PER_HOUR = FIRST_WHOLES + WHOLES_PER_HOUR;

export function createPrepare({ maps, digester, readLocations, log }: PrepareOptions): Prepare {
  const resolved = createHourCounts();

  async function prepareWhole({ failure, sameVisitor }: WholeEntry, isNewest: boolean): Promise<Intake> {
    const named = failure.unresolved ? await giveDigest(failure) : failure;
    const isWanted = resolved.add(named.digest, failure.at) <= RESOLVED_PER_HOUR || isNewest;
    const stored: StoredFailure = isWanted ? await resolveFrames(named) : named;
    const shownAs = named.digest === failure.digest ? undefined : failure.digest;
    return { entry: 'whole', failure: stored, sameVisitor, ...(shownAs !== undefined && { shownAs }) };
  }

  async function giveDigest(failure: Failure): Promise<Failure> {
    const sites = await readSitesIfAllowed(failure.build);
    if (sites === undefined) return failure;
    const { unresolved: _unresolved, weak: _weak, site: _site, ...rest } = failure;
    const made = digester.createDigest(failure, sites);
    return { ...rest, ...made, title: cutText(made.title, MAX_TITLE_LENGTH) };
  }

  /** Returns undefined if a privilege is missing, because that must not keep failures out of the store. */
  async function readSitesIfAllowed(build: string): Promise<string | undefined> {
    try {
      return await readLocations(build);
    } catch (error) {
      if (error instanceof QueryFailedError && error.reason === 'refused') return undefined;
      throw error;
    }
  }

  async function resolveFrames(failure: Failure): Promise<StoredFailure> {
    try {
      return withComponent(await maps.resolve(failure));
    } catch (error) {
      log.warn({ err: error, digest: failure.digest }, 'The source maps of a failure could not be read.');
      return failure;
    }
  }

  return async function prepare(entries) {
    const newest = listNewest(entries);
    const intakes: Intake[] = [];
    for (const entry of entries) {
      if (entry.entry !== 'whole') intakes.push(entry);
      else intakes.push(await prepareWhole(entry, newest.has(entry)));
    }
    return intakes;
  };
}

/**
 * Shows a mismatch at the innermost component that React locates, because the stack of its error is React's own. In
 * production React locates only some, and those outside of the innermost route are not in the page.
 */
function withComponent(failure: StoredFailure): StoredFailure {
  const { kind, components = [] } = failure;
  if (kind !== 'hydration') return failure;
  const end = components.findIndex(({ file }) => file.endsWith('engine/routing/route-view.tsx'));
  const inPage = components.slice(0, end < 0 ? undefined : end);
  const found = inPage.find(({ file, line, own }) => own && line > 0 && !isEngineFile(file));
  return found ? { ...failure, site: { path: found.file, function: found.function, detail: '' } } : failure;
}

/** Returns the last entries of each digest in a batch, which can be the newest of their incident. */
function listNewest(entries: readonly JournalEntry[]): ReadonlySet<JournalEntry> {
  const wholes = entries.filter((entry) => entry.entry === 'whole');
  const groups = Map.groupBy(wholes, ({ failure }) => failure.digest);
  return new Set([...groups.values()].flatMap((group) => group.slice(-NEWEST_WHOLES)));
}

/** The most digests and hours that are counted. */
const MAX_COUNTED = 10_000;

function createHourCounts() {
  const counts = new Map<string, number>();
  return {
    /** Counts a failure. @returns the count in its hour */
    add(digest: string, at: number): number {
      if (counts.size > MAX_COUNTED) counts.clear();
      const key = `${digest} ${toHour(at)}`;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count;
    },
  };
}
