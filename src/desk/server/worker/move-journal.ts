import type { Count } from '../../../server/request/counters.ts';
import type { DeskLog } from '../desk-log.ts';
import { dropSegments, type LogPosition } from '../ingest/segments.ts';
import { BATCH_BYTES, MAX_BATCH_TRIES } from '../limits.ts';
import type { Batch } from '../store/ingest/ingest-batch.ts';
import { QueryFailedError } from '../store/sql.ts';
import type { Prepare } from './prepare.ts';
import { type JournalPiece, readJournal } from './read-journal.ts';
import type { StoreHolder } from './store-holder.ts';

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
  readonly holder: Pick<StoreHolder, 'use'>;
  readonly prepare: Prepare;
  /** Called after each stored batch. */
  readonly onStored: () => void;
  readonly count: Count;
  readonly log: DeskLog;
}

const DROPPED =
  'The store keeps refusing an entry of the journal. It is only in this log line. Everything else continues.';

export function createMoveJournal({ holder, prepare, onStored, count, log }: MoveJournalOptions): MoveJournal {
  /** How often the batch at the front of each journal was refused. */
  const tries = new Map<string, number>();

  async function toBatch(process: string, piece: JournalPiece, environment: string | undefined): Promise<Batch> {
    const { entries, next, skipped } = piece;
    if (skipped > 0) log.warn({ process, lines: skipped }, 'A journal has incomplete lines, which were skipped.');
    return {
      entries: await prepare(entries),
      revalidations: entries.flatMap((entry) => (entry.entry === 'revalidation' ? [entry.path] : [])),
      environment,
      from: { process, next },
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
    if (error.reason !== 'value' && tried < MAX_BATCH_TRIES) throw error;
    const refused = await holder.use((store) => store.ingestEach(batch));
    for (const { entry, reason } of refused) {
      count('spillway_journal_refused_total', { outcome: 'dropped' });
      log.error({ reason, entry }, DROPPED);
    }
  }

  return async function moveJournal({ process, folder }, { environment, onLivePosition } = {}) {
    // Read from the store, because it is unknown whether a broken connection stored the last batch.
    let from = await holder.use((store) => store.readPosition(process));
    for (;;) {
      onLivePosition?.(from);
      const piece = readJournal({ folder, live: onLivePosition !== undefined, from, maxBytes: BATCH_BYTES });
      if (!piece) return;
      const batch = await toBatch(process, piece, environment);
      await holder.use((store) => store.ingest(batch)).catch((error) => storeAccepted(process, batch, error));
      tries.delete(process);
      onStored();
      from = piece.next;
      dropSegments(folder, from);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
}
