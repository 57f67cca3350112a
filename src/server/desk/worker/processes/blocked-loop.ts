import type { Funnel } from '../../../engine/errors/funnel.ts';
import type { BlockedLoop } from './heartbeat.ts';

/** Makes an incident of a time in which nobody was answered, with what was on the stack. */
export function recordBlockedLoop(funnel: Funnel, { at, ms, frames }: BlockedLoop): void {
  const message = `The event loop was blocked for ${ms} ms.`;
  funnel.record(
    {
      kind: 'blocked-loop',
      errors: [{ class: 'BlockedLoop', message, frames }],
      extra: { ms, since: new Date(at).toISOString() },
    },
    { origin: 'process' },
  );
}
