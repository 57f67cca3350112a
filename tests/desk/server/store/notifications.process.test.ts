import { expect, it } from 'vitest';
import {
  MAX_IN_MESSAGE,
  MAX_MESSAGES_PER_HOUR,
  MAX_NOTIFICATION_ATTEMPTS,
} from '../../../../src/desk/server/desk-limits.ts';
import type { StateChange } from '../../../../src/desk/server/store/change-incident.ts';
import type { SqlDriver } from '../../../../src/desk/server/store/sql.ts';
import type { Store } from '../../../../src/desk/server/store/store.ts';
import type { NotificationRules } from '../../../../src/desk/server/store/store-context.ts';
import type { Failure } from '../../../../src/server/errors/failure.ts';
import { Day, Hour, Minute, Second } from '../../../../src/shared/units.ts';
import { describeStores, fullOf, ingest, summaryOf, thisHour } from '../../support/stores.ts';

const KEY = '7K3QM2XA@production';
const hook = { id: 'hook', name: 'Webhook hooks.example.com' };
const ada = { author: 'ada' };
const RESOLVED = { state: 'resolved', in: 'now' } as const;
const ok = { ok: true, words: 'It answered 200.' };
const no = { ok: false, words: 'It answered 500.' };

/** Returns a time after all earlier changes. */
const later = () => Date.now() + Minute;
const nameOf = (index: number) => `A${String(index).padStart(7, '0')}`;

/** Something that is ingested at once: a failure, and how often. */
type Seen = Partial<Failure> & { readonly times?: number };

