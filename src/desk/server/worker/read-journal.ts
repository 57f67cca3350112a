import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { type JournalEntry, parseJournalLine } from '../ingest/journal-entry.ts';
import { type LogPosition, listSegments, type Segment } from '../ingest/segments.ts';

export interface JournalPiece {
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
export function readJournal(options: ReadJournalOptions): JournalPiece | undefined {
  // Listed before anything is read, because a segment that is followed by another one is complete.
  const segments = listSegments(options.folder).filter(({ number }) => number >= options.from.segment);
  const [segment] = segments;
  if (!segment) return undefined;
  const isOpen = options.live && segments.length === 1;
  return readLines(segment, isOpen, options);
}

function readLines(segment: Segment, isOpen: boolean, options: ReadJournalOptions): JournalPiece | undefined {
  const offset = segment.number === options.from.segment ? options.from.offset : 0;
  const { maxBytes } = options;
  const bytes = readBytes(segment.path, offset, maxBytes);
  const end = bytes.lastIndexOf(0x0a) + 1;
  if (end > 0) {
    return { ...parseLines(bytes.subarray(0, end)), next: { segment: segment.number, offset: offset + end } };
  }
  // The line is longer than `maxBytes`.
  if (bytes.length === maxBytes) return readLines(segment, isOpen, { ...options, maxBytes: maxBytes * 2 });
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
  if (!existsSync(path)) return Buffer.alloc(0);
  const file = openSync(path, 'r');
  try {
    const length = Math.max(0, Math.min(maxBytes, fstatSync(file).size - offset));
    const buffer = Buffer.allocUnsafe(length);
    return buffer.subarray(0, readSync(file, buffer, 0, length, offset));
  } finally {
    closeSync(file);
  }
}
