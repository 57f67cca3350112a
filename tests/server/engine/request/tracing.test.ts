import type { RequestListener } from 'node:http';
import { context, type Span, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import request from 'supertest';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createOrigins } from '../../../../src/server/engine/protection/origins.ts';
import { requestId } from '../../../../src/server/engine/request/request-id.ts';
import { requestInfo } from '../../../../src/server/engine/request/request-info.ts';
import { chain, type Step } from '../../../../src/server/engine/request/step.ts';
import { findTracer, tracing } from '../../../../src/server/engine/request/tracing.ts';

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

function register(): void {
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
}

it('makes spans only with an SDK', () => {
  expect(findTracer()).toBeUndefined();
  register();
  expect(findTracer()).toBeDefined();
});

it('uses the span of an instrumentation of node:http', async () => {
  register();
  const tracer = findTracer();
  if (!tracer) throw new Error('The SDK was not found.');
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
  const origins = createOrigins([], 'http://127.0.0.1');
  const steps = [
    instrumentation,
    requestId({ origins, trust: () => false }),
    tracing(tracer, () => '/orders/…'),
    handle,
  ];
  const reply = await request(chain(steps, handle, fail)).get('/orders/1');
  expect(reply.text).toBe(theirs?.spanContext().traceId);
  expect(exporter.getFinishedSpans().map(({ name, attributes }) => [name, attributes])).toEqual([
    ['GET /orders/:id', { 'http.route': '/orders/:id', 'url.path': '/orders/…', 'http.response.status_code': 200 }],
  ]);
});

it('ends the spans of work that never settles with its request', async () => {
  register();
  const tracer = findTracer();
  if (!tracer) throw new Error('The SDK was not found.');
  const handle: RequestListener = (req, res) => {
    void requestInfo(req).spans?.run('loader cart', () => new Promise(() => undefined));
    res.end();
  };
  const origins = createOrigins([], 'http://127.0.0.1');
  const steps = [requestId({ origins, trust: () => false }), tracing(tracer, (path) => path)];
  await request(chain(steps, handle, fail)).get('/');
  expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['loader cart', 'GET']);
});
