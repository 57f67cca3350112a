import { drawRandom } from './draw-random.ts';
import type { Trace } from './request-info.ts';

/** The parts of Sentry's dynamic sampling context other than the trace, each if it is known. */
export interface TracedProject {
  readonly environment?: string | undefined;
  readonly release?: string | undefined;
  /** The user part of the DSN. */
  readonly publicKey?: string | undefined;
}

/**
 * Creates the headers that continue a trace: W3C's `traceparent`, and Sentry's `sentry-trace` and `baggage`. No spans
 * are recorded here, so for a trace that begins here Sentry's headers have no sampling decision. The called servers
 * then make their own, as with Sentry's SDKs without tracing. `traceparent` has no third state, and an unset flag would
 * stop their recording, so there the flag is set.
 */
export function createTraceHeaders(project: TracedProject) {
  const constant = toEntries({
    environment: project.environment,
    release: project.release,
    public_key: project.publicKey,
  });

  return function traceHeaders({ traceId, parentId, sampled, spanId = drawRandom(8, 'hex') }: Trace) {
    const isDecided = parentId !== undefined;
    return {
      traceparent: `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`,
      'sentry-trace': `${traceId}-${spanId}${isDecided ? `-${sampled ? 1 : 0}` : ''}`,
      baggage: [
        ...toEntries({ trace_id: traceId }),
        ...constant,
        ...toEntries({ sampled: isDecided ? String(sampled) : undefined }),
      ].join(','),
    };
  };
}

/** Keeps the other entries of `baggage`. Of Sentry's own entries there can only be one set. */
export function mergeBaggage(others: string | null, ours: string): string {
  const kept = (others ?? '').split(',').filter((entry) => entry.trim() !== '' && !/^\s*sentry-/i.test(entry));
  return [...kept.map((entry) => entry.trim()), ours].join(',');
}

function toEntries(fields: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    return value ? [`sentry-${name}=${encodeURIComponent(value)}`] : [];
  });
}
