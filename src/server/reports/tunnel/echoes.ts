import { Hour } from '../../../shared/units.ts';

/** How old a server failure can be when a browser reports that it saw the same failure (ms). */
export const ECHO_AGE = 1 * Hour;
/** The number of addresses that are remembered. */
const MAX_REMEMBERED = 10_000;

/**
 * Decides which echoes to keep. An echo is a browser's report that it saw a server's failure too. Strangers
 * can forge echoes, so an echo needs a stored failure, and each failure gets only one.
 */
export interface Echoes {
  admit(address: string): Promise<boolean>;
}

interface EchoesOptions {
  /** Resolves to true if the store has a recent server occurrence with this address and no echo of it yet. */
  readonly isAwaited: (address: string) => Promise<boolean>;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

export function createEchoes({ isAwaited, now = () => performance.now() }: EchoesOptions): Echoes {
  /** Admitted echoes, the oldest first. The store may not have them yet. */
  const admitted = new Map<string, number>();

  return {
    async admit(address) {
      const at = admitted.get(address);
      if (at !== undefined && now() - at < ECHO_AGE) return false;
      // Set before the question, so that only one of several simultaneous echoes is admitted.
      admitted.delete(address);
      admitted.set(address, now());
      if (admitted.size > MAX_REMEMBERED) admitted.delete(admitted.keys().next().value ?? address);
      const isAdmitted = await isAwaited(address).catch(() => false);
      if (!isAdmitted) admitted.delete(address);
      return isAdmitted;
    },
  };
}
