import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { DeskCount } from '../counters.ts';
import { BATCH_BYTES, MAX_BATCH_TRIES } from '../desk-limits.ts';
import type { DeskLog } from '../desk-log.ts';
import { type JournalEntry, parseJournalLine } from '../ingest/journal-entry.ts';
import { dropSegments, type JournalSegment, type LogPosition, listSegments } from '../ingest/segments.ts';
import type { Batch } from '../store/ingest/ingest-batch.ts';
import { QueryFailedError } from '../store/sql.ts';
import type { WithStore } from '../store/store-holder.ts';
import type { Prepare } from './prepare.ts';

/** The journal of one process. */
export interface ProcessJournal {
  readonly process: string;
  readonly folder: string;
}

interface MoveOptions {
  /** The environment of its process. That of this process by default. */
  readonly environment?: string;
  /** Called with each position up to which the journal is stored. Its process is alive and can append to it. */
  readonly onLivePosition?: (position: LogPosition) => void;
}

/** Moves a journal to the store piece by piece, so that messages are handled in between. */
export type MoveJournal = (journal: ProcessJournal, options?: MoveOptions) => Promise<void>;

interface MoveJournalOptions {
  readonly withStore: WithStore;
  readonly prepare: Prepare;
  /** Called after each stored batch. */
  readonly onStored: () => void;
  readonly count: DeskCount;
  readonly log: DeskLog;
}

const DROPPED =
  'The store keeps refusing an entry of the journal. It is only in this log line. Everything else continues.';

export function createMoveJournal({ withStore, prepare, onStored, count, log }: MoveJournalOptions): MoveJournal {
  /** How often the batch at the front of each journal was refused. */
  const tries = new Map<string, number>();

  async function toBatch(
    { entries, next, skipped }: JournalPiece,
    { process, start }: { readonly process: string; readonly start: LogPosition },
    environment: string | undefined,
  ): Promise<Batch> {
    if (skipped > 0) log.warn({ process, lines: skipped }, 'A journal has incomplete lines, which were skipped.');
    return {
      occurrences: await prepare(entries),
      revalidations: entries.flatMap((entry) => (entry.entry === 'revalidation' ? [entry.path] : [])),
      environment,
      from: { process, start, next },
    };
  }

  /**
   * Stores a batch without the entries that the store never accepts, and after some tries without those that it keeps
   * refusing while it accepts others.
   *
   * @throws if the whole batch must stay in the journal
   */
  async function storeAccepted(process: string, batch: Batch, error: unknown): Promise<void> {
    if (!(error instanceof QueryFailedError)) throw error;
    const tried = (tries.get(process) ?? 0) + 1;
    tries.set(process, tried);
    const isLast = tried >= MAX_BATCH_TRIES;
    if (error.reason !== 'value' && !isLast) throw error;
    const refused = await withStore((store) => store.journals.ingestEach(batch, { isLast }));
    for (const { occurrence, reason } of refused) {
      count('spillway_journal_refused_total', { outcome: 'dropped' });
      log.error({ reason, entry: occurrence }, DROPPED);
    }
  }

  return async function moveJournal({ process, folder }, { environment, onLivePosition } = {}) {
    // Read from the store, because it is unknown whether a broken connection stored the last batch.
    let from = await withStore((store) => store.journals.readPosition(process));
    for (;;) {
      onLivePosition?.(from);
      const piece = readJournal({ folder, live: onLivePosition !== undefined, from, maxBytes: BATCH_BYTES });
      if (!piece) return;
      const batch = await toBatch(piece, { process, start: from }, environment);
      await withStore((store) => store.journals.ingest(batch)).catch((error) => storeAccepted(process, batch, error));
      tries.delete(process);
      onStored();
      from = piece.next;
      dropSegments(folder, from);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
}

interface JournalPiece {
  readonly entries: readonly JournalEntry[];
  readonly next: LogPosition;
  /** The number of invalid lines, for example of a process that was killed while it wrote. */
  readonly skipped: number;
}

interface ReadJournalOptions {
  readonly folder: string;
  readonly from: LogPosition;
  /** Whether its process is alive, so that the last segment can still grow. */
  readonly live: boolean;
  /** How much is read at a time (bytes). More if a line is longer. */
  readonly maxBytes: number;
}

/** Reads the next piece of a journal. @returns undefined at the end */
export function readJournal({ folder, from, live, maxBytes }: ReadJournalOptions): JournalPiece | undefined {
  // Listed before anything is read, because a segment that is followed by another one is complete.
  const segments = listSegments(folder).filter(({ number }) => number >= from.segment);
  const [segment] = segments;
  if (!segment) return undefined;
  const offset = segment.number === from.segment ? from.offset : 0;
  return readLines(segment, offset, live && segments.length === 1, maxBytes);
}

function readLines(
  segment: JournalSegment,
  offset: number,
  isOpen: boolean,
  maxBytes: number,
): JournalPiece | undefined {
  const bytes = readBytes(segment.path, offset, maxBytes);
  const end = bytes.lastIndexOf(0x0a) + 1;
  if (end > 0) {
    return { ...parseLines(bytes.subarray(0, end)), next: { segment: segment.number, offset: offset + end } };
  }
  // The line is longer than `maxBytes`.
  if (bytes.length === maxBytes) return readLines(segment, offset, isOpen, maxBytes * 2);
  if (isOpen) return undefined;
  return { entries: [], skipped: bytes.length > 0 ? 1 : 0, next: { segment: segment.number + 1, offset: 0 } };
}

function parseLines(bytes: Buffer): Pick<JournalPiece, 'entries' | 'skipped'> {
  const lines = bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const entries = lines.map(parseJournalLine).filter((entry) => entry !== undefined);
  return { entries, skipped: lines.length - entries.length };
}

/** Returns no bytes for a segment that its process has just deleted, because all of it is stored. */
function readBytes(path: string, offset: number, maxBytes: number): Buffer {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const length = Math.max(0, Math.min(maxBytes, fstatSync(file).size - offset));
    const buffer = Buffer.allocUnsafe(length);
    return buffer.subarray(0, readSync(file, buffer, 0, length, offset));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
