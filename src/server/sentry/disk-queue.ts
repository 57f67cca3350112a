import { constants, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { MiB } from '../../shared/units.ts';
import { createSegmentedLog, dropLogSegments, type LogPosition, listLogSegments } from '../segmented-log.ts';

/** A segment of this size is closed, and the next one begins (bytes). */
const SEGMENT_BYTES = 1 * MiB;
/** The length and the checksum before a record (bytes). */
const HEADER_BYTES = 8;
/** Segment, offset and checksum (bytes). */
const CURSOR_BYTES = 20;

/** A record that is being sent. */
export interface QueuedRecord {
  readonly body: Buffer;
  /** The position where the record begins. */
  readonly at: LogPosition;
}

export interface DiskQueue {
  /** Bytes of the segments on the disk. */
  readonly bytes: number;
  /**
   * @returns false if the queue is full
   * @throws if the disk does not accept it; no part of it remains then
   */
  append(body: Buffer): boolean;
  /** Returns the next record in order; undefined if there is none until others are settled or appended. */
  next(): QueuedRecord | undefined;
  /** Marks a record as sent or given up, so that it is not read again. */
  settle(record: QueuedRecord): void;
}

/**
 * Creates a bounded queue in a folder that only this process uses. It reads one closed segment at a time, and deletes
 * it when all its records are settled. A cursor stores the position, so that a new process continues there.
 *
 * @throws if the folder cannot be created
 */
export function createDiskQueue(folder: string, maxBytes: number): DiskQueue {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const listSegments = () => listLogSegments(folder, /^(\d{12})\.(segment)$/);
  const cursorPath = join(folder, 'cursor');
  let cursor = readCursor(cursorPath);
  let cursorFile: number | undefined;
  dropLogSegments(listSegments(), cursor);
  const log = createSegmentedLog({
    toPath: (number) => join(folder, `${String(number).padStart(12, '0')}.segment`),
    earlier: listSegments(),
    after: cursor.segment,
  });
  /** The unread records of the current segment, in order. */
  let unread: QueuedRecord[] = [];
  const unsettled = new Set<QueuedRecord>();

  function readBytes(): number {
    return log.bytesAfter({ segment: cursor.segment, offset: 0 });
  }

  function readSegment(): void {
    for (const { number, path } of listSegments()) {
      if (number < cursor.segment) continue;
      // A segment that is being read must not grow.
      if (number === log.end.segment) log.rotate();
      unread = readRecords(path, { segment: number, offset: number === cursor.segment ? cursor.offset : 0 });
      for (const record of unread) unsettled.add(record);
      if (unread.length > 0) return;
      moveTo({ segment: number + 1, offset: 0 });
    }
  }

  function moveTo(next: LogPosition): void {
    const isNextSegment = next.segment > cursor.segment;
    cursor = next;
    try {
      cursorFile ??= openSync(cursorPath, constants.O_RDWR | constants.O_CREAT, 0o600);
      writeSync(cursorFile, toCursorBytes(cursor), 0, CURSOR_BYTES, 0);
    } catch {
      // The disk is full: after a restart, some records are sent twice.
    }
    if (isNextSegment) dropLogSegments(listSegments(), cursor);
  }

  return {
    get bytes() {
      return readBytes();
    },
    append(body) {
      if (readBytes() + HEADER_BYTES + body.length > maxBytes) return false;
      const header = Buffer.alloc(HEADER_BYTES);
      header.writeUInt32BE(body.length, 0);
      header.writeUInt32BE(crc32(body), 4);
      log.append(Buffer.concat([header, body]));
      if (log.end.offset >= SEGMENT_BYTES) log.rotate();
      return true;
    },
    next() {
      if (unsettled.size === 0) readSegment();
      return unread.shift();
    },
    settle(record) {
      unsettled.delete(record);
      const [first] = unsettled;
      moveTo(first?.at ?? { segment: record.at.segment + 1, offset: 0 });
    },
  };
}

/** Reads the records from a position on, up to the first damaged one. Returns none if the segment was removed. */
function readRecords(path: string, from: LogPosition): QueuedRecord[] {
  const bytes = readOrNothing(path);
  const records: QueuedRecord[] = [];
  let { offset } = from;
  while (offset + HEADER_BYTES <= bytes.length) {
    const length = bytes.readUInt32BE(offset);
    const body = bytes.subarray(offset + HEADER_BYTES, offset + HEADER_BYTES + length);
    // A power cut can leave zeros, whose checksum is valid.
    if (length === 0 || body.length < length || crc32(body) !== bytes.readUInt32BE(offset + 4)) break;
    records.push({ body, at: { segment: from.segment, offset } });
    offset += HEADER_BYTES + length;
  }
  return records;
}

/**
 * Starts at the beginning if the cursor is missing or torn. Records are then sent again, and recognized by their ids.
 */
function readCursor(path: string): LogPosition {
  const bytes = readOrNothing(path);
  const isValid = bytes.length === CURSOR_BYTES && crc32(bytes.subarray(0, 16)) === bytes.readUInt32BE(16);
  if (!isValid) return { segment: 0, offset: 0 };
  return { segment: Number(bytes.readBigUInt64BE(0)), offset: Number(bytes.readBigUInt64BE(8)) };
}

function toCursorBytes({ segment, offset }: LogPosition): Buffer {
  const bytes = Buffer.alloc(CURSOR_BYTES);
  bytes.writeBigUInt64BE(BigInt(segment), 0);
  bytes.writeBigUInt64BE(BigInt(offset), 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 16)), 16);
  return bytes;
}

function readOrNothing(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
