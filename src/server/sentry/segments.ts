import {
  closeSync,
  constants,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { KiB, MiB } from '../../shared/units.ts';

/** A file that has grown to this is closed, and the next one begun (bytes). */
const SEGMENT_BYTES = 1 * MiB;
/** A file whose records are all settled is given up from this size on (bytes): a new one for each record would cost more than the record. */
const WORN_BYTES = 256 * KiB;
/** Length and checksum in front of a record (bytes). */
const HEADER_BYTES = 8;
/** Segment, offset and checksum (bytes). */
const CURSOR_BYTES = 20;

/** One record on its way out. */
export interface Entry {
  readonly body: Buffer;
  readonly segment: number;
  /** Where the next record begins. */
  readonly end: number;
  settled: boolean;
}

interface Segment {
  readonly number: number;
  /** Bytes in the file. */
  size: number;
  /** Where no further record can be: a torn one follows, left by a process that was killed. */
  end?: number;
}

/**
 * Records in files of a folder, in the order in which they came. Each is appended with one `write`,
 * so that it outlives the process; a cursor says up to where they are settled, so that a new process
 * goes on there. The folder belongs to one process at a time.
 */
export class Segments {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #segments: Segment[];
  readonly #unsettled: Entry[] = [];
  #bytes: number;
  #writing: { readonly segment: Segment; readonly file: number } | undefined;
  #reading: { readonly segment: Segment; readonly file: number; offset: number } | undefined;
  #cursor: { segment: number; offset: number };
  #cursorFile: number | undefined;

  /** @throws where the folder cannot be made or read */
  constructor(folder: string, maxBytes: number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#cursor = this.#readCursor();
    this.#segments = readdirSync(folder)
      .flatMap((name) => /^(\d{12})\.segment$/.exec(name)?.[1] ?? [])
      .map((digits): Segment => ({ number: Number(digits), size: statSync(this.#pathOf(Number(digits))).size }))
      .sort((one, other) => one.number - other.number);
    this.#bytes = this.#segments.reduce((sum, { size }) => sum + size, 0);
    this.#dropSettled();
  }

  /** Bytes on the disk. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * @returns false where there is no room for it
   * @throws where the disk does not take it; nothing is left of it then
   */
  append(body: Buffer): boolean {
    const length = HEADER_BYTES + body.length;
    if (this.#bytes + length > this.#maxBytes) return false;
    const record = Buffer.allocUnsafe(length);
    record.writeUInt32BE(body.length, 0);
    record.writeUInt32BE(crc32(body), 4);
    body.copy(record, HEADER_BYTES);
    const { segment, file } = this.#toWrite();
    try {
      if (writeSync(file, record, 0, length, segment.size) !== length) throw new Error('The disk took a part of it.');
    } catch (error) {
      this.#leave(segment, file);
      throw error;
    }
    segment.size += length;
    this.#bytes += length;
    if (segment.size >= SEGMENT_BYTES) this.#seal();
    return true;
  }

  /** The next record in order, or undefined where there is none yet. */
  next(): Entry | undefined {
    for (;;) {
      const reading = this.#toRead();
      if (!reading) return undefined;
      const { segment, file, offset } = reading;
      const body = offset < segment.size ? readRecord(file, offset, segment.size) : undefined;
      if (body) {
        reading.offset = offset + HEADER_BYTES + body.length;
        const entry = { body, segment: segment.number, end: reading.offset, settled: false };
        this.#unsettled.push(entry);
        return entry;
      }
      if (segment === this.#writing?.segment && offset >= segment.size) return undefined;
      if (segment === this.#writing?.segment) this.#seal();
      segment.end = offset;
      closeSync(file);
      this.#reading = undefined;
      this.#dropSettled();
    }
  }

  /** It has arrived, or is given up: it will not be read again. */
  settle(entry: Entry): void {
    entry.settled = true;
    const before = this.#cursor;
    while (this.#unsettled[0]?.settled) {
      const { segment, end } = this.#unsettled.shift() as Entry; // the loop has looked
      this.#cursor = { segment, offset: end };
    }
    if (this.#cursor === before) return;
    this.#writeCursor();
    const { segment } = this.#writing ?? {};
    if (segment && this.#isSettled(segment) && segment.size >= WORN_BYTES) this.#seal();
    this.#dropSettled();
  }

  #toWrite(): { readonly segment: Segment; readonly file: number } {
    if (this.#writing) return this.#writing;
    const number = Math.max(this.#segments.at(-1)?.number ?? 0, this.#cursor.segment) + 1;
    const segment = { number, size: 0 };
    this.#writing = { segment, file: openSync(this.#pathOf(number), 'wx', 0o600) };
    this.#segments.push(segment);
    return this.#writing;
  }

  /** After a write that failed: what came before it stays readable. */
  #leave(segment: Segment, file: number): void {
    try {
      ftruncateSync(file, segment.size);
    } catch {
      // A torn record is recognised by its checksum.
    }
    this.#seal();
  }

  #seal(): void {
    if (this.#writing) closeSync(this.#writing.file);
    this.#writing = undefined;
  }

  #toRead() {
    if (this.#reading) return this.#reading;
    for (const segment of this.#segments) {
      if (segment.end !== undefined) continue;
      const offset = segment.number === this.#cursor.segment ? this.#cursor.offset : 0;
      try {
        const file = openSync(this.#pathOf(segment.number), 'r');
        this.#reading = { segment, file, offset };
        return this.#reading;
      } catch {
        segment.end = 0; // somebody removed it
      }
    }
    return undefined;
  }

  #isSettled({ number, size, end = size }: Segment): boolean {
    if (this.#unsettled.some(({ segment }) => segment === number)) return false;
    return (
      this.#cursor.segment > number || (this.#cursor.segment === number && this.#cursor.offset >= end) || end === 0
    );
  }

  #dropSettled(): void {
    for (let head = this.#segments[0]; head && head !== this.#writing?.segment; head = this.#segments[0]) {
      if (!this.#isSettled(head)) return;
      if (this.#reading?.segment === head) {
        closeSync(this.#reading.file);
        this.#reading = undefined;
      }
      this.#segments.shift();
      this.#bytes -= head.size;
      unlinkQuietly(this.#pathOf(head.number));
    }
  }

  #pathOf(number: number): string {
    return join(this.#folder, `${String(number).padStart(12, '0')}.segment`);
  }

  #readCursor(): { segment: number; offset: number } {
    try {
      const bytes = readFileSync(join(this.#folder, 'cursor'));
      if (bytes.length === CURSOR_BYTES && crc32(bytes.subarray(0, 16)) === bytes.readUInt32BE(16)) {
        return { segment: Number(bytes.readBigUInt64BE(0)), offset: Number(bytes.readBigUInt64BE(8)) };
      }
    } catch {
      // There is none yet, or it is torn: what was sent before is sent once more, and told apart by its id.
    }
    return { segment: 0, offset: 0 };
  }

  #writeCursor(): void {
    const bytes = Buffer.alloc(CURSOR_BYTES);
    bytes.writeBigUInt64BE(BigInt(this.#cursor.segment), 0);
    bytes.writeBigUInt64BE(BigInt(this.#cursor.offset), 8);
    bytes.writeUInt32BE(crc32(bytes.subarray(0, 16)), 16);
    try {
      this.#cursorFile ??= openSync(join(this.#folder, 'cursor'), constants.O_RDWR | constants.O_CREAT, 0o600);
      writeSync(this.#cursorFile, bytes, 0, CURSOR_BYTES, 0);
    } catch {
      // A full disk: after a restart some records are sent twice.
    }
  }
}

function readRecord(file: number, offset: number, size: number): Buffer | undefined {
  const header = readBytes(file, offset, HEADER_BYTES);
  const length = header?.readUInt32BE(0) ?? 0;
  // A power cut may leave zeros, which have a checksum that fits.
  if (!header || length === 0 || offset + HEADER_BYTES + length > size) return undefined;
  const body = readBytes(file, offset + HEADER_BYTES, length);
  return body && crc32(body) === header.readUInt32BE(4) ? body : undefined;
}

function readBytes(file: number, offset: number, length: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(length);
  return readSync(file, bytes, 0, length, offset) === length ? bytes : undefined;
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is read again after a restart, at worst.
  }
}
