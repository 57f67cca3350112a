import { Minute } from '../../../../shared/units.ts';

/** SDKs send an event again within seconds where an answer was lost. */
const WINDOW = 10 * Minute;
/** Ids that are remembered (a count): about 1.5 MB. */
const MAX_IDS = 10_000;

export interface RecentIds {
  /** What this id was answered with, where it came before within ten minutes. */
  find(id: string): string | undefined;
  add(id: string, answer: string): void;
  forget(id: string): void;
}

/** @param now milliseconds, never going back */
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
