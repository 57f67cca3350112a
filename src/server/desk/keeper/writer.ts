import { clearTaken } from '../clear-lines.ts';
import type { DeskLog } from '../desk-log.ts';
import { removeJournal } from '../journal.ts';
import type { JournalEntry } from '../journal-entry.ts';
import { GATHER_TIME, RETRY_FIRST, RETRY_LONGEST } from '../limits.ts';
import type { JournalPosition } from '../segment-files.ts';
import { StoreAwayError } from '../store/sql.ts';
import type { Batch } from '../store/take-in.ts';
import type { Intake } from '../store/tally.ts';
import { createTurns } from '../store/turns.ts';
import { dropSegments, type JournalPiece, readJournal } from './read-journal.ts';
import type { Signals } from './signals.ts';
import type { StoreHolder } from './store-holder.ts';

/** Moves journals into the store. */
export interface Writer {
  /** Something was appended: it is taken in soon. */
  wake(): void;
  /** Takes in what this process has appended so far. Rejects where the store is away. */
  flush(): Promise<void>;
  /** Takes in all of a dead process's journal, and removes it. */
  adopt(journal: Pick<Source, 'run' | 'folder' | 'environment'>): Promise<void>;
  stop(): void;
}

export interface WriterOptions {
  readonly run: string;
  readonly folder: string;
  readonly signals: Pick<Signals, 'clearDirty' | 'position'>;
  readonly holder: Pick<StoreHolder, 'use'>;
  /** Makes an entry into what is stored: source maps, late digests. */
  readonly prepare: (entries: readonly JournalEntry[]) => Promise<Intake[]>;
  /** Told when something is in the store. */
  readonly onTaken?: () => void;
  readonly log: DeskLog;
}

export function createWriter({ run, folder, signals, holder, prepare, onTaken, log }: WriterOptions): Writer {
  const turns = createTurns();
  let timer: NodeJS.Timeout | undefined;
  let wait = RETRY_FIRST;
  let isStopped = false;

  function schedule(delay: number): void {
    if (timer || isStopped) return;
    timer = setTimeout(() => {
      timer = undefined;
      flush().then(
        () => {
          wait = RETRY_FIRST;
        },
        (error: unknown) => {
          if (!(error instanceof StoreAwayError)) log.error({ err: error }, 'A part of the journal was not taken in.');
          schedule(wait);
          wait = Math.min(wait * 2, RETRY_LONGEST);
        },
      );
    }, delay);
  }

  function flush(): Promise<void> {
    return turns.take(async () => {
      // Cleared first: what is appended from here on wakes again.
      signals.clearDirty();
      await moveAll({ run, folder, environment: undefined, live: true }, (position) => {
        signals.position = position;
      });
    });
  }

  async function moveAll(journal: Source, onMoved: (position: JournalPosition) => void): Promise<void> {
    // Asked each time, because a connection that broke may or may not have stored what it was sent.
    let from = await holder.use((store) => store.readPosition(journal.run));
    onMoved(from);
    for (;;) {
      const piece = readJournal({ ...journal, from });
      if (!piece) break;
      await move(journal, piece);
      from = piece.next;
      onMoved(from);
      dropSegments(journal.folder, from);
    }
  }

  async function move(journal: Source, piece: JournalPiece): Promise<void> {
    if (piece.skipped > 0) {
      log.warn({ run: journal.run, lines: piece.skipped }, 'Lines of a journal that are not whole were left out.');
    }
    await takeIn(await prepare(piece.entries), journal, piece.next);
    // A salt must not outlive its day on the disk of a process that has few failures.
    if (piece.entries.some(isSalt)) clearTaken(journal.folder, piece.next, isSalt);
  }

  /** A row that the database refuses is left out, rather than all that come behind it. */
  async function takeIn(
    entries: readonly Intake[],
    { run, environment }: Source,
    next: JournalPosition,
  ): Promise<void> {
    const batch = { entries, from: { run, next }, environment };
    try {
      await holder.use((store) => store.takeIn(batch));
    } catch (error) {
      if (error instanceof StoreAwayError) throw error;
      await takeInOneByOne(batch, error);
    }
    onTaken?.();
  }

  async function takeInOneByOne(batch: Batch, cause: unknown): Promise<void> {
    log.error(
      { err: cause },
      'The store refused something from the journal. It is left out, and the rest is taken in.',
    );
    const accepted: Intake[] = [];
    for (const entry of batch.entries) {
      if (await holder.use((store) => store.wouldTake(entry))) accepted.push(entry);
    }
    await holder.use((store) => store.takeIn({ ...batch, entries: accepted }));
  }

  return {
    wake: () => schedule(GATHER_TIME),
    flush,
    adopt: (journal) =>
      turns.take(async () => {
        await moveAll({ ...journal, live: false }, () => undefined);
        removeJournal(journal.folder);
        await holder.use((store) => store.forgetJournal(journal.run));
      }),
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

function isSalt({ entry }: JournalEntry): boolean {
  return entry === 'salt';
}

interface Source {
  readonly run: string;
  /** Where its process ran; undefined for the environment of this one. */
  readonly environment: string | undefined;
  readonly folder: string;
  readonly live: boolean;
}