describeStores('notifications', (open) => {
  const start = (rules: Partial<NotificationRules> = {}) => open({ after: 1, targets: [hook], ...rules });
  const see = (store: Store, { times = 1, ...failure }: Seen = {}) =>
    ingest(store, fullOf(failure), ...Array.from({ length: times - 1 }, () => summaryOf(failure)));
  const list = async (store: Store) => (await store.notifications.listNotifications(1000)).reverse();
  const claim = async (store: Store) => {
    const message = await store.notifications.claimMessage('hook');
    if (!message) throw new Error('Nothing was due.');
    return message;
  };
  const pass = (driver: SqlDriver, ms: number) =>
    driver.run(
      'UPDATE desk_notifications SET created_at = created_at - ?, due_at = due_at - ?, tried_at = tried_at - ?',
      [ms, ms, ms],
    );

  const old = { at: Date.now() - 2 * Day };
  const browser = { side: 'browser' } as const;
  const many = [
    { ...browser, visitor: 'two', times: 50 },
    { ...browser, visitor: 'three' },
  ];
  it.each<[what: string, after: NotificationRules['after'], seen: readonly (Seen | StateChange)[], events: string]>([
    ['a third occurrence', 3, [{}, {}, {}, {}], '; ; frequent; frequent'],
    ['a policy violation', 1, [{ kind: 'csp' }], ''],
    ['a deprecation', 1, [{ kind: 'deprecation' }], ''],
    ['an intervention', 1, [{ kind: 'intervention' }], ''],
    ['a foreign script', 1, [{ kind: 'script-error' }], ''],
    ['a browser failure, from the second visitor within a day', 1, [{ ...browser, ...old }, ...many], '; ; new'],
    ['a browser failure that a server sees too', 1, [{ ...browser, visitor: 'one' }, {}], '; new'],
    [
      'each regression',
      1,
      [{}, RESOLVED, { at: later() }, RESOLVED, { at: later() + 1 }],
      'new; new; new regressed; new regressed; new regressed regressed',
    ],
    [
      'a regression in browsers, from the second visitor',
      1,
      [{ ...browser, ...old, visitor: 'one' }, RESOLVED, ...many.map((seen) => ({ ...seen, at: later() }))],
      '; ; ; regressed',
    ],
    [
      'an incident that outgrew the limit until which it was ignored',
      1,
      // In the next hour, because this one can end in the meantime.
      [{ at: thisHour }, { state: 'ignored', untilMore: 2 }, { at: thisHour + Hour }, { at: thisHour + Hour }],
      'new; new; new; new frequent',
    ],
  ])('are stored for %s', async (_what, after, steps, expected) => {
    const { store } = await start({ after });
    const stored: string[] = [];
    for (const step of steps) {
      if ('state' in step) await store.changes.changeState(KEY, step, ada);
      else await see(store, step);
      stored.push((await list(store)).map(({ event }) => event).join(' '));
    }
    expect(stored.join('; ')).toBe(expected);
  });

  it('are claimed by one replica, and again only after a minute, with the same id', async () => {
    const { store, driver } = await start();
    await see(store);
    const claims = (await Promise.all([1, 2, 3, 4].map(() => store.notifications.claimMessage('hook')))).filter(
      (one) => one,
    );
    expect(claims).toMatchObject([{ attempts: 1, items: [{ event: 'new', incident: { key: KEY } }] }]);
    expect(await store.notifications.claimMessage('mail')).toBeUndefined();
    await pass(driver, Minute);
    const again = await claim(store);
    expect(again).toMatchObject({ id: claims[0]?.id, attempts: 2 });
    // The slow replica was overtaken, so its result does not count.
    await store.notifications.settleMessage(claims[0] ?? again, { ...no, isFinal: true });
    expect(await list(store)).toMatchObject([{ state: 'waiting', attempts: 2 }]);
    await store.notifications.settleMessage(again, ok);
    await pass(driver, Day);
    expect(await store.notifications.claimMessage('hook')).toBeUndefined();
    expect(await list(store)).toMatchObject([{ state: 'sent', result: ok.words, attempts: 2 }]);
  });

  it('are retried with a wait that doubles, and eventually given up', async () => {
    const { store, driver } = await start();
    await see(store);
    const waits: number[] = [];
    for (let attempts = 1; attempts <= MAX_NOTIFICATION_ATTEMPTS; attempts += 1) {
      await store.notifications.settleMessage(await claim(store), no);
      const [{ state, dueAt } = { state: '', dueAt: 0 }] = await list(store);
      if (state !== 'waiting') break;
      expect(await store.notifications.claimMessage('hook')).toBeUndefined();
      waits.push(dueAt - Date.now());
      await pass(driver, 2 * Hour);
    }
    expect(waits).toHaveLength(MAX_NOTIFICATION_ATTEMPTS - 1);
    expect(waits[0]).toBeLessThan(6 * Second);
    expect(waits[3]).toBeGreaterThan(30 * Second);
    expect(Math.max(...waits)).toBeLessThan(Hour + Minute);
    expect(await list(store)).toMatchObject([{ state: 'failed', attempts: MAX_NOTIFICATION_ATTEMPTS }]);
  });

  it('respect Retry-After up to a day, and give up at once if it is no use', async () => {
    const { store, driver } = await start();
    await see(store);
    await store.notifications.settleMessage(await claim(store), { ...no, retryAfter: 3 * Day });
    await pass(driver, 23 * Hour);
    expect(await store.notifications.claimMessage('hook')).toBeUndefined();
    await pass(driver, Hour);
    await store.notifications.settleMessage(await claim(store), { ...no, isFinal: true });
    expect(await list(store)).toMatchObject([{ state: 'failed', attempts: 2 }]);
  });

  it('are skipped if an operator has handled the incident first, however many that are', async () => {
    const { store } = await start();
    const digests = Array.from({ length: MAX_IN_MESSAGE + 1 }, (_, index) => nameOf(index));
    await ingest(store, ...digests.map((digest) => fullOf({ digest })));
    const [deleted, last, ...resolved] = [digests[0], digests.pop(), ...digests.slice(1)];
    await store.changes.deleteIncident(`${deleted}@production`, ada);
    for (const digest of resolved) await store.changes.changeState(`${digest}@production`, RESOLVED, ada);
    expect((await claim(store)).items).toMatchObject([{ incident: { digest: last } }]);
    expect(await list(store)).toMatchObject([{ state: 'waiting', key: `${last}@production` }]);
  });

  it('are sent together, in at most twenty messages an hour', async () => {
    const { store, driver } = await start();
    for (let index = 0; index < MAX_MESSAGES_PER_HOUR; index += 1) {
      await see(store, { digest: nameOf(index) });
      await store.notifications.settleMessage(await claim(store), ok);
    }
    const names = Array.from({ length: 3 * MAX_IN_MESSAGE }, (_, index) => nameOf(100 + index));
    await ingest(store, ...names.map((digest) => summaryOf({ digest })));
    expect(await store.notifications.claimMessage('hook')).toBeUndefined();
    await pass(driver, Hour);
    const message = await claim(store);
    expect(message.items).toHaveLength(MAX_IN_MESSAGE);
    await store.notifications.settleMessage(message, ok);
    expect((await list(store)).filter(({ state }) => state === 'waiting')).toHaveLength(2 * MAX_IN_MESSAGE);
  });
});
