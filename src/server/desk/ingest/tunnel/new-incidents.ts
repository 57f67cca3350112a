import { Hour } from '../../../../shared/units.ts';

/** New incidents that strangers may open in an hour (a count, SPEC section 6). */
const MAX_AN_HOUR = 50;

/** Digests that are not asked for again (a count). */
const MAX_ADMITTED = 2000;

export interface NewIncidents {
  /** Whether a failure with this digest may have an incident: it has one already, or this hour's are not used up. */
  admit(digest: string): Promise<boolean>;
}

export interface NewIncidentsOptions {
  /** Whether there is an incident with this digest, or an alias of one. A store that is away knows none. */
  readonly isKnown: (digest: string) => boolean | Promise<boolean>;
  /** Milliseconds, never going back. */
  readonly now?: () => number;
}

/** Bounds how many incidents made-up errors can open. Each process counts for itself. */
export function createNewIncidents({ isKnown, now = () => performance.now() }: NewIncidentsOptions): NewIncidents {
  const admitted = new Set<string>();
  let openedAt: number[] = [];

  function remember(digest: string): void {
    admitted.add(digest);
    if (admitted.size > MAX_ADMITTED) admitted.delete(admitted.values().next().value ?? digest);
  }

  function open(digest: string): boolean {
    const start = now() - Hour;
    openedAt = openedAt.filter((at) => at > start);
    if (openedAt.length >= MAX_AN_HOUR) return false;
    openedAt.push(now());
    remember(digest);
    return true;
  }

  async function ask(digest: string): Promise<boolean> {
    try {
      return await isKnown(digest);
    } catch {
      return false;
    }
  }

  return {
    async admit(digest) {
      if (admitted.has(digest)) return true;
      if (await ask(digest)) {
        remember(digest);
        return true;
      }
      // Another one of the kind may have been let in meanwhile.
      return admitted.has(digest) || open(digest);
    },
  };
}
