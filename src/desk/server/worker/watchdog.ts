import type { InFlightRequest } from '#engine/tracker';
import { BLOCKED_AFTER, PULSE_INTERVAL } from '../desk-limits.ts';
import type { Signals } from '../ingest/signals.ts';

/** The main thread was blocked for over a second. */
export interface BlockedLoop {
  /** When the block began (ms since 1970), and how long it lasted (ms). */
  readonly at: number;
  readonly ms: number;
  /** The requests in flight when the block began, the newest first. One of them caused it, if no timer did. */
  readonly inFlight: readonly InFlightRequest[];
}

interface WatchdogOptions {
  readonly signals: Pick<Signals, 'pulses' | 'waiting'>;
  /** Called as soon as the main thread misses a pulse: it can die before the next heartbeat. */
  readonly onSilent: () => void;
  /** Lists the requests in flight. */
  readonly listRequests: () => BlockedLoop['inFlight'];
  /** Called once, when the main thread continues. */
  readonly onBlocked: (report: BlockedLoop) => void;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

/**
 * The longest time that counts between two checks (ms). If they are further apart, the whole machine was suspended or
 * overloaded, not only the main thread.
 */
const MAX_CHECK_GAP = 2 * PULSE_INTERVAL;

/** Detects a blocked main thread. */
export function createWatchdog({
  signals,
  listRequests,
  onSilent,
  onBlocked,
  now = () => performance.now(),
}: WatchdogOptions) {
  let pulses = signals.pulses;
  let lastCheck = now();
  /** Since the last pulse (ms). */
  let silent = 0;
  let inFlight: BlockedLoop['inFlight'] = [];

  return {
    /** How long the main thread has been blocked (ms), or 0. */
    get blockedMs() {
      return silent >= BLOCKED_AFTER ? Math.round(silent) : 0;
    },
    /** Checks the main thread. Call it every `PULSE_INTERVAL`. */
    check() {
      const elapsed = now() - lastCheck;
      lastCheck += elapsed;
      if (signals.pulses === pulses && !signals.waiting) {
        // Before the first pulse, the program is still loading.
        if (pulses === 0) return;
        if (silent === 0) {
          inFlight = listRequests();
          onSilent();
        }
        silent += Math.min(elapsed, MAX_CHECK_GAP);
        return;
      }
      pulses = signals.pulses;
      const ms = Math.round(silent);
      silent = 0;
      // In development, a breakpoint or a busy machine blocks it too.
      if (ms >= BLOCKED_AFTER && !process.env.SPILLWAY_DEV)
        onBlocked({ at: Math.round(Date.now() - ms), ms, inFlight });
    },
  };
}
