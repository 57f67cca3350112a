import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { LogPosition } from '../../segmented-log.ts';
import { type JournalEntry, parseJournalLine } from './journal-entry.ts';
import { listSegments } from './segment-files.ts';

type IsGone = (entry: JournalEntry) => boolean;

/**
 * Writes blanks over entries of a journal that are in the store already: their lines stay on the disk
 * until their segment is full. Its process only appends and reads no line twice, so it need not know.
 *
 * @param next where the store takes the journal in from
 */
export function clearTaken(folder: string, next: LogPosition, isGone: IsGone): void {
  for (const { path, extension, number } of listSegments(folder)) {
    if (extension !== 'ndjson' || number > next.segment) continue;
    clearLines(path, isGone, number === next.segment ? next.offset : Number.POSITIVE_INFINITY);
  }
}

/**
 * Writes blanks over entries of a file with one in each line. Others may append to it at the same time.
 *
 * @param end where the last line ends that may go (bytes)
 */
export function clearLines(path: string, isGone: IsGone, end = Number.POSITIVE_INFINITY): void {
  const bytes = readIfThere(path);
  if (!bytes) return;
  const places: { readonly at: number; readonly length: number }[] = [];
  let at = 0;
  for (;;) {
    const newline = bytes.indexOf(0x0a, at);
    if (newline < 0 || newline >= end) break;
    const entry = parseJournalLine(bytes.toString('utf8', at, newline));
    if (entry && isGone(entry)) places.push({ at, length: newline - at });
    at = newline + 1;
  }
  if (places.length === 0) return;
  const file = openSync(path, 'r+');
  try {
    for (const place of places) writeSync(file, Buffer.alloc(place.length, ' '), 0, place.length, place.at);
  } finally {
    closeSync(file);
  }
}

/** A server that runs deletes what is full. */
function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
