import { rmSync } from 'node:fs';
import { Millisecond, Second } from '../../../shared/units.ts';
import type { Failure } from '../../engine/errors/failure.ts';
import { createSegmentedLog, type LogFiles, type LogPosition, type SegmentedLog } from '../../segmented-log.ts';
import { MAX_JOURNAL_BYTES, SEGMENT_BYTES, WHOLE_PER_SECOND } from '../limits.ts';
import { type CountSlots, createCountSlots } from '../worker/count-slots.ts';
import type { Signals } from '../worker/signals.ts';
import { type Feedback, type JournalEntry, type Salt, toThin } from './journal-entry.ts';
import { toSegmentPath } from './segment-files.ts';

/** Where failures wait for the store: a file of this process alone, written before an address leaves it. */
export interface Journal {
  /**
   * Appends with one call of the system. What it returned true for outlives this process.
   *
   * @returns false where it could not be written; it is tried anew with the next failure
   */
  append(failure: Failure, sameVisitor?: readonly string[]): boolean;
  /** The same of what a visitor said; false too where the journal is full. */
  appendFeedback(feedback: Feedback): boolean;
  /** The same of a salt that was made here: to be called before anything that it hashed is appended. */
  appendSalt(salt: Salt): boolean;
  /** Where the next line will stand: all before it was appended. */
  readonly end: LogPosition;
  /** What is not in the store yet, of this process and of dead ones whose journals it has (bytes). */
  readonly waiting: number;
  /** Goes on in a new segment, so that the one before it can be deleted. */
  rotate(): void;
  /** To be called now and then: ends counting alone when there is room again, and notices files that were taken away. */
  settle(): void;
  /** The last try to append failed. */
  readonly isFailing: boolean;
  /** Nothing can be appended any more. */
  close(): void;
}

export interface JournalOptions {
  /** The folder of this run. */
  readonly folder: string;
  /** Tells how far it was taken in, and is told where it goes on. */
  readonly signals: Pick<Signals, 'position' | 'inherited'>;
  readonly log: { warn(message: string): void; error(fields: object, message: string): void };
  readonly limits?: Partial<JournalLimits>;
  readonly files?: LogFiles;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

export interface JournalLimits {
  readonly wholePerSecond: number;
  readonly segmentBytes: number;
  readonly maxBytes: number;
}

const defaults: JournalLimits = {
  wholePerSecond: WHOLE_PER_SECOND,
  segmentBytes: SEGMENT_BYTES,
  maxBytes: MAX_JOURNAL_BYTES,
};

export function createJournal(options: JournalOptions): Journal {
  return new SegmentedJournal(options);
}

class SegmentedJournal implements Journal {
  readonly #options: JournalOptions;
  readonly #limits: JournalLimits;
  readonly #lines: SegmentedLog;
  readonly #now: () => number;
  readonly #wholes: WholeRate;
  #counts: CountSlots | undefined;
  #full = false;
  #closed = false;
  #failing = false;
  #retryAt = 0;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#limits = { ...defaults, ...options.limits };
    this.#lines = createSegmentedLog({
      toPath: (number) => toSegmentPath(options.folder, number, 'ndjson'),
      ...(options.files && { files: options.files }),
    });
    this.#now = options.now ?? (() => performance.now());
    this.#wholes = new WholeRate(this.#limits.wholePerSecond);
  }

  get end(): LogPosition {
    return this.#lines.end;
  }

  get isFailing(): boolean {
    return this.#failing;
  }

  get waiting(): number {
    const { position, inherited } = this.#options.signals;
    return this.#lines.bytesAfter(position) + inherited;
  }

  append(failure: Failure, sameVisitor?: readonly string[]): boolean {
    return this.#try(() => {
      if (this.#full) return failure.echoOf !== undefined || this.#count(failure);
      // Browsers apart: what strangers send must not thin what servers saw.
      const isWhole = this.#wholes.take(`${failure.digest} ${failure.side}`, this.#now());
      // Without the rest of it, an echo would count as a failure of its own.
      if (!isWhole && failure.echoOf !== undefined) return true;
      return this.#appendEntry(
        isWhole ? { entry: 'whole', failure, sameVisitor } : { entry: 'thin', thin: toThin(failure), sameVisitor },
      );
    });
  }

  appendFeedback(feedback: Feedback): boolean {
    return this.#try(() => !this.#full && this.#appendEntry({ entry: 'feedback', feedback }));
  }

  appendSalt(salt: Salt): boolean {
    return this.#try(() => !this.#full && this.#appendEntry({ entry: 'salt', salt }));
  }

  #try(append: () => boolean): boolean {
    if (this.#closed || this.#now() < this.#retryAt) return false;
    try {
      if (this.end.offset >= this.#limits.segmentBytes && !this.#full) this.#goOn();
      const appended = append();
      if (appended && this.#failing) this.#recover();
      return appended;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  rotate(): void {
    this.#lines.rotate();
    this.#counts?.close();
    this.#counts = undefined;
    this.#full = this.#isFull();
  }

  settle(): void {
    if (this.#full && !this.#isFull()) {
      this.rotate();
      this.#options.log.warn('There is room in the journal again: failures are kept whole.');
    }
    if (!this.#lines.isInPlace) this.rotate();
  }

  close(): void {
    this.rotate();
    this.#closed = true;
  }

  #goOn(): void {
    this.rotate();
    if (this.#full) this.#options.log.warn(FULL);
  }

  #appendEntry(entry: JournalEntry): boolean {
    this.#lines.append(Buffer.from(`${JSON.stringify(entry)}\n`));
    return true;
  }

  #count(failure: Failure): boolean {
    this.#counts ??= createCountSlots(toSegmentPath(this.#options.folder, this.#lines.skip(), 'counts'));
    return this.#counts.add(failure);
  }

  /** Once full, it stays so until half of it was taken in: each change costs a file. */
  #isFull(): boolean {
    return this.waiting > this.#limits.maxBytes / (this.#full ? 2 : 1);
  }

  #fail(error: unknown): void {
    this.#retryAt = this.#now() + RETRY_TIME;
    if (this.#failing) return;
    this.#failing = true;
    this.#options.log.error(
      { err: error },
      'The journal cannot be written, so failures stand in the log alone until it can. Look at the disk of DATA_DIR: is it full, or read-only?',
    );
  }

  #recover(): void {
    this.#failing = false;
    this.#options.log.warn('The journal can be written again.');
  }
}

/** A disk that refuses is not asked again by each failure of a storm (ms). */
const RETRY_TIME = 100 * Millisecond;

const FULL =
  'The journal is full, because the store takes nothing in: of failures no more than their number is kept until it does.';

/** Tells whether a digest of one side may still be written whole in this second. */
class WholeRate {
  readonly #limit: number;
  readonly #counts = new Map<string, number>();
  #second = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  take(key: string, now: number): boolean {
    const second = Math.floor(now / Second);
    if (second !== this.#second) {
      this.#second = second;
      this.#counts.clear();
    }
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count <= this.#limit;
  }
}

/** What a run leaves when everything of it was taken in. */
export function removeJournal(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
