import { continueTrace, getCurrentScope } from '@sentry/node';
import { expect, it } from 'vitest';
import { createTraceHeaders, mergeBaggage } from '../../../src/server/request/trace-headers.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const begun = { traceId, parentId: undefined, sampled: true };
const continued = { traceId, parentId: '00f067aa0ba902b7', sampled: false };
const project = { environment: 'production', release: 'shop@1.4.0+a b', publicKey: 'abc' };

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
