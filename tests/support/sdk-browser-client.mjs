// A page of another app that uses Sentry's SDK for React; `?lifecycle=static` for transactions.
import * as Sentry from '@sentry/react';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';

const dsn = document.documentElement.dataset.dsn;
const query = new URLSearchParams(location.search);

Sentry.init({
  dsn,
  tunnel: '/_report',
  traceLifecycle: query.get('lifecycle'),
  tracesSampleRate: 1,
  profileSessionSampleRate: 1,
  profileLifecycle: 'manual',
  replaysSessionSampleRate: 1,
  enableLogs: true,
  release: 'build-2',
  environment: 'test',
  maxValueLength: 250,
  integrations: [
    Sentry.browserTracingIntegration(),
    Sentry.browserProfilingIntegration(),
    Sentry.replayIntegration({ flushMinDelay: 100, minReplayDuration: 0 }),
    Sentry.feedbackIntegration({ autoInject: false }),
  ],
  beforeSend: (event) => (event.message === 'dropped' ? null : event),
});
Sentry.setTag('cart', 3);

function Broken() {
  throw new TypeError('rendered');
}

async function run() {
  createRoot(document.getElementById('root'), {
    onUncaughtError: Sentry.reactErrorHandler(),
  }).render(createElement(Broken));
  Sentry.withScope((scope) => {
    scope.addAttachment({ filename: 'state.bin', data: new Uint8Array([0, 10, 13, 255]) });
    Sentry.captureException(new Error('outer', { cause: new RangeError('inner') }));
  });
  Sentry.captureMessage('dropped');
  const eventId = Sentry.captureMessage('said ✓');
  Sentry.captureFeedback({ message: 'It broke.', name: 'Ann', email: 'ann@example.com', associatedEventId: eventId });
  const report = Sentry.createUserFeedbackEnvelope(
    { event_id: eventId, name: 'Ann', email: 'ann@example.com', comments: 'It broke as ever.' },
    { metadata: Sentry.getClient().getSdkMetadata(), tunnel: '/_report', dsn: Sentry.getClient().getDsn() },
  );
  Sentry.getClient().sendEnvelope(report);
  Sentry.uiProfiler.startProfiler();
  const checkout = { name: 'checkout', op: 'task', forceTransaction: true, parentSpan: null };
  await Sentry.startSpan(checkout, () => new Promise((resolve) => setTimeout(resolve, 300)));
  Sentry.uiProfiler.stopProfiler();
  Sentry.logger.info('paid', { amount: 3 });
  Sentry.metrics.count('orders', 1);
  setTimeout(() => {
    throw new Error('in a timer');
  });
  document.body.append('changed'); // a change for the replay
  await Sentry.getReplay()?.flush();
  await Sentry.flush(5000);
}

run().then(() => {
  document.title = 'done';
});
