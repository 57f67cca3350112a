import { continueTrace, getCurrentScope } from '@sentry/node';
import { expect, it } from 'vitest';
import { createTraceHeaders, mergeBaggage } from '../../../../src/server/engine/request/trace-headers.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const begun = { traceId, parentId: undefined, sampled: true };
const continued = { traceId, parentId: '00f067aa0ba902b7', sampled: false };
const project = { environment: 'production', release: 'shop@1.4.0+a b', publicKey: 'abc' };

it('contain the trace, the release, the environment and the project', () => {
  const headers = createTraceHeaders(project)(begun);
  expect(headers.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  expect(headers['sentry-trace']).toMatch(new RegExp(`^${traceId}-[0-9a-f]{16}$`));
  expect(headers.baggage).toBe(
    `sentry-trace_id=${traceId},sentry-environment=production,sentry-release=shop%401.4.0%2Ba%20b,sentry-public_key=abc`,
  );
});

it('keep the sampling decision of a continued trace', () => {
  const headers = createTraceHeaders({})(continued);
  expect(headers.traceparent).toMatch(/-00$/);
  expect(headers['sentry-trace']).toMatch(/-0$/);
  expect(headers.baggage).toBe(`sentry-trace_id=${traceId},sentry-sampled=false`);
});

it('contain a new span for each request', () => {
  const headersOf = createTraceHeaders({});
  expect(headersOf(begun).traceparent).not.toBe(headersOf(begun).traceparent);
});

it("are understood by Sentry's SDK", () => {
  const headersOf = createTraceHeaders(project);
  const read = (trace: typeof begun | typeof continued) => {
    const headers = headersOf(trace);
    return continueTrace({ sentryTrace: headers['sentry-trace'], baggage: headers.baggage }, () => ({
      headers,
      context: getCurrentScope().getPropagationContext(),
    }));
  };
  const { context, headers } = read(begun);
  expect(context).toMatchObject({
    traceId,
    parentSpanId: headers['sentry-trace'].split('-')[1],
    dsc: { trace_id: traceId, environment: 'production', release: project.release, public_key: 'abc' },
  });
  expect(context.sampled).toBeUndefined();
  expect(read(continued).context).toMatchObject({ traceId, sampled: false, dsc: { sampled: 'false' } });
});

it.each([
  [null, 'sentry-trace_id=1'],
  ['a=1;p=2, b=2', 'a=1;p=2,b=2,sentry-trace_id=1'],
  ['sentry-trace_id=0, a=1,', 'a=1,sentry-trace_id=1'],
])('merge the baggage %j', (others, expected) => {
  expect(mergeBaggage(others, 'sentry-trace_id=1')).toBe(expected);
});
