import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { type JournalEntry, parseJournalLine } from '../journal-entry.ts';
import { type JournalPosition, listSegments, type Segment } from '../segment-files.ts';
import { listRunFolders } from './list-journals.ts';

export interface ClearOptions {
  readonly dataDir: string;
  /** How far the store has taken a journal in. */
  readonly readPosition: (run: string) => Promise<JournalPosition>;
  readonly isGone: (entry: JournalEntry) => boolean;
}

/**
 * Writes blanks over lines of journals that were taken in, which stand there until their segment is
 * full. A running server only appends, and reads no line twice, so that it need not know. What was not
 * taken in is left: the store counts it, and leaves out the rest.
 */
export async function clearJournals({ dataDir, readPosition, isGone }: ClearOptions): Promise<void> {
  for (const { run, folder } of listRunFolders(dataDir)) {
    const { segment: current, offset } = await readPosition(run);
    for (const segment of listSegments(folder)) {
      if (segment.kind !== 'lines' || segment.number > current) continue;
      clearSegment(segment, segment.number === current ? offset : Number.POSITIVE_INFINITY, isGone);
    }
  }
}

/** @param end where what was taken in ends (bytes) */
function clearSegment({ path }: Segment, end: number, isGone: (entry: JournalEntry) => boolean): void {
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

/** A server that goes on deletes what is full. */
function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
