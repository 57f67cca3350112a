import { toExactTime } from '../../../shared/words.ts';
import type { Deletion } from '../store/history-table.ts';
import type { Incident } from '../store/records.ts';

/** Describes the current state of an incident: `resolved, last by vera at 2026-11-21 20:31:07 UTC`. */
export function toStandingWords({ state, stateBy, stateAt }: Incident): string {
  const who = stateBy ?? 'the desk';
  const when = stateAt === undefined ? '' : ` at ${toExactTime(stateAt)}`;
  return `${state}, last by ${who}${when}`;
}

export function toDeletedWords({ author, at }: Deletion): string {
  return `This incident was deleted by ${author} at ${toExactTime(at)}. If it happens again, it is a new incident.`;
}
