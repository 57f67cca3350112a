import type { ServerResponse } from 'node:http';
import { type Span, SpanKind, type SpanOptions, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { METHODS } from './step.ts';

/** The part of a failure that spans get. */
interface SpanFailure {
  readonly digest: string;
  readonly occurrence: string;
  /** `report` if the product handled the error. */
  readonly origin: string;
  readonly title: string;
  readonly errors: readonly { readonly class: string }[];
}

/** The spans of one request. */
export class RequestSpans {
  readonly #tracer: Tracer;
  readonly #span: Span;
  /**
   * Spans that have not ended. If their work has failed, with the error and its time: they end with the request, because
   * their failures get their addresses later.
   */
  readonly #open = new Map<Span, { readonly error?: unknown; readonly at?: number }>();

  constructor(tracer: Tracer, span: Span) {
    this.#tracer = tracer;
    this.#span = span;
  }

  /** Runs work in a span, within that of the work that calls this. */
  run<Value>(name: string, work: (span: Span) => Promise<Value> | Value, options: SpanOptions = {}): Promise<Value> {
    return this.#tracer.startActiveSpan(name, options, async (span) => {
      this.#open.set(span, {});
      try {
        const value = await work(span);
        this.#open.delete(span);
        span.end();
        return value;
      } catch (error) {
        this.#open.set(span, { error, at: Date.now() });
        throw error;
      }
    });
  }

  /** The same for an outgoing request, by the semantic conventions for HTTP clients. */
  fetch(
    method: string,
    target: string,
    send: (trace: ReturnType<typeof toTrace>) => Promise<Response>,
  ): Promise<Response> {
    async function work(span: Span): Promise<Response> {
      if (URL.canParse(target)) {
        const { origin, pathname, hostname, port, protocol } = new URL(target);
        span.setAttributes({ 'url.full': origin + pathname, 'server.address': hostname });
        span.setAttribute('server.port', Number(port || (protocol === 'https:' ? 443 : 80)));
      }
      try {
        const response = await send(toTrace(span));
        span.setAttribute('http.response.status_code', response.status);
        if (response.status >= 400) setFailed(span, String(response.status));
        return response;
      } catch (error) {
        setFailed(span, error instanceof Error ? error.name : '_OTHER');
        throw error;
      }
    }
    const attributes = { 'http.request.method': METHODS.has(method) ? method : '_OTHER' };
    return this.run(METHODS.has(method) ? method : 'HTTP', work, { kind: SpanKind.CLIENT, attributes });
  }

  /** Adds the address of a failure to the spans that it failed, and to that of the request. */
  fail(error: unknown, { digest, occurrence, origin, title, errors: [thrown] }: SpanFailure): void {
    const failed = [...this.#open].filter(([, { error: thrown }]) => thrown === error).map(([span]) => span);
    const inner = failed.length > 0 ? failed : [trace.getActiveSpan() ?? this.#span];
    // The title is scrubbed, unlike the error itself.
    if (origin !== 'report') for (const span of inner) setFailed(span, thrown?.class ?? '_OTHER', title);
    for (const span of [...inner, this.#span]) {
      span.setAttributes({ 'spillway.digest': digest, 'spillway.address': `${digest}-${occurrence}` });
    }
  }

  end(): void {
    for (const [span, { at }] of this.#open) span.end(at);
  }
}

/** Returns a span as the trace that outgoing requests and pages continue. */
export function toTrace(span: Span) {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return { traceId, parentId: spanId, spanId, sampled: (traceFlags & 1) === 1 };
}

export function setFailed(span: Span, type: string, message?: string): void {
  span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR, ...(message && { message }) });
}

/** The parts of a page's time. */
type Phase = 'guard' | 'loader' | 'action' | 'queue' | 'render';

interface Timing {
  readonly phase: Phase;
  /** The id of its route or action, if it has one. */
  readonly of: string | undefined;
  readonly ms: number;
}

/** How long the parts of one page took. */
export class Timings {
  readonly #began = performance.now();
  readonly entries: Timing[] = [];

  /** @param since `performance.now()` at its start */
  add(phase: Phase, since: number, of?: string): void {
    this.entries.push({ phase, of, ms: performance.now() - since });
  }

  /** Sends them to an operator as `Server-Timing`. */
  write(response: ServerResponse): void {
    if (response.headersSent) return;
    const entries = this.entries.map(({ phase, of, ms }) => {
      const words = of === undefined ? '' : `;desc=${JSON.stringify(`${phase} of ${of}`)}`;
      return `${phase}${words};dur=${ms.toFixed(1)}`;
    });
    const total = performance.now() - this.#began;
    const text = [...entries, `total;dur=${total.toFixed(1)}`].join(', ');
    response.setHeader('Server-Timing', text.replace(/[^ -~]/g, '?')); // a header can only have some letters
  }
}

/** Runs the work of one phase, in a span if spans are recorded, and measures its time if the visitor may see it. */
export function inPhase<Value>(
  { spans, timings }: { readonly spans: RequestSpans | undefined; readonly timings: Timings | undefined },
  phase: Phase,
  of: string | undefined,
  work: () => Promise<Value> | Value,
): Promise<Value> | Value {
  const spanned = spans ? () => spans.run(of === undefined ? phase : `${phase} ${of}`, work) : work;
  return timings ? measure(timings, phase, of, spanned) : spanned();
}

async function measure<Value>(
  timings: Timings,
  phase: Phase,
  of: string | undefined,
  work: () => Promise<Value> | Value,
): Promise<Value> {
  const since = performance.now();
  try {
    return await work();
  } finally {
    timings.add(phase, since, of);
  }
}
