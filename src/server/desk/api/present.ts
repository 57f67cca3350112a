import type * as z from 'zod';
import type { FrameShape, IncidentData, OccurrenceShape } from '../../../shared/desk/shapes.ts';
import type { Sent } from '../../../shared/engine/api/operation.ts';
import type { Note as StoredNote } from '../store/history-table.ts';
import type * as replies from './replies.ts';

type Presented<Schema extends z.core.$ZodType> = Sent<z.input<Schema>>;

/** Returns an incident without the data that only its page needs. */
export function presentIncident(data: Omit<IncidentData, 'operator'>): Presented<typeof replies.Incident> {
  const { now: _now, scope: _scope, shown, missed: _missed, newer: _newer, older: _older, ...told } = data;
  return { ...told, ...(shown && { latest: presentOccurrence(shown) }) };
}

export function presentOccurrence({ full, ...summary }: OccurrenceShape): Presented<typeof replies.Occurrence> {
  if (!full) return summary;
  const errors = full.errors.map((error) => ({ ...error, frames: error.frames.map(presentFrame) }));
  return { ...summary, full: { ...full, errors } };
}

/** Removes the colours of source lines. */
function presentFrame({ source, ...frame }: FrameShape) {
  if (!source) return frame;
  const lines = source.lines.map((spans) => spans.map((span) => (typeof span === 'string' ? span : span[1])).join(''));
  return { ...frame, source: { start: source.start, lines } };
}

export function presentNote({ id, at, author, text }: StoredNote): Presented<typeof replies.Note> {
  return { id, at, by: author, text };
}
