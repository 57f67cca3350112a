// Another program that reports through the tunnel: `node sdk-node-client.mjs <tunnel> <dsn> <stream|static>`.
import * as Sentry from '@sentry/node';

const [, , tunnel, dsn, traceLifecycle] = process.argv;

Sentry.init({
  dsn,
  tunnel,
  traceLifecycle,
  tracesSampleRate: 1,
  enableLogs: true,
  release: 'build-2',
  environment: 'test',
  beforeSend: (event) => (event.message === 'dropped' ? null : event),
});
Sentry.setTag('cart', 3);
Sentry.setUser({ id: '7' });
Sentry.addBreadcrumb({ category: 'cart', message: 'checkout' });

Sentry.withScope((scope) => {
  scope.addAttachment({ filename: 'state.bin', data: new Uint8Array([0, 10, 13, 255]) });
  scope.setExtra('cart', { items: [1, 2] });
  Sentry.captureException(new Error('outer', { cause: new TypeError('inner') }));
});
Sentry.captureMessage('said ✓');
Sentry.captureMessage('dropped');
Sentry.captureException(new AggregateError([new RangeError('one'), new TypeError('two')], 'all'));
Sentry.withScope((scope) => {
  for (let index = 0; index < 20; index += 1) {
    scope.addAttachment({ filename: `${index}.txt`, data: `${index}\n`.repeat(1000) });
  }
  Sentry.captureException(new Error('large'));
});
Sentry.captureFeedback({ message: 'It broke.', name: 'Ann', email: 'ann@example.com' });
Sentry.captureCheckIn({ monitorSlug: 'job', status: 'ok', duration: 3 });
Sentry.startSession();
Sentry.captureSession();
Sentry.endSession();
Sentry.startSpan({ name: 'checkout', op: 'task' }, () => Sentry.startSpan({ name: 'pay' }, () => undefined));
Sentry.logger.info('paid', { amount: 3 });
Sentry.metrics.count('orders', 1);
// The SDK reports dropped items when the process has nothing else to do.
await Sentry.flush(8000);
