import { join } from 'node:path';
import { type LogSegment, listLogSegments } from '../../segmented-log.ts';

/** Returns the path of a segment. `00000001.ndjson` has one entry per line, and `.counts` has the slots of counts. */
export function toSegmentPath(folder: string, number: number, extension: 'ndjson' | 'counts'): string {
  return join(folder, `${String(number).padStart(8, '0')}.${extension}`);
}

/** Lists the segments of one process's journal, in order. */
export function listSegments(folder: string): readonly LogSegment[] {
  return listLogSegments(folder, /^(\d{8})\.(ndjson|counts)$/);
}
