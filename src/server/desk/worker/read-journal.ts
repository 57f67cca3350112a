import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { dropLogSegments, type LogPosition, type LogSegment } from '../../segmented-log.ts';
import { type JournalEntry, parseJournalLine } from '../ingest/journal-entry.ts';
import { listSegments } from '../ingest/segment-files.ts';

export interface JournalPiece {
  readonly entries: readonly JournalEntry[];
  readonly next: LogPosition;
  /** Lines that are no entries: a process was killed in the middle of one (a count). */
  readonly skipped: number;
}

interface ReadJournalOptions {
  readonly folder: string;
  readonly from: LogPosition;
  /** Its process lives: the last segment may still grow. */
  readonly live: boolean;
  /** How much is read at once (bytes); more if a line is longer. */
  readonly maxBytes: number;
}

/** @returns undefined where there is nothing more to read */
export function readJournal(options: ReadJournalOptions): JournalPiece | undefined {
  // Listed before anything is read: a segment with another behind it has its last line.
  const segments = listSegments(options.folder).filter(({ number }) => number >= options.from.segment);
  const [segment] = segments;
  if (!segment) return undefined;
  const isOpen = options.live && segments.length === 1;
  if (segment.extension === 'counts') return isOpen ? undefined : readCounts(segment);
  return readLines(segment, isOpen, options);
}

/** Deletes the segments that were taken in whole. */
export function dropSegments(folder: string, next: LogPosition): void {
  dropLogSegments(listSegments(folder), next);
}

function readCounts(segment: LogSegment): JournalPiece {
  const bytes = readBytes(segment.path, 0, Number.MAX_SAFE_INTEGER);
  return { ...parseLines(bytes), next: { segment: segment.number + 1, offset: 0 } };
}

function readLines(segment: LogSegment, isOpen: boolean, options: ReadJournalOptions): JournalPiece | undefined {
  const offset = segment.number === options.from.segment ? options.from.offset : 0;
  const { maxBytes } = options;
  const bytes = readBytes(segment.path, offset, maxBytes);
  const end = bytes.lastIndexOf(0x0a) + 1;
  if (end > 0) {
    return { ...parseLines(bytes.subarray(0, end)), next: { segment: segment.number, offset: offset + end } };
  }
  // A line that is longer than what was read at once.
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

function readBytes(path: string, offset: number, maxBytes: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const length = Math.max(0, Math.min(maxBytes, fstatSync(file).size - offset));
    const buffer = Buffer.allocUnsafe(length);
    return buffer.subarray(0, readSync(file, buffer, 0, length, offset));
  } finally {
    closeSync(file);
  }
}
