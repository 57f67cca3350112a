import { drawRandom } from './random.ts';
import type { Trace } from './request-info.ts';

/** What Sentry's dynamic sampling context names beside the trace, each where it is known. */
export interface TracedProject {
  readonly environment?: string | undefined;
  readonly release?: string | undefined;
  /** Of the DSN: the user's part. */
  readonly publicKey?: string | undefined;
}

/** The headers of F8 for one request that goes out. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly 'sentry-trace': string;
  readonly baggage: string;
}

/**
 * Makes the headers that carry a trace on: W3C's `traceparent`, and Sentry's `sentry-trace` and
 * `baggage`. No spans are recorded here, so a trace that began here has no decision of sampling in
 * Sentry's headers: those who are called make their own, as after Sentry's own SDKs without tracing.
 * `traceparent` has no third state, and an unset flag would stop their recording; there it is set.
 */
export function createTraceHeaders(project: TracedProject): (trace: Trace) => TraceHeaders {
  const constant = toEntries({
    environment: project.environment,
    release: project.release,
    public_key: project.publicKey,
  });

  return function traceHeaders({ traceId, parentId, sampled }) {
    const spanId = drawRandom(8, 'hex');
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

/** What others put into `baggage` stays; of Sentry's own entries there may be one set alone. */
export function mergeBaggage(others: string | null, ours: string): string {
  const kept = (others ?? '').split(',').filter((entry) => entry.trim() !== '' && !/^\s*sentry-/i.test(entry));
  return [...kept.map((entry) => entry.trim()), ours].join(',');
}

function toEntries(fields: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    return value ? [`sentry-${name}=${encodeURIComponent(value)}`] : [];
  });
}
