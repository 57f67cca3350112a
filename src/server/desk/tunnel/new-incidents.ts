import { Hour } from '../../../shared/units.ts';

/** New incidents that strangers may open in an hour (a count, SPEC section 6). */
const MAX_AN_HOUR = 50;

/** Digests that this process opened itself: the store learns of them a moment later (a count). */
const MAX_OPENED = 1000;

export interface NewIncidents {
  /** Whether a failure with this digest may have an incident: it has one already, or this hour's are not used up. */
  admit(digest: string): Promise<boolean>;
}

export interface NewIncidentsOptions {
  /** Whether there is an incident with this digest, or an alias of one. */
  readonly isKnown: (digest: string) => boolean | Promise<boolean>;
  /** Milliseconds, never going back. */
  readonly now?: () => number;
}

/** Bounds how many incidents made-up errors can open. Each process counts for itself. */
export function createNewIncidents({ isKnown, now = () => performance.now() }: NewIncidentsOptions): NewIncidents {
  const opened = new Set<string>();
  let openedAt: number[] = [];

  return {
    async admit(digest) {
      if (opened.has(digest) || (await isKnown(digest))) return true;
      // Two of one kind may have waited for the same answer.
      if (opened.has(digest)) return true;
      const start = now() - Hour;
      openedAt = openedAt.filter((at) => at > start);
      if (openedAt.length >= MAX_AN_HOUR) return false;
      openedAt.push(now());
      opened.add(digest);
      if (opened.size > MAX_OPENED) opened.delete(opened.values().next().value ?? digest);
      return true;
    },
  };
}
