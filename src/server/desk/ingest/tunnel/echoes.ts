import { ECHO_AGE } from '../../limits.ts';

/** Addresses that are remembered (a count). */
const MAX_REMEMBERED = 10_000;

/**
 * Decides which echoes to keep. An echo is a browser's report that it saw a failure of the server too.
 * Strangers can make echoes up, so each needs a failure that the store has, and each failure gets one.
 */
export interface Echoes {
  admit(address: string): Promise<boolean>;
}

export interface EchoesOptions {
  /** Asks whether the store has a recent occurrence of a server at this address, and no echo of it yet. */
  readonly isAwaited: (address: string) => Promise<boolean>;
  /** Milliseconds, never going back. */
  readonly now?: () => number;
}

export function createEchoes({ isAwaited, now = () => performance.now() }: EchoesOptions): Echoes {
  /** Admitted ones, oldest first: the store may not have them yet. */
  const admitted = new Map<string, number>();

  return {
    async admit(address) {
      const at = admitted.get(address);
      if (at !== undefined && now() - at < ECHO_AGE) return false;
      // Before the question, so that only one of several at once gets through.
      admitted.delete(address);
      admitted.set(address, now());
      if (admitted.size > MAX_REMEMBERED) admitted.delete(admitted.keys().next().value ?? address);
      const isAdmitted = await isAwaited(address).catch(() => false);
      if (!isAdmitted) admitted.delete(address);
      return isAdmitted;
    },
  };
}
