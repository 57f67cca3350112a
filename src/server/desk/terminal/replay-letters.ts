import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJournalLine } from '../ingest/journal-entry.ts';
import { toSegmentPath } from '../ingest/segment-files.ts';
import { type DeadLetterLine, toDeadLetterFile } from '../worker/dead-letters.ts';
import { writeHeartbeatFile } from '../worker/processes/heartbeat-file.ts';
import { toJournals } from './list-journals.ts';

/**
 * Turns the dead-letter file into journals of ended processes, one for each environment. They are then stored as usual.
 * Entries that the store refuses again are written to a new dead-letter file.
 *
 * @param now milliseconds since 1970
 * @returns the number of entries
 */
export function toJournalsOfLetters(dataDir: string, now: number): number {
  const file = toDeadLetterFile(dataDir);
  const taken = `${file}.replaying`;
  // If this file exists, an earlier command was killed before it had written the journals.
  if (!existsSync(taken) && existsSync(file)) renameSync(file, taken);
  if (!existsSync(taken)) return 0;
  const letters = readFileSync(taken, 'utf8')
    .split('\n')
    .flatMap((line) => readLetter(line) ?? []);
  const groups = [...Map.groupBy(letters, ({ environment }) => environment)];
  for (const [index, [environment, group]] of groups.entries()) {
    const run = `replay-${now.toString(36)}-${index}`;
    writeJournal(toJournals(dataDir), { run, environment, now }, group);
  }
  rmSync(taken);
  return letters.length;
}

/** @returns undefined for a line that `forget` blanked or that is cut off */
function readLetter(line: string): DeadLetterLine | undefined {
  // The file is written by `createDeadLetters`, which adds the rest to each entry.
  return parseJournalLine(line) as DeadLetterLine | undefined;
}

function writeJournal(
  journals: string,
  { run, environment, now }: { readonly run: string; readonly environment: string; readonly now: number },
  letters: readonly DeadLetterLine[],
): void {
  const folder = join(journals, run);
  // With this name it is not a journal yet.
  const unfinished = `${folder}.part`;
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  const lines = letters.map(({ at: _at, reason: _reason, environment: _environment, ...entry }) => {
    return `${JSON.stringify(entry)}\n`;
  });
  writeFileSync(toSegmentPath(unfinished, 1, 'ndjson'), lines.join(''), { mode: 0o600 });
  const life = { startedAt: now, beatAt: now, memory: 0, inFlight: [] };
  // Marked as a regular end, so that no unclean death is reported.
  writeHeartbeatFile(unfinished, { id: run, build: '', release: '', environment, ...life, isEnd: true });
  renameSync(unfinished, folder);
}
