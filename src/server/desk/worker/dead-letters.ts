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
  /** The error message of the database. */
  readonly reason: string;
  readonly entry: JournalEntry;
}

/** A line of the file: the journal entry, and why it is here. */
export type DeadLetterLine = JournalEntry & Omit<DeadLetter, 'entry'> & { readonly environment: string };

export type DeadLetters = ReturnType<typeof createDeadLetters>;

interface DeadLettersOptions {
  readonly dataDir: string;
  /** The environment of this process. */
  readonly environment: string;
  readonly count: Count;
  readonly log: DeskLog;
  readonly maxBytes?: number;
}

export function toDeadLetterFile(dataDir: string): string {
  return join(dataDir, 'dead-letters.ndjson');
}

/** Writes refused entries to a file for operators and `desk replay`. Past the size limit, they are only counted. */
export function createDeadLetters(options: DeadLettersOptions) {
  const { dataDir, environment: own, count, log, maxBytes = MAX_DEAD_LETTER_BYTES } = options;
  const path = toDeadLetterFile(dataDir);
  let isLogged = false;
  let isFullLogged = false;

  /** @returns the number of lines that had room */
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
      'The store keeps refusing entries of the journal. Spillway moved them to dead-letters.ndjson, each with the reason. Everything else continues. Fix the reason, then run: npm run desk -- replay',
    );
  }

  function noteDropped(dropped: number): void {
    count('spillway_dead_letters_total', { outcome: 'dropped' }, dropped);
    if (isFullLogged) return;
    isFullLogged = true;
    log.error(
      { file: path },
      'dead-letters.ndjson is full, so further entries that the store refuses are only counted. Fix the reason, then run: npm run desk -- replay',
    );
  }

  return {
    /** @param environment the environment of the entries. That of this process by default */
    add(all: readonly DeadLetter[], environment = own): void {
      // Salts are left out: they are secret for two days, and useless after that.
      const letters = all.filter(({ entry }) => entry.entry !== 'salt');
      const [first] = letters;
      if (!first) return;
      try {
        const kept = append(letters.map((letter) => toLine(letter, environment)));
        if (kept > 0) noteKept(kept, first.reason);
        if (kept < letters.length) noteDropped(letters.length - kept);
      } catch (error) {
        count('spillway_dead_letters_total', { outcome: 'dropped' }, letters.length);
        // Logs the whole entry, as when the journal itself cannot be written.
        for (const letter of letters) {
          log.error(
            { err: error, ...letter },
            'A journal entry could be written neither to the store nor to dead-letters.ndjson. It is only in this log line.',
          );
        }
      }
    },
  };
}

function toLine({ at, reason, entry }: DeadLetter, environment: string): string {
  const line: DeadLetterLine = { ...entry, at, reason, environment };
  return `${JSON.stringify(line)}\n`;
}
