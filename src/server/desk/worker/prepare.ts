import type { Failure } from '../../engine/errors/failure.ts';
import { cutText, MAX_TITLE_LENGTH } from '../../engine/errors/trim.ts';
import type { DeskLog } from '../desk-log.ts';
import type { JournalEntry } from '../ingest/journal-entry.ts';
import { FULL_PER_HOUR } from '../limits.ts';
import { toHour } from '../store/incident-table.ts';
import type { PreparedEntry } from '../store/ingest/batch.ts';
import type { StoredFailure } from '../store/records.ts';
import { QueryFailedError, StoreAwayError } from '../store/sql.ts';
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

/** Turns journal entries into entries for the store: applies source maps, and adds missing digests. */
export type Prepare = (entries: readonly JournalEntry[]) => Promise<PreparedEntry[]>;

/** The most digests and hours that are counted. */
const MAX_COUNTED = 10_000;

export function createPrepare({ maps, digester, readLocations, log }: PrepareOptions): Prepare {
  /** The number of failures with resolved frames, by digest and hour. The store has no room for more full records. */
  const resolved = new Map<string, number>();

  async function prepareFailure(failure: Failure): Promise<PreparedEntry> {
    const named = failure.unresolved ? await giveDigest(failure) : failure;
    const stored = isWanted(named) ? withComponent(await maps.resolve(named)) : named;
    return { entry: 'full', failure: stored, ...(named.digest !== failure.digest && { shownAs: failure.digest }) };
  }

  function isWanted({ digest, side, at }: Failure): boolean {
    if (resolved.size > MAX_COUNTED) resolved.clear();
    const key = `${digest} ${side} ${toHour(at)}`;
    const count = (resolved.get(key) ?? 0) + 1;
    resolved.set(key, count);
    return count <= FULL_PER_HOUR;
  }

  async function giveDigest(failure: Failure): Promise<Failure> {
    const locations = await readLocations(failure.build);
    if (locations === undefined) return failure;
    const { unresolved: _unresolved, weak: _weak, site: _site, ...rest } = failure;
    const made = digester.createDigest(failure, locations);
    return { ...rest, ...made, title: cutText(made.title, MAX_TITLE_LENGTH) };
  }

  return async function prepare(entries) {
    const prepared: PreparedEntry[] = [];
    for (const entry of entries) {
      if (entry.entry === 'summary') prepared.push(entry);
      if (entry.entry !== 'full') continue;
      try {
        prepared.push(await prepareFailure(entry.failure));
      } catch (error) {
        // A missing privilege must not keep failures out of the store.
        const isStore = error instanceof StoreAwayError || error instanceof QueryFailedError;
        if (isStore && !(error instanceof QueryFailedError && error.reason === 'refused')) throw error;
        log.warn({ err: error, digest: entry.failure.digest }, 'The source maps of a failure could not be read.');
        prepared.push(entry);
      }
    }
    return prepared;
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
