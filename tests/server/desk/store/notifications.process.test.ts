import { expect, it } from 'vitest';
import {
  MAX_IN_MESSAGE,
  MAX_MESSAGES_PER_HOUR,
  MAX_NOTIFICATION_ATTEMPTS,
} from '../../../../src/server/desk/limits.ts';
import type { SqlDriver } from '../../../../src/server/desk/store/sql.ts';
import type { Store } from '../../../../src/server/desk/store/store.ts';
import type { NotificationRules } from '../../../../src/server/desk/store/store-context.ts';
import type { Failure } from '../../../../src/server/engine/errors/failure.ts';
import { Day, Hour, Minute, Second } from '../../../../src/shared/units.ts';
import { describeStores, fullOf, ingest, summaryOf, thisHour } from '../../../support/stores.ts';

const KEY = '7K3QM2XA@production';
const hook = { id: 'hook', name: 'Webhook hooks.example.com' };
const mail = { id: 'mail', name: 'Mail to ada@example.com' };
const ada = { author: 'ada' };
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
  const resolve = (store: Store) => store.changeState(KEY, { state: 'resolved', in: 'now' }, ada);
  const list = async (store: Store) => {
    const { waiting, done } = await store.listNotifications(1000);
    return [...waiting, ...done].sort((one, other) => one.id - other.id);
  };
  const events = async (store: Store) => (await list(store)).map(({ event }) => event);
  const claim = async (store: Store) => {
    const message = await store.claimMessage('hook');
    if (!message) throw new Error('Nothing was due.');
    return message;
  };
  const pass = (driver: SqlDriver, ms: number) =>
    driver.run(
      'UPDATE desk_notifications SET created_at = created_at - ?, due_at = due_at - ?, tried_at = tried_at - ?',
      [ms, ms, ms],
    );

  it('are stored once for a new incident, for each target', async () => {
    const { store } = await start({ targets: [hook, mail] });
    await Promise.all([ingest(store, fullOf()), ingest(store, fullOf(), summaryOf())]);
    await see(store, { times: 200 });
    expect(await list(store)).toMatchObject([
      { event: 'new', key: KEY, targetName: hook.name, state: 'waiting' },
      { event: 'new', key: KEY, targetName: mail.name, state: 'waiting' },
    ]);
  });

  it('are not stored without a target, not even for later', async () => {
    const { store } = await start({ targets: [] });
    await see(store);
    expect(await list(store)).toEqual([]);
  });

  const old = { at: Date.now() - 2 * Day };
  const browser = { side: 'browser' } as const;
  it.each<[what: string, after: NotificationRules['after'], seen: readonly Seen[], events: readonly string[][]]>([
    ['a third occurrence', 3, [{}, {}, {}, {}], [[], [], ['frequent'], ['frequent']]],
    ['a policy violation', 1, [{ kind: 'csp' }], [[]]],
    ['a deprecation', 1, [{ kind: 'deprecation' }], [[]]],
    ['an intervention', 1, [{ kind: 'intervention' }], [[]]],
    ['a foreign script', 1, [{ kind: 'script-error' }], [[]]],
    [
      'a browser failure, from the second visitor within a day',
      1,
      [
        { ...browser, ...old, visitor: 'one' },
        { ...browser, visitor: 'two', times: 50 },
        { ...browser },
        { ...browser, visitor: 'three' },
      ],
      [[], [], [], ['new']],
    ],
    ['a browser failure that a server sees too', 1, [{ ...browser, visitor: 'one' }, {}], [[], ['new']]],
  ])('are stored for %s', async (_what, after, seen, expected) => {
    const { store } = await start({ after });
    const stored: string[][] = [];
    for (const one of seen) {
      await see(store, one);
      stored.push(await events(store));
    }
    expect(stored).toEqual(expected);
  });

  it('are stored for each regression, and in browsers from the second visitor', async () => {
    const { store } = await start();
    await see(store);
    for (const release of ['v2', 'v3']) {
      await resolve(store);
      await see(store, { at: later(), release, times: 2 });
    }
    expect(await events(store)).toEqual(['new', 'regressed', 'regressed']);
    const sent = await start();
    await see(sent.store, { ...browser, ...old, visitor: 'one' });
    await resolve(sent.store);
    await see(sent.store, { ...browser, visitor: 'two', at: later() });
    expect(await events(sent.store)).toEqual([]);
    await see(sent.store, { ...browser, visitor: 'three', at: later() });
    expect(await events(sent.store)).toEqual(['regressed']);
  });

  it('are stored for an incident that outgrew the limit until which it was ignored', async () => {
    const { store } = await start();
    await see(store, { at: thisHour });
    await store.changeState(KEY, { state: 'ignored', growth: 2 }, ada);
    await see(store, { at: thisHour });
    expect(await events(store)).toEqual(['new']);
    await see(store, { at: thisHour });
    expect(await events(store)).toEqual(['new', 'frequent']);
  });

  it('are claimed by one replica, and again only after a minute, with the same id', async () => {
    const { store, driver } = await start();
    await see(store);
    const claims = (await Promise.all([1, 2, 3, 4].map(() => store.claimMessage('hook')))).filter((one) => one);
    expect(claims).toMatchObject([{ attempts: 1, items: [{ event: 'new', incident: { key: KEY } }] }]);
    expect(await store.claimMessage('mail')).toBeUndefined();
    await pass(driver, Minute);
    const again = await claim(store);
    expect(again).toMatchObject({ id: claims[0]?.id, attempts: 2 });
    // The slow replica was overtaken, so its result does not count.
    await store.settleMessage(claims[0] ?? again, { ...no, isFinal: true });
    expect(await list(store)).toMatchObject([{ state: 'waiting', attempts: 2 }]);
    const changes = await store.readChanges();
    await store.settleMessage(again, ok);
    expect(await store.readChanges()).toBeGreaterThan(changes);
    await pass(driver, Day);
    expect(await store.claimMessage('hook')).toBeUndefined();
    expect(await list(store)).toMatchObject([{ state: 'sent', result: ok.words, attempts: 2 }]);
  });

  it('are retried with a wait that doubles, and eventually given up', async () => {
    const { store, driver } = await start();
    await see(store);
    const waits: number[] = [];
    for (let attempts = 1; attempts <= MAX_NOTIFICATION_ATTEMPTS; attempts += 1) {
      await store.settleMessage(await claim(store), no);
      const [{ state, dueAt } = { state: '', dueAt: 0 }] = await list(store);
      if (state !== 'waiting') break;
      expect(await store.claimMessage('hook')).toBeUndefined();
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
    await store.settleMessage(await claim(store), { ...no, retryAfter: 3 * Day });
    await pass(driver, 23 * Hour);
    expect(await store.claimMessage('hook')).toBeUndefined();
    await pass(driver, Hour);
    await store.settleMessage(await claim(store), { ...no, isFinal: true });
    expect(await list(store)).toMatchObject([{ state: 'failed', attempts: 2 }]);
  });

  it('are skipped if an operator has handled the incident first', async () => {
    const { store } = await start();
    await ingest(store, ...[0, 1, 2].map((index) => fullOf({ digest: nameOf(index) })));
    await store.changeState(`${nameOf(0)}@production`, { state: 'resolved', in: 'now' }, ada);
    await store.deleteIncident(`${nameOf(1)}@production`, ada);
    expect((await claim(store)).items).toMatchObject([{ incident: { digest: nameOf(2) } }]);
    expect((await list(store)).map(({ state }) => state)).toEqual(['dropped', 'dropped', 'waiting']);
  });

  it('are sent together, in at most twenty messages an hour', async () => {
    const { store, driver } = await start();
    for (let index = 0; index < MAX_MESSAGES_PER_HOUR; index += 1) {
      await see(store, { digest: nameOf(index) });
      await store.settleMessage(await claim(store), ok);
    }
    await ingest(
      store,
      ...Array.from({ length: 3 * MAX_IN_MESSAGE }, (_, index) => summaryOf({ digest: nameOf(100 + index) })),
    );
    expect(await store.claimMessage('hook')).toBeUndefined();
    await pass(driver, Hour);
    for (const left of [2, 1, 0]) {
      const message = await claim(store);
      expect(message.items).toHaveLength(MAX_IN_MESSAGE);
      await store.settleMessage(message, ok);
      expect((await store.listNotifications(1000)).waiting).toHaveLength(left * MAX_IN_MESSAGE);
    }
  });

  it('list tests too', async () => {
    const { store } = await start();
    await store.storeTest(hook, no);
    expect(await list(store)).toMatchObject([{ event: 'test', state: 'failed', result: no.words }]);
  });
});
