import { explainReactError } from '#engine/tracker';
import type { FailureKind } from '../../../shared/words.ts';
import type { StoryShape } from '../../shared/shapes.ts';
import { defined } from '../defined.ts';
import type { StoredFailure } from '../store/records.ts';

/** Fields of `extra` that a story includes, so that they are not shown twice. */
const TOLD_EXTRA: Readonly<Partial<Record<FailureKind, readonly string[]>>> = {
  'unclean-death': ['startedAt', 'lastHeardAt', 'memory', 'inFlight', 'blockedFor'],
  'blocked-loop': ['ms', 'since'],
  csp: ['directive', 'blocked', 'sourceFile', 'line', 'column', 'sample', 'disposition'],
  crash: ['reason', 'stack', 'visibility_state'],
  deprecation: ['id', 'sourceFile', 'line', 'column', 'message', 'anticipatedRemoval'],
  intervention: ['id', 'sourceFile', 'line', 'column', 'message', 'anticipatedRemoval'],
};

/** Returns the fields of `extra` that no story includes. */
export function toUntold({ kind, extra = {} }: StoredFailure): Readonly<Record<string, unknown>> {
  const told = TOLD_EXTRA[kind] ?? [];
  const { contexts, ...rest } = Object.fromEntries(Object.entries(extra).filter(([name]) => !told.includes(name)));
  const { react, ...others } = toRecord(contexts);
  const left = kind === 'hydration' || react === undefined ? others : { react, ...others };
  return Object.keys(left).length > 0 ? { ...rest, contexts: left } : rest;
}

/** @returns undefined if the errors say everything */
export function presentStory(failure: StoredFailure): StoryShape | undefined {
  const { kind, extra = {} } = failure;
  switch (kind) {
    case 'hydration':
      return presentMismatch(failure);
    // Browsers cannot report these two kinds, so `extra` is as the server wrote it.
    case 'unclean-death': {
      const { lastHeardAt, startedAt, memory, blockedFor, inFlight } = extra as unknown as StoryOf<typeof kind>;
      return defined({ kind, lastHeardAt, startedAt, memory, blockedFor, inFlight });
    }
    case 'blocked-loop':
      return { kind, ms: Number(extra.ms), since: Date.parse(String(extra.since)) };
    case 'csp':
    case 'crash':
    case 'deprecation':
    case 'intervention': {
      const told = TOLD_EXTRA[kind] ?? [];
      return { kind: 'report', facts: toPairs(extra).filter(([name]) => told.includes(name)) };
    }
    default:
      return undefined;
  }
}

type StoryOf<Kind> = Extract<StoryShape, { kind: Kind }>;

/** React's message is separate from the error if the two differ (`client/reporting/sentry.ts`). */
function presentMismatch({ extra, errors }: StoredFailure): StoryShape {
  const { said = errors[0]?.message } = toRecord(toRecord(extra?.contexts).react);
  const words = String(said ?? '');
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
