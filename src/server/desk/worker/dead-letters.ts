import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Count } from '../../engine/monitoring/count.ts';
import type { DeskLog } from '../desk-log.ts';
import type { JournalEntry } from '../ingest/journal-entry.ts';
import { MAX_DEAD_LETTER_BYTES } from '../limits.ts';

/** An entry of a journal that the store keeps refusing. */
export interface DeadLetter {
  /** When it was given up (ms since 1970). */
  readonly at: number;
  /** The message of the database. */
  readonly reason: string;
  readonly entry: JournalEntry;
}

/** A line of the file: that of the journal, and why it is here. */
export type DeadLetterLine = JournalEntry & Omit<DeadLetter, 'entry'> & { readonly environment: string };

export type DeadLetters = ReturnType<typeof createDeadLetters>;

interface DeadLettersOptions {
  readonly dataDir: string;
  /** Of this process. */
  readonly environment: string;
  readonly count: Count;
  readonly log: DeskLog;
  readonly maxBytes?: number;
}

export function toDeadLetterFile(dataDir: string): string {
  return join(dataDir, 'dead-letters.ndjson');
}

/** Keeps entries for people to look at, and for `desk replay`. Past the bound new ones are only counted. */
export function createDeadLetters(options: DeadLettersOptions) {
  const { dataDir, environment: own, count, log, maxBytes = MAX_DEAD_LETTER_BYTES } = options;
  const path = toDeadLetterFile(dataDir);
  let isLogged = false;
  let isFullLogged = false;

  /** @returns how many lines had room */
  function append(lines: readonly string[]): number {
    const file = openSync(path, 'a', 0o600);
    try {
      let room = maxBytes - fstatSync(file).size;
      let kept = 0;
      for (const line of lines) {
        room -= Buffer.byteLength(line);
        if (room < 0) break;
        kept += 1;
      }
      const bytes = Buffer.from(lines.slice(0, kept).join(''));
      if (kept > 0 && writeSync(file, bytes) < bytes.length) throw new Error('The disk took only a part of it.');
      return kept;
    } finally {
      closeSync(file);
    }
  }

  function noteKept(kept: number, reason: string): void {
    count('spillway_dead_letters_total', { outcome: 'kept' }, kept);
    if (isLogged) return;
    isLogged = true;
    log.error(
      { file: path, reason },
      'The store keeps refusing entries of the journal. They are in dead-letters.ndjson, each with the reason, and everything else continues. Fix the reason, then run: npm run desk -- replay',
    );
  }

  function noteDropped(dropped: number): void {
    count('spillway_dead_letters_total', { outcome: 'dropped' }, dropped);
    if (isFullLogged) return;
    isFullLogged = true;
    log.error({ file: path }, 'dead-letters.ndjson is full. Further entries that the store refuses are only counted.');
  }

  return {
    /** @param environment where it happened; the one of this process by default */
    add(all: readonly DeadLetter[], environment = own): void {
      // A salt is a secret for two days, and of no use later.
      const letters = all.filter(({ entry }) => entry.entry !== 'salt');
      const [first] = letters;
      if (!first) return;
      try {
        const kept = append(letters.map((letter) => toLine(letter, environment)));
        if (kept > 0) noteKept(kept, first.reason);
        if (kept < letters.length) noteDropped(letters.length - kept);
      } catch (error) {
        count('spillway_dead_letters_total', { outcome: 'dropped' }, letters.length);
        // As where the journal itself cannot be written: then the log has all of it.
        for (const letter of letters) {
          log.error({ err: error, ...letter }, 'An entry of the journal can neither be stored nor be kept in a file.');
        }
      }
    },
  };
}

function toLine({ at, reason, entry }: DeadLetter, environment: string): string {
  const line: DeadLetterLine = { ...entry, at, reason, environment };
  return `${JSON.stringify(line)}\n`;
}
