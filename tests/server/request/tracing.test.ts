import type { RequestListener } from 'node:http';
import { context, type Span, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import request from 'supertest';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createOrigins } from '../../../src/server/request/origins.ts';
import { requestId, requestInfo } from '../../../src/server/request/request-info.ts';
import { chain, type Step } from '../../../src/server/request/step.ts';
import { findTracer, tracing } from '../../../src/server/request/tracing.ts';

// `tests/recipes/opentelemetry.test.ts` tests the rest, with a server and an SDK in its own process.

const exporter = new InMemorySpanExporter();
const fail = (error: unknown) => {
  throw error;
};

beforeEach(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager()));
afterEach(() => {
  trace.disable();
  context.disable();
  exporter.reset();
});

function register() {
  expect(findTracer()).toBeUndefined(); // without an SDK
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
  return findTracer() ?? expect.unreachable();
}

/** Answers a request by the steps. */
function ask(tracer: ReturnType<typeof register>, handle: RequestListener, ...before: Step[]) {
  const origins = createOrigins([], 'http://127.0.0.1');
  const steps = [...before, requestId({ origins, trust: () => false }), tracing(tracer, () => '/orders/…')];
  return request(chain([...steps, handle], fail)).get('/orders/1');
}

it('uses the span of an instrumentation of node:http', async () => {
  const tracer = register();
  let theirs: Span | undefined;
  const instrumentation: Step = (_req, res, next) => {
    const span = tracer.startSpan('GET');
    theirs = span;
    res.once('close', () => span.end());
    context.with(trace.setSpan(context.active(), span), () => next());
  };
  const handle: RequestListener = (req, res) => {
    const info = requestInfo(req);
    info.route = '/orders/:id';
    res.end(info.trace.traceId);
  };
  const reply = await ask(tracer, handle, instrumentation);
  expect(reply.text).toBe(theirs?.spanContext().traceId);
  expect(exporter.getFinishedSpans().map(({ name, attributes }) => [name, attributes])).toEqual([
    ['GET /orders/:id', { 'http.route': '/orders/:id', 'url.path': '/orders/…', 'http.response.status_code': 200 }],
  ]);
});

it('ends the spans of work that never settles with its request', async () => {
  const tracer = register();
  const handle: RequestListener = (req, res) => {
    void requestInfo(req).spans?.run('loader cart', () => new Promise(() => undefined));
    res.end();
  };
  await ask(tracer, handle);
  expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['loader cart', 'GET']);
});
