import type { StackFrame } from '../../../engine/errors/failure.ts';
import { BLOCKED_AFTER, PULSE_INTERVAL } from '../../limits.ts';
import type { Signals } from '../signals.ts';
import type { BlockedLoop } from './heartbeat.ts';

interface WatchdogOptions {
  readonly signals: Pick<Signals, 'pulses' | 'waiting'>;
  /** Reads the main thread's stack. */
  readonly readStack: () => Promise<readonly StackFrame[]>;
  /** Called once, when the main thread continues. */
  readonly onBlocked: (report: BlockedLoop) => void;
  /** Called when the block begins or ends, and when the stack is known. */
  readonly onChange: () => void;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

/** If two checks are further apart than this, the whole machine was suspended, not only the main thread (ms). */
const LATE_LOOK = 2 * PULSE_INTERVAL;

/**
 * Detects a blocked main thread, and reads its stack. A late check counts only up to `LATE_LOOK`, because a
 * laptop that slept or a machine that is overloaded is not a blocked event loop.
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
      () => undefined, // the report has no stack then
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
    /** Checks the main thread. Call it every `PULSE_INTERVAL`. */
    look() {
      const elapsed = now() - lastLook;
      lastLook += elapsed;
      if (signals.pulses !== pulses || signals.waiting) {
        pulses = signals.pulses;
        end();
        return;
      }
      // Before the first pulse, the program is still loading.
      if (pulses === 0) return;
      silent += Math.min(elapsed, LATE_LOOK);
      if (blocked) blocked = { ...blocked, ms: Math.round(silent) };
      else if (silent >= BLOCKED_AFTER) begin();
    },
  };
}
