import type { FailureKind } from '../../../server/errors/failure.ts';
import { explainReactError } from '../../../shared/rendering/react-errors.ts';
import type { InFlightShape, StoryShape } from '../../shared/shapes.ts';
import type { StoredFailure } from '../store/records.ts';
import { toLine, toPairs } from './to-pairs.ts';

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
    case 'unclean-death':
      return presentDeath(failure);
    case 'blocked-loop':
      return { kind, ms: toNumber(extra.ms) ?? 0, ...toSince(extra.since) };
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

/** React's message is separate from the error if the two differ (`client/reporting/sentry.ts`). */
function presentMismatch({ extra, errors }: StoredFailure): StoryShape {
  const react = toRecord(toRecord(extra?.contexts).react);
  const said = typeof react.said === 'string' ? react.said : (errors[0]?.message ?? '');
  const meaning = explainReactError(said);
  // With its explanation, the error number is not needed.
  return { kind: 'hydration', said: meaning === undefined ? toLine(said) : '', meaning: toLine(meaning ?? '') };
}

function presentDeath({ at, extra = {} }: StoredFailure): StoryShape {
  const lastHeardAt = toNumber(extra.lastHeardAt) ?? at;
  const startedAt = toNumber(extra.startedAt);
  const memory = toNumber(extra.memory);
  const blockedFor = toNumber(extra.blockedFor);
  const inFlight = Array.isArray(extra.inFlight) ? extra.inFlight : [];
  return {
    kind: 'unclean-death',
    lastHeardAt,
    ...(startedAt !== undefined && { startedAt }),
    ...(memory !== undefined && { memory }),
    ...(blockedFor !== undefined && { blockedFor }),
    inFlight: inFlight.map(presentInFlight).sort((left, right) => right.ms - left.ms),
  };
}

function presentInFlight(value: unknown): InFlightShape {
  const { requestId, method, route, ms } = toRecord(value);
  return {
    requestId: toText(requestId),
    method: toText(method),
    route: toText(route),
    ms: toNumber(ms) ?? 0,
  };
}

function toSince(since: unknown): { since?: number } {
  const at = typeof since === 'string' ? Date.parse(since) : Number.NaN;
  return Number.isNaN(at) ? {} : { since: at };
}

function toText(value: unknown): string {
  return typeof value === 'string' ? toLine(value) : '';
}

function toNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
