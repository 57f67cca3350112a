import { Minute } from '../../../shared/units.ts';

/** How long an id is remembered. SDKs send an event again within seconds if the response was lost. */
const WINDOW = 10 * Minute;
/** The most ids, about 1.5 MB. */
const MAX_IDS = 10_000;

export interface RecentIds {
  /** Returns the earlier answer for this id, if it is at most ten minutes old. */
  find(id: string): string | undefined;
  add(id: string, answer: string): void;
  forget(id: string): void;
}

/** @param now milliseconds, monotonic */
export function createRecentIds({ now = () => performance.now(), maxIds = MAX_IDS } = {}): RecentIds {
  const seen = new Map<string, { readonly at: number; readonly answer: string }>();
  return {
    find(id) {
      const entry = seen.get(id);
      return entry && now() - entry.at < WINDOW ? entry.answer : undefined;
    },
    add(id, answer) {
      seen.delete(id);
      seen.set(id, { at: now(), answer });
      if (seen.size > maxIds) seen.delete(seen.keys().next().value ?? id);
    },
    forget: (id) => void seen.delete(id),
  };
}
