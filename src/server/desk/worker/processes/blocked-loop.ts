import type { Funnel } from '../../../engine/errors/funnel.ts';
import type { BlockedLoop } from './heartbeat.ts';

/** Records a blocked event loop as a failure with the stack of the main thread. */
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
