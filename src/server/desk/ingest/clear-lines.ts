import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { LogPosition } from '../../segmented-log.ts';
import { type JournalEntry, parseJournalLine } from './journal-entry.ts';
import { listSegments } from './segment-files.ts';

type IsGone = (entry: JournalEntry) => boolean;

/**
 * Overwrites journal entries that are already stored with blanks. Without that, their lines would stay on
 * the disk until their segment is full. The process that writes the journal only appends to it, so it is
 * not disturbed.
 *
 * @param next the position up to which the journal is stored
 */
export function clearTaken(folder: string, next: LogPosition, isGone: IsGone): void {
  for (const { path, extension, number } of listSegments(folder)) {
    if (extension !== 'ndjson' || number > next.segment) continue;
    clearLines(path, isGone, number === next.segment ? next.offset : Number.POSITIVE_INFINITY);
  }
}

/**
 * Overwrites entries of a file that has one entry per line with blanks. Other processes can append to it at
 * the same time.
 *
 * @param end lines after this offset stay (bytes)
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

/** Returns undefined if the file is gone, because a running server deletes segments. */
function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
