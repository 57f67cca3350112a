import { Second } from '../../shared/units.ts';

/**
 * Wrong tokens in a minute after which a sender has to wait (counts): from its address, its /64 network and its /48
 * network of IPv6.
 */
export const MAX_ATTEMPTS: readonly number[] = [5, 10, 20];
/**
 * Wrong tokens in a minute from all senders after which answers are delayed (a count), by how long (ms), and for how
 * many requests at a time (a count).
 */
export const MAX_ATTEMPTS_OF_ALL = 30;
export const ATTEMPT_HOLD = 2 * Second;
export const MAX_HELD_ATTEMPTS = 200;
/**
 * Senders of wrong tokens that a process counts in a minute (a count, about 4 MB), and how many of them the store also
 * counts (a count).
 */
export const MAX_COUNTED_SENDERS = 30_000;
export const MAX_SHARED_SENDERS = 200;
/** The least time between two updates of the store's counts (ms). */
export const ATTEMPTS_SHARE_INTERVAL = 1 * Second;
