import { closeSync, openSync, writeSync } from 'node:fs';
import { Hour } from '../../../shared/units.ts';
import type { Failure } from '../../engine/errors/failure.ts';
import { COUNT_SLOT_BYTES, MAX_COUNT_SLOTS } from '../limits.ts';
import type { CountRecord, JournalEntry } from './journal-entry.ts';

/**
 * A file of counts whose size is limited, for a journal that is full. It has one slot per digest, hour and side, which is
 * overwritten in place. A slot is one journal line padded with spaces.
 */
export type CountSlots = ReturnType<typeof createCountSlots>;

/** @throws if the file cannot be created or the disk is full */
export function createCountSlots(path: string) {
  const file = openSync(path, 'wx', 0o600);
  const slots = new Map<string, { readonly index: number; record: CountRecord }>();

  return {
    /** Counts a failure. @returns false if all slots are in use, or the write was cut short */
    add(failure: Failure): boolean {
      const key = `${failure.digest} ${failure.side} ${Math.floor(failure.at / Hour)}`;
      const slot = slots.get(key) ?? { index: slots.size, record: toEmptyRecord(failure) };
      if (slot.index >= MAX_COUNT_SLOTS) return false;
      const record = { ...slot.record, lastAt: failure.at, count: slot.record.count + 1 };
      const bytes = toSlotBytes(record);
      if (writeSync(file, bytes, 0, bytes.length, slot.index * COUNT_SLOT_BYTES) < bytes.length) return false;
      slots.set(key, { ...slot, record });
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
