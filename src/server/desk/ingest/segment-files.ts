import { join } from 'node:path';
import { type LogSegment, listLogSegments } from '../../segmented-log.ts';

/** `<folder>/00000001.ndjson` has lines, one entry each; `.counts` has the slots of what was only counted. */
export function toSegmentPath(folder: string, number: number, extension: 'ndjson' | 'counts'): string {
  return join(folder, `${String(number).padStart(8, '0')}.${extension}`);
}

/** The segments of one process's journal, in order. */
export function listSegments(folder: string): readonly LogSegment[] {
  return listLogSegments(folder, /^(\d{8})\.(ndjson|counts)$/);
}
