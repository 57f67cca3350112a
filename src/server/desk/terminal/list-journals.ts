import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type JournalPosition, listSegments } from '../segment-files.ts';

/** The journal of one process, dead or alive. */
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

/** What of a journal's lines was not taken in yet (bytes). */
export function countWaiting(folder: string, { segment, offset }: JournalPosition): number {
  return listSegments(folder)
    .filter(({ number, kind }) => kind === 'lines' && number >= segment)
    .reduce((sum, { number, path }) => sum + Math.max(0, sizeOf(path) - (number === segment ? offset : 0)), 0);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
