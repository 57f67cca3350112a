import type { Failure } from '#engine/tracker';
import { Millisecond, Second } from '../../../shared/units.ts';
import { FULL_PER_SECOND, MAX_JOURNAL_BYTES, SEGMENT_BYTES } from '../desk-limits.ts';
import type { DeskLog } from '../desk-log.ts';
import { type JournalEntry, toSummary } from './journal-entry.ts';
import { createSegments, type SegmentFiles } from './segments.ts';
import type { Signals } from './signals.ts';

interface JournalOptions {
  /** The folder of this process. */
  readonly folder: string;
  /** Says how far the journal is stored. */
  readonly signals: Pick<Signals, 'position' | 'inherited'>;
  readonly log: Pick<DeskLog, 'warn' | 'error'>;
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
const WRITE_RETRY_PAUSE = 100 * Millisecond;

const UNWRITABLE =
  'The journal cannot be written, so failures are only in the log until it can. Check whether the disk of DATA_DIR is full or read-only, and whether the store of the desk accepts failures.';

/** Files in which this process's failures wait for the store. Each is written before its address leaves the process. */
export function createJournal(options: JournalOptions) {
  const { folder, signals, log, files, now = () => performance.now() } = options;
  const limits = { ...LIMITS, ...options.limits };
  const lines = createSegments(folder, files);
  const rate = createRate(limits.fullPerSecond);
  let isClosed = false;
  let isFailing = false;
  let retryAt = 0;

  function measure(): number {
    return lines.bytesAfter(signals.position) + signals.inherited;
  }

  /** Browsers have their own limits, so that strangers take neither room nor detail from servers' failures. */
  function hasRoomFor({ side }: Failure): boolean {
    return side === 'server' || measure() <= limits.maxBytes / 2;
  }

  function append(entry: JournalEntry): boolean {
    if (isClosed || now() < retryAt) return false;
    try {
      // A full segment ends, so that it can be deleted.
      if (lines.end.offset >= limits.segmentBytes) {
        if (measure() > limits.maxBytes) throw new Error('The journal is full, because the store accepts no failures.');
        lines.rotate();
      }
      lines.append(Buffer.from(`${JSON.stringify(entry)}\n`));
      if (isFailing) log.warn({}, 'The journal can be written again.');
      isFailing = false;
      return true;
    } catch (error) {
      retryAt = now() + WRITE_RETRY_PAUSE;
      if (!isFailing) log.error({ err: error }, UNWRITABLE);
      isFailing = true;
      return false;
    }
  }

  return {
    /** The position of the next line. */
    get end() {
      return lines.end;
    },
    /** Whether the last attempt to append failed. */
    get isFailing() {
      return isFailing;
    },
    /** The size of unstored lines, including journals taken over from dead processes (bytes). */
    get waiting() {
      return measure();
    },
    /**
     * Appends a failure with one system call. If it returns true, the failure survives a crash of this process.
     *
     * @returns false if it could not be written, or there is no room for it. The next failure is tried again
     */
    append(failure: Failure): boolean {
      if (!hasRoomFor(failure)) return false;
      if (rate.take(`${failure.digest} ${failure.side}`, now())) return append({ entry: 'full', failure });
      // A summary has no `echoOf`, so an echo would count as a separate failure.
      return failure.echoOf !== undefined || append({ entry: 'summary', summary: toSummary(failure) });
    },
    /** Appends a page that all replicas have to render again. */
    appendRevalidation: (path: string): boolean => append({ entry: 'revalidation', path }),
    /** Call it regularly. It deletes what is stored. */
    settle() {
      if (!isClosed) lines.tidy(signals.position);
    },
    /** Ends the journal. Nothing can be appended after that. */
    close() {
      lines.rotate();
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
