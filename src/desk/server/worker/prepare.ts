import { BoundedMap, createDigest, cutTitle, type Failure, isProductCode } from '#engine/tracker';
import { MAX_BATCH_TRIES } from '../desk-limits.ts';
import type { DeskLog } from '../desk-log.ts';
import type { JournalEntry, OccurrenceSummary } from '../ingest/journal-entry.ts';
import { type NewOccurrence, toNewOccurrence } from '../store/ingest/batch.ts';
import type { StoredFailure } from '../store/records.ts';
import { QueryFailedError, StoreError } from '../store/sql.ts';
import type { BuildFiles } from './maps/build-files.ts';
import type { MapReader } from './maps/map-reader.ts';

interface PrepareOptions {
  readonly maps: Pick<MapReader, 'resolve'>;
  readonly namespace: string;
  readonly readLocations: BuildFiles['readLocations'];
  readonly log: DeskLog;
}

/** The new digests that are remembered (a count). */
const MAX_REMEMBERED_DIGESTS = 1000;

/** Turns journal entries into occurrences: applies source maps, and adds missing digests. */
export type Prepare = (entries: readonly JournalEntry[]) => Promise<NewOccurrence[]>;

export function createPrepare({ maps, namespace, readLocations, log }: PrepareOptions): Prepare {
  /** How often maps could not be read since the last complete batch. */
  let tries = 0;
  /** The new digests of failures, by build and old digest. Their summaries lack what a digest is made from. */
  const newDigests = new BoundedMap<string>(MAX_REMEMBERED_DIGESTS);

  async function prepareFailure(failure: Failure): Promise<NewOccurrence> {
    const named = failure.unresolved ? await giveDigest(failure) : failure;
    const stored = withComponent(await maps.resolve(named));
    if (named.digest === failure.digest) return toNewOccurrence(stored);
    newDigests.set(`${failure.build} ${failure.digest}`, named.digest);
    return { ...toNewOccurrence(stored), shownAs: failure.digest };
  }

  function prepareSummary(summary: OccurrenceSummary): NewOccurrence {
    const digest = newDigests.get(`${summary.build} ${summary.digest}`);
    return digest === undefined ? summary : { ...summary, digest, shownAs: summary.digest };
  }

  async function giveDigest(failure: Failure): Promise<Failure> {
    const table = await readLocations(failure.build);
    if (!table) return failure;
    const made = createDigest(failure, { namespace, table });
    return { ...failure, ...made, title: cutTitle(made.title) };
  }

  /** A missing privilege, or a map that is always too slow to read, must not keep failures out of the store. */
  function isUnreadable(error: StoreError): boolean {
    if (!(error instanceof QueryFailedError)) return false;
    tries += 1;
    return error.reason === 'refused' || tries >= MAX_BATCH_TRIES;
  }

  return async function prepare(entries) {
    const prepared: NewOccurrence[] = [];
    for (const entry of entries) {
      if (entry.entry === 'summary') prepared.push(prepareSummary(entry.summary));
      if (entry.entry !== 'full') continue;
      try {
        prepared.push(await prepareFailure(entry.failure));
      } catch (error) {
        if (error instanceof StoreError && !isUnreadable(error)) throw error;
        log.warn({ err: error, digest: entry.failure.digest }, 'The source maps of a failure could not be read.');
        prepared.push(toNewOccurrence(entry.failure));
      }
    }
    tries = 0;
    return prepared;
  };
}

/**
 * Shows a mismatch at the innermost component that React locates, with its source, because the stack of its error is
 * React's own. In production React locates only some, and those outside of the innermost route are not in the page.
 */
function withComponent(failure: StoredFailure): StoredFailure {
  const { kind, components = [], resolved: [first = [], ...others] = [] } = failure;
  if (kind !== 'hydration') return failure;
  const end = components.findIndex(({ file }) => file.endsWith('rendering/router-view.tsx'));
  const inPage = components.slice(0, end < 0 ? undefined : end);
  const found = inPage.find(({ file, line, own }) => own && line > 0 && isProductCode(file));
  const bare = { ...failure, components: components.map(({ context: _context, ...component }) => component) };
  if (!found) return bare;
  const location = { path: found.file, function: found.function, detail: '' };
  return { ...bare, location, resolved: [[found, ...first], ...others] };
}
