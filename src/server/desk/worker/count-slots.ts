import { closeSync, openSync, writeSync } from 'node:fs';
import { Hour } from '../../../shared/units.ts';
import type { Failure } from '../../engine/errors/failure.ts';
import type { CountRecord, JournalEntry } from '../ingest/journal-entry.ts';
import { COUNT_SLOT_BYTES, MAX_COUNT_SLOTS } from '../limits.ts';

/**
 * A file that does not grow with what happens: one slot for each digest, hour and side, written over
 * in place. A slot is one line of a journal, filled up with spaces.
 */
export type CountSlots = ReturnType<typeof createCountSlots>;

interface Slot {
  readonly index: number;
  record: CountRecord;
}

/** @throws where the file cannot be made, or the disk has no room for it */
export function createCountSlots(path: string) {
  const file = openSync(path, 'wx', 0o600);
  const slots = new Map<string, Slot>();

  function take(key: string, failure: Failure): Slot | undefined {
    if (slots.size >= MAX_COUNT_SLOTS) return undefined;
    const slot = { index: slots.size, record: toEmptyRecord(failure) };
    slots.set(key, slot);
    return slot;
  }

  return {
    /** @returns false where all slots are taken */
    add(failure: Failure): boolean {
      const key = `${failure.digest} ${failure.side} ${Math.floor(failure.at / Hour)}`;
      const slot = slots.get(key) ?? take(key, failure);
      if (!slot) return false;
      const record = { ...slot.record, lastAt: failure.at, count: slot.record.count + 1 };
      const bytes = toSlotBytes(record);
      if (writeSync(file, bytes, 0, bytes.length, slot.index * COUNT_SLOT_BYTES) < bytes.length) return false;
      slot.record = record;
      return true;
    },
    close: () => closeSync(file),
  };
}

function toEmptyRecord({ digest, side, kind, title, build, release, at }: Failure): CountRecord {
  return { digest, side, kind, title, build, release, firstAt: at, lastAt: at, count: 0 };
}

function toSlotBytes(record: CountRecord): Buffer {
  const entry: JournalEntry = { entry: 'count', record };
  let text = JSON.stringify(entry);
  // A title may take several bytes a character: it is for display, and goes first.
  if (Buffer.byteLength(text) >= COUNT_SLOT_BYTES) {
    text = JSON.stringify({ ...entry, record: { ...record, title: '' } });
  }
  const bytes = Buffer.alloc(COUNT_SLOT_BYTES, ' ');
  bytes.write(text);
  bytes[COUNT_SLOT_BYTES - 1] = 0x0a;
  return bytes;
}
