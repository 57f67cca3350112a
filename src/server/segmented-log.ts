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
import { dirname, join } from 'node:path';

/** A position in a log: after `offset` bytes of segment `segment`, and after all segments before it. */
export interface LogPosition {
  readonly segment: number;
  readonly offset: number;
}

/** A numbered file: `<folder>/00000001.ndjson`. */
export interface LogSegment {
  readonly number: number;
  readonly extension: string;
  readonly path: string;
}

/**
 * Records in numbered files of a folder. Only this process appends. Others can read and delete segments. The journal
 * and the queue for Sentry each have their own position and record format.
 */
export interface SegmentedLog {
  /** The position of the next record, if it fits into the open segment. */
  readonly end: LogPosition;
  /**
   * Appends with one system call, so that the record survives a crash of the process.
   *
   * @throws if the disk does not accept all of it; no part of it remains then
   */
  append(record: Buffer): void;
  /** Closes the open segment, so that it can be deleted. The next record begins another segment. */
  rotate(): void;
  /** Reserves the next number for a file that the caller writes. @returns the number */
  skip(): number;
  /** Returns the bytes after this position. Earlier segments must not be requested again. */
  bytesAfter(position: LogPosition): number;
  /** False if the open segment was deleted: anything appended to it would be lost. */
  readonly isInPlace: boolean;
}

export interface SegmentedLogOptions {
  readonly toPath: (number: number) => string;
  /** Segments of earlier processes that are still to be read. */
  readonly earlier?: readonly LogSegment[];
  /** The first segment gets a higher number than this and than all earlier ones. */
  readonly after?: number;
  readonly files?: LogFiles;
}

/** The file operations of a log, which tests of a full disk replace. */
export interface LogFiles {
  open(path: string): number;
  write(file: number, bytes: Buffer): number;
  truncate(file: number, size: number): void;
}

const realFiles: LogFiles = {
  open(path) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return openSync(path, 'ax', 0o600);
  },
  write: (file, bytes) => writeSync(file, bytes),
  truncate: ftruncateSync,
};

export function createSegmentedLog(options: SegmentedLogOptions): SegmentedLog {
  const { toPath, earlier = [], after = 0, files = realFiles } = options;
  /** The sizes of closed segments (bytes), by number. */
  const closed = new Map(earlier.map(({ number, path }) => [number, statSync(path).size]));
  let end: LogPosition = { segment: Math.max(after, ...closed.keys()), offset: 0 };
  let file: number | undefined;

  function open(): number {
    const segment = end.segment + 1;
    const opened = files.open(toPath(segment));
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
      files.truncate(torn, end.offset);
    } catch {
      rotate(); // readers recognize a torn record at the end of a segment
    }
  }

  return {
    get end() {
      return end;
    },
    append(record) {
      file ??= open();
      try {
        if (files.write(file, record) < record.length) throw new Error('The disk took only a part of the record.');
      } catch (error) {
        cutOff(file);
        throw error;
      }
      end = { segment: end.segment, offset: end.offset + record.length };
    },
    rotate,
    skip() {
      rotate();
      end = { segment: end.segment + 1, offset: 0 };
      return end.segment;
    },
    bytesAfter({ segment, offset }) {
      let bytes = file === undefined ? 0 : end.offset - (segment === end.segment ? offset : 0);
      for (const [number, size] of closed) {
        if (number < segment) closed.delete(number);
        else bytes += number === segment ? size - offset : size;
      }
      return bytes;
    },
    get isInPlace() {
      if (file === undefined) return true;
      return statSync(toPath(end.segment), { throwIfNoEntry: false })?.ino === fstatSync(file).ino;
    },
  };
}

/**
 * Lists the segments of a folder, in order. A missing folder has none.
 *
 * @param pattern of the file names, with the number and the extension as groups
 */
export function listLogSegments(folder: string, pattern: RegExp): LogSegment[] {
  return listNames(folder)
    .map((name) => pattern.exec(name))
    .filter((match) => match !== null)
    .map(([name, number, extension = '']) => ({ number: Number(number), extension, path: join(folder, name) }))
    .sort((left, right) => left.number - right.number);
}

/** Deletes the segments before a position. */
export function dropLogSegments(segments: readonly LogSegment[], { segment }: LogPosition): void {
  for (const { number, path } of segments) if (number < segment) rmSync(path, { force: true });
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
