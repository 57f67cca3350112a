import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** A position in a journal: after `offset` bytes of segment `segment`, and after all segments before it. */
export interface LogPosition {
  readonly segment: number;
  readonly offset: number;
}

/** A file of a journal, with one entry per line: `00000001.ndjson`. */
export interface JournalSegment {
  readonly number: number;
  readonly path: string;
}

/** The file operations, which tests of a full disk replace. */
export interface SegmentFiles {
  open(path: string): number;
  write(file: number, bytes: Buffer): number;
}

const FILES: SegmentFiles = {
  open: (path) => openSync(path, 'ax', 0o600),
  write: (file, bytes) => writeSync(file, bytes),
};

/** Writes the segments of this process's journal. Readers can read and delete them. */
export function createSegments(folder: string, files: SegmentFiles = FILES) {
  /** The sizes of closed segments (bytes), by number. */
  const closed = new Map<number, number>();
  let end: LogPosition = { segment: 0, offset: 0 };
  let file: number | undefined;

  function open(): number {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const segment = end.segment + 1;
    const opened = files.open(toSegmentPath(folder, segment));
    end = { segment, offset: 0 };
    return opened;
  }

  function rotate(): void {
    if (file === undefined) return;
    closeSync(file);
    closed.set(end.segment, end.offset);
    file = undefined;
  }

  /** Removes a partial record, so that it is not before the next one. */
  function cutOff(torn: number): void {
    try {
      ftruncateSync(torn, end.offset);
    } catch {
      rotate(); // readers recognize a torn record at the end of a segment
    }
  }

  return {
    /** The position of the next record, if it fits into the open segment. */
    get end() {
      return end;
    },
    /**
     * Appends with one system call, so that the record survives a crash of the process.
     *
     * @throws if the disk does not accept all of it; no part of it remains then
     */
    append(record: Buffer): void {
      file ??= open();
      try {
        if (files.write(file, record) < record.length) throw new Error('The disk took only a part of the record.');
      } catch (error) {
        cutOff(file);
        throw error;
      }
      end = { segment: end.segment, offset: end.offset + record.length };
    },
    /** Closes the open segment, so that it can be deleted. The next record begins another segment. */
    rotate,
    /** Returns the bytes after this position. Earlier segments must not be requested again. */
    bytesAfter({ segment, offset }: LogPosition): number {
      let bytes = file === undefined ? 0 : end.offset - (segment === end.segment ? offset : 0);
      for (const [number, size] of closed) {
        if (number < segment) closed.delete(number);
        else bytes += number === segment ? size - offset : size;
      }
      return bytes;
    },
    /**
     * Ends the open segment if all of it is stored, and deletes it, because it contains visitors' data. Also ends one that
     * somebody deleted: anything appended to it would be lost.
     *
     * @param stored the position up to which records are stored
     */
    tidy(stored: LogPosition): void {
      if (file === undefined) return;
      const path = toSegmentPath(folder, end.segment);
      const isInPlace = isSameFile(path, file);
      const isStored = stored.segment === end.segment && stored.offset === end.offset && end.offset > 0;
      if (isInPlace && !isStored) return;
      // On a read-only disk, the open segment is the only one that still takes records.
      if (!isStored || remove(path)) rotate();
    },
  };
}

/** An unreadable folder counts as another file, so that the next record begins another segment. */
function isSameFile(path: string, file: number): boolean {
  try {
    return statSync(path).ino === fstatSync(file).ino;
  } catch {
    return false;
  }
}

function toSegmentPath(folder: string, number: number): string {
  return join(folder, `${String(number).padStart(8, '0')}.ndjson`);
}

/** Lists the segments of one process's journal, in order. A missing folder has none. */
export function listSegments(folder: string): JournalSegment[] {
  return listNames(folder)
    .filter((name) => /^\d{8}\.ndjson$/.test(name))
    .sort()
    .map((name) => ({ number: Number.parseInt(name, 10), path: join(folder, name) }));
}

/** Deletes the segments before a position. */
export function dropSegments(folder: string, { segment }: LogPosition): void {
  for (const { number, path } of listSegments(folder)) if (number < segment) remove(path);
}

/** @returns false if the file cannot be deleted now. Later calls try again, and the position says that it is stored */
function remove(path: string): boolean {
  try {
    rmSync(path, { force: true });
    return true;
  } catch {
    return false;
  }
}

/** Lists the names in a folder. A missing folder has none. */
export function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
