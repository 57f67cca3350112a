import { closeSync, openSync, writeSync } from 'node:fs';
import { Hour } from '../../../shared/units.ts';
import type { Failure } from '../../engine/errors/failure.ts';
import type { CountRecord, JournalEntry } from '../ingest/journal-entry.ts';
import { COUNT_SLOT_BYTES, MAX_COUNT_SLOTS } from '../limits.ts';

/**
 * A file of counts whose size is limited. It has one slot per digest, hour and side, which is overwritten in
 * place. A slot is one journal line padded with spaces.
 */
export type CountSlots = ReturnType<typeof createCountSlots>;

interface Slot {
  readonly index: number;
  record: CountRecord;
}

/** @throws if the file cannot be created or the disk is full */
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
    /** Counts a failure. @returns false if all slots are in use, or the write was cut short */
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
  // A character of the title can take several bytes. If the record is too long, it loses the title.
  if (Buffer.byteLength(text) >= COUNT_SLOT_BYTES) {
    text = JSON.stringify({ ...entry, record: { ...record, title: '' } });
  }
  const bytes = Buffer.alloc(COUNT_SLOT_BYTES, ' ');
  bytes.write(text);
  bytes[COUNT_SLOT_BYTES - 1] = 0x0a;
  return bytes;
}
