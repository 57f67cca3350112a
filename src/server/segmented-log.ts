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

/** A place in a log: after `offset` bytes of segment `segment`, and after all segments before it. */
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
 * Records in numbered files of a folder. This process alone appends; others may read and delete segments.
 * The journal and the queue for Sentry each keep their own position and their own form of a record.
 */
export interface SegmentedLog {
  /** Where the next record will stand, if it goes into the open segment. */
  readonly end: LogPosition;
  /**
   * Appends with one system call, so that the record outlives the process.
   *
   * @throws if the disk does not take all of it; nothing is left of it then
   */
  append(record: Buffer): void;
  /** Closes the open segment, so that it can be deleted. The next record begins another one. */
  rotate(): void;
  /** Leaves the next number to a file that the caller writes. @returns the number */
  skip(): number;
  /** Bytes after this position. Segments before it are not asked for again. */
  bytesAfter(position: LogPosition): number;
  /** False if somebody deleted the open segment: what is appended to a deleted file is lost. */
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

/** What a log needs of the system, for tests in which a disk is full. */
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
  /** By number, the bytes of closed segments. */
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

  /** A part of a record must not stand in front of the next one. */
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
 * The segments of a folder, in order; none if there is no such folder.
 *
 * @param pattern of their names, with the number and the extension as groups
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
