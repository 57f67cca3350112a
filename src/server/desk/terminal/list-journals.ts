import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LogPosition } from '../../segmented-log.ts';
import { listSegments } from '../ingest/segment-files.ts';

/** The journal folder of one process, running or ended. */
export interface RunFolder {
  readonly run: string;
  readonly folder: string;
}

export function toJournals(dataDir: string): string {
  return join(dataDir, 'journal');
}

export function listRunFolders(dataDir: string): RunFolder[] {
  const journals = toJournals(dataDir);
  return readNames(journals).map((run) => ({ run, folder: join(journals, run) }));
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && /^[\w-]+$/.test(entry.name))
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

/** Counts the entries of a journal that are not in the store yet. */
export function countWaiting(folder: string, { segment, offset }: LogPosition): number {
  return listSegments(folder)
    .filter(({ number, extension }) => extension === 'ndjson' && number >= segment)
    .reduce((sum, { number, path }) => sum + countLines(path, number === segment ? offset : 0), 0);
}

/** Returns 0 for a missing file, because a server deletes segments that it has stored. */
function countLines(path: string, from: number): number {
  try {
    const bytes = readFileSync(path);
    let count = 0;
    for (let at = bytes.indexOf(0x0a, from); at >= 0; at = bytes.indexOf(0x0a, at + 1)) count += 1;
    return count;
  } catch {
    return 0;
  }
}
