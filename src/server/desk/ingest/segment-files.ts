import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Lines, one entry each; or the slots of what was only counted. */
export type SegmentKind = 'lines' | 'counts';

export interface Segment {
  readonly number: number;
  readonly kind: SegmentKind;
  readonly path: string;
}

/** A place in a journal: behind `offset` bytes of segment `segment`, and all segments before it. */
export interface JournalPosition {
  readonly segment: number;
  readonly offset: number;
}

const EXTENSIONS: Readonly<Record<SegmentKind, string>> = { lines: '.ndjson', counts: '.counts' };

/** `<folder>/00000001.ndjson`: in order when sorted by name. */
export function toSegment(folder: string, number: number, kind: SegmentKind): Segment {
  return { number, kind, path: join(folder, `${String(number).padStart(8, '0')}${EXTENSIONS[kind]}`) };
}

/** The segments of one run, in order; none where there is no such folder. */
export function listSegments(folder: string): readonly Segment[] {
  return listNames(folder)
    .map((name) => /^(\d{8})\.(ndjson|counts)$/.exec(name))
    .filter((match) => match !== null)
    .map((match) => toSegment(folder, Number(match[1]), match[2] === 'counts' ? 'counts' : 'lines'))
    .sort((left, right) => left.number - right.number);
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
