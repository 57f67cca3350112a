import { Millisecond, Second } from '../../../shared/units.ts';
import type { Failure } from '../../engine/errors/failure.ts';
import { FULL_PER_SECOND, MAX_JOURNAL_BYTES, SEGMENT_BYTES } from '../limits.ts';
import type { Signals } from '../worker/signals.ts';
import { type CountSlots, createCountSlots } from './count-slots.ts';
import { type JournalEntry, toSummary } from './journal-entry.ts';
import { createSegments, type LogPosition, type SegmentFiles } from './segments.ts';

/** Files in which this process's failures wait for the store. Each is written before its address leaves the process. */
export interface Journal {
  /**
   * Appends a failure with one system call. If it returns true, the failure survives a crash of this process.
   *
   * @returns false if it could not be written. The next failure is tried again
   */
  append(failure: Failure): boolean;
  /** Appends a page that all replicas have to render again. Also returns false if the journal is full. */
  appendRevalidation(path: string): boolean;
  /** The position of the next line. */
  readonly end: LogPosition;
  /** The size of unstored lines, including journals taken over from dead processes (bytes). */
  readonly waiting: number;
  /** Call it regularly. It ends counting when there is room again, and deletes what is stored. */
  settle(): void;
  /** Whether the last attempt to append failed. */
  readonly isFailing: boolean;
  /** Ends the journal. Nothing can be appended after that. */
  close(): void;
}

interface JournalOptions {
  /** The folder of this process. */
  readonly folder: string;
  /** Says how far the journal is stored. */
  readonly signals: Pick<Signals, 'position' | 'inherited'>;
  readonly log: { warn(message: string): void; error(fields: object, message: string): void };
  readonly limits?: Partial<JournalLimits>;
  readonly files?: SegmentFiles;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

export interface JournalLimits {
  readonly fullPerSecond: number;
  readonly segmentBytes: number;
  readonly maxBytes: number;
}

const LIMITS: JournalLimits = {
  fullPerSecond: FULL_PER_SECOND,
  segmentBytes: SEGMENT_BYTES,
  maxBytes: MAX_JOURNAL_BYTES,
};

/** The pause after a failed write (ms), so that a storm of failures does not retry each time. */
const RETRY_TIME = 100 * Millisecond;

const FULL =
  'The journal is full because the store is not accepting failures. Until it does, failures are only counted.';
const UNWRITABLE =
  'The journal cannot be written, so failures are only in the log until it can. Check whether the disk of DATA_DIR is full or read-only.';

export function createJournal(options: JournalOptions): Journal {
  const { folder, signals, log, files, now = () => performance.now() } = options;
  const limits = { ...LIMITS, ...options.limits };
  const lines = createSegments(folder, files);
  const rate = createRate(limits.fullPerSecond);
  let counts: CountSlots | undefined;
  let isFull = false;
  let isClosed = false;
  let isFailing = false;
  let retryAt = 0;

  function measure(): number {
    return lines.bytesAfter(signals.position) + signals.inherited;
  }

  /** Starts a new segment, so that the previous one can be deleted. */
  function rotate(): void {
    lines.rotate();
    counts?.close();
    counts = undefined;
    // Once full, it stays full until half of it is stored, because each change creates a file.
    isFull = measure() > limits.maxBytes / (isFull ? 2 : 1);
  }

  function attempt(write: () => boolean): boolean {
    if (isClosed || now() < retryAt) return false;
    try {
      if (lines.end.offset >= limits.segmentBytes && !isFull) {
        rotate();
        if (isFull) log.warn(FULL);
      }
      const isWritten = write();
      if (isWritten && isFailing) log.warn('The journal can be written again.');
      if (isWritten) isFailing = false;
      return isWritten;
    } catch (error) {
      retryAt = now() + RETRY_TIME;
      if (!isFailing) log.error({ err: error }, UNWRITABLE);
      isFailing = true;
      return false;
    }
  }

  function appendEntry(entry: JournalEntry): boolean {
    lines.append(Buffer.from(`${JSON.stringify(entry)}\n`));
    return true;
  }

  function count(failure: Failure): boolean {
    counts ??= createCountSlots(lines.reserve());
    return counts.add(failure);
  }

  return {
    get end() {
      return lines.end;
    },
    get isFailing() {
      return isFailing;
    },
    get waiting() {
      return measure();
    },
    append(failure) {
      const isEcho = failure.echoOf !== undefined;
      return attempt(() => {
        if (isFull) return isEcho || count(failure);
        // Browsers have a separate limit, so that strangers cannot reduce the detail of servers' failures.
        if (rate.take(`${failure.digest} ${failure.side}`, now())) return appendEntry({ entry: 'full', failure });
        // A summary has no `echoOf`, so an echo would count as a separate failure.
        return isEcho || appendEntry({ entry: 'summary', summary: toSummary(failure) });
      });
    },
    appendRevalidation: (path) => attempt(() => !isFull && appendEntry({ entry: 'revalidation', path })),
    settle() {
      if (isFull && measure() <= limits.maxBytes / 2) {
        rotate();
        log.warn('The journal has room again, so failures are recorded in full.');
      }
      if (!isClosed) lines.tidy(signals.position);
    },
    close() {
      rotate();
      isClosed = true;
    },
  };
}

/** Limits how many full entries a digest and side can have per second. */
function createRate(limit: number) {
  const counts = new Map<string, number>();
  let second = 0;
  return {
    take(key: string, now: number): boolean {
      const current = Math.floor(now / Second);
      if (current !== second) counts.clear();
      second = current;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count <= limit;
    },
  };
}
