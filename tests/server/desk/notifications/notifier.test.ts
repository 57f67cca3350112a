import { expect, it, onTestFinished } from 'vitest';
import type { Message } from '../../../../src/server/desk/notifications/message.ts';
import { createNotifier } from '../../../../src/server/desk/notifications/notifier.ts';
import type { NotificationResult } from '../../../../src/server/desk/store/claim-notification.ts';
import { StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import { openSqlite } from '../../../../src/server/desk/store/sqlite.ts';
import { openStore, type Store } from '../../../../src/server/desk/store/store.ts';
import { Day, Hour, Minute } from '../../../../src/shared/units.ts';
import { ingest, fullOf } from '../../../support/stores.ts';
import { createTestLog } from '../../../support/test-log.ts';
import { until } from '../../../support/until.ts';

interface TestTarget {
  readonly sent: Message[];
  answer: () => NotificationResult | Promise<NotificationResult>;
}

const OK = { ok: true, words: 'It answered 200.' } as const;
const NO = { ok: false, words: 'It answered 500.' } as const;

async function start(
  names: readonly string[] = ['hook'],
  clock: { now: () => number; summaryAt: number } | undefined = undefined,
) {
  const { log, lines } = createTestLog();
  const targets = names.map((id) => {
    const test: TestTarget = { sent: [], answer: () => OK };
    return {
      test,
      target: {
        id,
        name: `Webhook ${id}`,
        summaryAt: clock?.summaryAt,
        async send(message: Message) {
          test.sent.push(message);
          return test.answer();
        },
      },
    };
  });
  const driver = openSqlite(':memory:', { log });
  const news = { after: [{ count: 1 }], targets: targets.map(({ target }) => target) };
  const store = await openStore(driver, { environment: 'production', news });
  onTestFinished(() => store.close());
  let isAway = false;
  const holder = {
    async use<T>(work: (store: Store) => Promise<T>): Promise<T> {
      if (isAway) throw new StoreAwayError('away');
      return work(store);
    },
  };
  const notifier = createNotifier({
    targets: targets.map(({ target }) => target),
    facts: { environment: 'production', deskOrigin: 'https://desk.example.com' },
    holder,
    log,
    ...(clock && { now: clock.now }),
  });
  onTestFinished(() => notifier.stop());
  return {
    store,
    notifier,
    lines,
    tests: targets.map(({ test }) => test),
    first: targets[0]?.test as TestTarget, // `names` has at least one element
    setAway: (is: boolean) => {
      isAway = is;
    },
    done: async () => (await store.listNotifications(50)).done,
  };
}

it('sends what is due once it is woken, with the source line of an occurrence', async () => {
  const { store, notifier, first, done } = await start();
  const { failure } = fullOf({ site: { path: 'src/cart.ts', function: 'load', detail: '' } });
  const resolved = [[{ file: 'src/cart.ts', line: 41, column: 1, function: 'load', own: true }]];
  await ingest(store, { entry: 'full', failure: { ...failure, resolved } });
  notifier.wake();
  await until(() => first.sent.length === 1, 'the message');
  expect(first.sent[0]?.incident).toMatchObject({ digest: '7K3QM2XA', place: { file: 'src/cart.ts', line: 41 } });
  await notifier.stop();
  expect(await done()).toMatchObject([{ state: 'sent', outcome: OK.words }]);
});

it('sends the summary of a day within an hour of its time', async () => {
  const midnight = Math.floor(Date.now() / Day) * Day;
  let now = midnight + 7 * Hour;
  const { store, notifier, first } = await start(['mail'], { now: () => now, summaryAt: 7.5 * Hour });
  await ingest(store, fullOf({ at: midnight }));
  const wake = async () => {
    notifier.wake();
    await until(() => first.sent.some(({ kind }) => kind === 'new'), 'the new incident');
    await store.queueDaily({ id: 'other', name: '' }, now); // after what the notifier asked before
    return first.sent.flatMap(({ kind, why, summed }) => (kind === 'daily' ? [{ why, summed }] : []));
  };
  expect(await wake()).toEqual([]);
  now = midnight + 8 * Hour;
  notifier.wake();
  await until(() => first.sent.some(({ kind }) => kind === 'daily'), 'the summary');
  const summary = {
    why: 'In the last 24 hours, 1 open incident happened: 1 new, 0 regressions.',
    summed: [{ label: '1 time, TypeError: boom', digest: '7K3QM2XA', link: 'https://desk.example.com/desk/7K3QM2XA' }],
  };
  now += Minute;
  expect(await wake()).toEqual([summary]);
  now = midnight + Day + 9 * Hour; // no server ran at half past seven
  await ingest(store, fullOf({ at: now - 1 }));
  expect(await wake()).toEqual([summary]);
});

it('does not let a slow target delay the others', async () => {
  const { store, notifier, tests } = await start(['slow', 'quick']);
  const slow = Promise.withResolvers<NotificationResult>();
  const [first, second] = tests;
  if (first) first.answer = () => slow.promise;
  await ingest(store, fullOf(), fullOf({ digest: '00000002' }));
  notifier.wake();
  await until(
    () => first?.sent.length === 1 && second?.sent.length === 2,
    'both messages, one of which is still being sent',
  );
  slow.resolve(OK);
  await until(() => first?.sent.length === 2, 'the second one');
});

it('logs a failing target once, until it accepts something again', async () => {
  const { store, notifier, first, lines } = await start();
  first.answer = () => ({ ...NO, isFinal: true });
  await ingest(store, fullOf(), fullOf({ digest: '00000002' }));
  notifier.wake();
  await until(() => first.sent.length === 1, 'the first try');
  await notifier.stop();
  expect(lines).toMatchObject([{ level: 'warn', fields: { target: 'Webhook hook', outcome: NO.words } }]);
  expect(JSON.stringify(lines)).not.toContain('boom');
});

it('waits for running deliveries when it is stopped, and starts no new ones', async () => {
  const { store, notifier, first, done } = await start();
  const slow = Promise.withResolvers<NotificationResult>();
  first.answer = () => slow.promise;
  await ingest(store, fullOf(), fullOf({ digest: '00000002' }));
  notifier.wake();
  await until(() => first.sent.length === 1, 'the first one');
  const stopped = notifier.stop();
  slow.resolve(OK);
  await stopped;
  expect(first.sent).toHaveLength(1);
  expect(await done()).toMatchObject([{ state: 'sent' }]);
});

it('logs nothing while the store is unavailable, and continues when it is back', async () => {
  const { store, notifier, first, lines, setAway } = await start();
  await ingest(store, fullOf());
  setAway(true);
  notifier.wake();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([first.sent.length, lines.length]).toEqual([0, 0]);
  setAway(false);
  notifier.wake();
  await until(() => first.sent.length === 1, 'the message');
});

it('sends a test to all targets immediately, even if others are waiting, and records it', async () => {
  const { store, notifier, tests, done } = await start(['hook', 'mail']);
  const [hook, mail] = tests;
  if (mail) mail.answer = () => NO;
  await ingest(store, fullOf());
  expect(await notifier.sendTest()).toEqual([
    { target: 'Webhook hook', ok: true, words: OK.words },
    { target: 'Webhook mail', ok: false, words: NO.words },
  ]);
  expect(hook?.sent[0]).toMatchObject({ kind: 'test', link: 'https://desk.example.com/desk/notifications' });
  expect((await done()).map(({ kind, state }) => `${kind} ${state}`).sort()).toEqual(['test failed', 'test sent']);
});
