import { explainReactError } from '#engine/tracker';
import type { StoryOf, StoryShape } from '../../shared/shapes.ts';
import { defined } from '../defined.ts';
import type { StoredFailure } from '../store/records.ts';

/** Returns the fields of `extra` that no story includes, so that they are not shown twice. */
export function toOtherExtra({ kind, extra = {} }: StoredFailure): Readonly<Record<string, unknown>> {
  if (kind === 'unclean-death') return { process: extra.process };
  if (kind === 'blocked-loop') return { ms: extra.ms, since: extra.since };
  const { contexts, ...rest } = extra;
  const { react, ...others } = toRecord(contexts);
  const left = kind === 'hydration' || react === undefined ? others : { react, ...others };
  return Object.keys(left).length > 0 ? { ...rest, contexts: left } : rest;
}

/** @returns undefined if the errors and `extra` say everything */
export function presentStory(failure: StoredFailure): StoryShape | undefined {
  const { kind, extra = {} } = failure;
  if (kind === 'hydration') return presentMismatch(failure);
  // Browsers cannot report these kinds, so `extra` is as the server wrote it.
  if (kind === 'blocked-loop') return { kind, inFlight: (extra as unknown as StoryOf<typeof kind>).inFlight ?? [] };
  if (kind !== 'unclean-death') return undefined;
  const death = extra as unknown as StoryOf<typeof kind>;
  const { lastHeardAt, startedAt, memory, heap, blockedFor, inFlight } = death;
  return defined({ kind, lastHeardAt, startedAt, memory, heap, blockedFor, inFlight });
}

/** React's message is separate from the error if the two differ (`client/reporting/sentry.ts`). */
function presentMismatch({ extra, errors }: StoredFailure): StoryShape {
  const { said } = toRecord(toRecord(extra?.contexts).react);
  // A stranger can report anything in its place.
  const words = typeof said === 'string' ? said : (errors[0]?.message ?? '');
  const meaning = explainReactError(words);
  // With its explanation, the error number is not needed.
  return { kind: 'hydration', said: meaning === undefined ? words : '', meaning: meaning ?? '' };
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Returns names and values of stored data as text. Nested values become JSON. */
export function toPairs(record: Readonly<Record<string, unknown>>): [name: string, value: string][] {
  return Object.entries(record).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
}
