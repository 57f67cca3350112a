import { rmSync } from 'node:fs';
import { Millisecond, Second } from '../../../shared/units.ts';
import type { Failure } from '../../engine/errors/failure.ts';
import type { Feedback } from '../../reports/feedback/feedback.ts';
import type { Salt } from '../../reports/tunnel/visitors.ts';
import { createSegmentedLog, type LogFiles, type LogPosition, type SegmentedLog } from '../../segmented-log.ts';
import { MAX_JOURNAL_BYTES, SEGMENT_BYTES, WHOLE_PER_SECOND } from '../limits.ts';
import { type CountSlots, createCountSlots } from '../worker/count-slots.ts';
import type { Signals } from '../worker/signals.ts';
import { type JournalEntry, toThin } from './journal-entry.ts';
import { toSegmentPath } from './segment-files.ts';

/** Files in which this process's failures wait for the store. Each is written before its address leaves the process. */
export interface Journal {
  /**
   * Appends a failure with one system call. If it returns true, the failure survives a crash of this process.
   *
   * @returns false if it could not be written. The next failure is tried again
   */
  append(failure: Failure, sameVisitor?: readonly string[]): boolean;
  /** Appends feedback. Also returns false if the journal is full. */
  appendFeedback(feedback: Feedback): boolean;
  /** Appends a salt of this process. Call it before you append anything that the salt hashed. */
  appendSalt(salt: Salt): boolean;
  /** The position of the next line. */
  readonly end: LogPosition;
  /** The size of unstored lines, including journals taken over from dead processes (bytes). */
  readonly waiting: number;
  /** Starts a new segment, so that the previous one can be deleted. */
  rotate(): void;
  /** Call it regularly. It ends counting when there is room again, and notices files that were removed. */
  settle(): void;
  /** Whether the last attempt to append failed. */
  readonly isFailing: boolean;
  /** Ends the journal. Nothing can be appended after that. */
  close(): void;
}

export interface JournalOptions {
  /** The folder of this process. */
  readonly folder: string;
  /** Says how far the journal is stored. */
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
      // Browsers have a separate limit, so that strangers cannot reduce the detail of servers' failures.
      const isWhole = this.#wholes.take(`${failure.digest} ${failure.side}`, this.#now());
      // A summary has no `echoOf`, so an echo would count as a separate failure.
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
      this.#options.log.warn('The journal has room again, so failures are recorded in full.');
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

  /** Once full, it stays full until half of it is stored, because each change creates a file. */
  #isFull(): boolean {
    return this.waiting > this.#limits.maxBytes / (this.#full ? 2 : 1);
  }

  #fail(error: unknown): void {
    this.#retryAt = this.#now() + RETRY_TIME;
    if (this.#failing) return;
    this.#failing = true;
    this.#options.log.error(
      { err: error },
      'The journal cannot be written, so failures are only in the log until it can. Check whether the disk of DATA_DIR is full or read-only.',
    );
  }

  #recover(): void {
    this.#failing = false;
    this.#options.log.warn('The journal can be written again.');
  }
}

/** The pause after a failed write (ms), so that a storm of failures does not retry each time. */
const RETRY_TIME = 100 * Millisecond;

const FULL =
  'The journal is full because the store is not accepting failures. Until it does, failures are only counted.';

/** Limits how many full entries a digest and side can have per second. */
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

/** Removes the journal of a process once all of it is stored. */
export function removeJournal(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
