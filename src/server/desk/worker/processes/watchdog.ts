import type { StackFrame } from '../../../engine/errors/failure.ts';
import { BLOCKED_AFTER, PULSE_INTERVAL } from '../../limits.ts';
import type { Signals } from '../signals.ts';
import type { BlockedLoop } from './heartbeat.ts';

interface WatchdogOptions {
  readonly signals: Pick<Signals, 'pulses' | 'waiting'>;
  /** Asks the main thread what it is doing. */
  readonly readStack: () => Promise<readonly StackFrame[]>;
  /** Told once, when it goes on. */
  readonly onBlocked: (report: BlockedLoop) => void;
  /** Told when it was noticed, and again when the stack is known. */
  readonly onChange: () => void;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

/** A look that comes later than this after the one before says that all of the machine stood still, not the main thread alone (ms). */
const LATE_LOOK = 2 * PULSE_INTERVAL;

/**
 * Notices a main thread that does not come round, and what it does meanwhile. Only looks in time
 * count: a laptop that slept, or a machine without a moment for either thread, is no blocked loop.
 */
export function createWatchdog(options: WatchdogOptions) {
  const { signals, readStack, onBlocked, onChange, now = () => performance.now() } = options;
  let pulses = signals.pulses;
  let lastLook = now();
  let silent = 0;
  let blocked: BlockedLoop | undefined;

  function begin(): void {
    const report = { at: Math.round(Date.now() - silent), ms: Math.round(silent), frames: [] };
    blocked = report;
    onChange();
    readStack().then(
      (frames) => {
        if (blocked?.at !== report.at) return;
        blocked = { ...blocked, frames };
        onChange();
      },
      () => undefined, // The report comes without a stack then.
    );
  }

  function end(): void {
    silent = 0;
    if (!blocked) return;
    const report = blocked;
    blocked = undefined;
    onBlocked(report);
    onChange();
  }

  return {
    /** Set while the main thread is blocked. */
    get blocked() {
      return blocked;
    },
    /** To be called every `PULSE_INTERVAL`. */
    look() {
      const elapsed = now() - lastLook;
      lastLook += elapsed;
      if (signals.pulses !== pulses || signals.waiting) {
        pulses = signals.pulses;
        end();
        return;
      }
      // Before the first pulse the program is still being loaded.
      if (pulses === 0) return;
      silent += Math.min(elapsed, LATE_LOOK);
      if (blocked) blocked = { ...blocked, ms: Math.round(silent) };
      else if (silent >= BLOCKED_AFTER) begin();
    },
  };
}
