import { describe, expect, it } from 'vitest';
import { MAX_NOTICE_TRIES, STORM } from '../../../../src/server/desk/limits.ts';
import { toWait } from '../../../../src/server/desk/store/claim-notification.ts';
import type { NotificationRules } from '../../../../src/server/desk/store/notification-rules.ts';
import type { NotificationRecord } from '../../../../src/server/desk/store/notification-table.ts';
import { QueryFailedError, type SqlDriver } from '../../../../src/server/desk/store/sql.ts';
import type { Store } from '../../../../src/server/desk/store/store.ts';
import type { Failure } from '../../../../src/server/engine/errors/failure.ts';
import { Day, Hour, Minute, Second } from '../../../../src/shared/units.ts';
import { describeStores, ingest, retain, summaryOf, thisHour, fullOf } from '../../../support/stores.ts';

const digest = '7K3QM2XA';
const hook = { id: 'hook', name: 'Webhook hooks.example.com' };
const mail = { id: 'mail', name: 'Mail to ada@example.com' };
const ada = { author: 'ada' };
const ok = { ok: true, words: 'It answered 200.' } as const;
const no = { ok: false, words: 'It answered 500.' } as const;

const nameOf = (index: number) => `A${String(index).padStart(7, '0')}`;
/** Returns a time after all earlier changes. */
const later = () => Date.now() + Minute;

describeStores('notifications', (open) => {
  async function start(news: Partial<NotificationRules> = {}) {
    const { store, driver } = await open({ after: [{ count: 1 }], targets: [hook], ...news });
    return { store, driver };
  }
  const told = async (store: Store) => {
    const { waiting, done } = await store.listNotifications(1000);
    return [...waiting, ...done].sort((a, b) => a.id - b.id);
  };
  const kinds = async (store: Store) => (await told(store)).map(({ kind, digest }) => `${kind} ${digest}`);
  const claim = async (store: Store, target = hook): Promise<NotificationRecord> => {
    const claimed = await store.claimNotification(target);
    if (!claimed) throw new Error('Nothing was due.');
    return claimed.notification;
  };
  const pass = async (driver: SqlDriver, ms: number) => {
    await driver.run('UPDATE desk_notices SET made_at = made_at - ?, due_at = due_at - ?, begun_at = begun_at - ?', [
      ms,
      ms,
      ms,
    ]);
    await driver.run('UPDATE desk_targets SET paused_until = paused_until - ?', [ms]);
  };
  /** Creates this many new incidents. */
  const open20 = (store: Store, count: number, from = 0) =>
    ingest(store, ...Array.from({ length: count }, (_, index) => fullOf({ digest: nameOf(from + index) })));
  /** Sends everything that is due, and returns it. */
  const sendAll = async (store: Store) => {
    const sent = [];
    for (;;) {
      const claimed = await store.claimNotification(hook);
      if (!claimed) return sent;
      await store.settleNotification(claimed.notification, ok);
      sent.push(claimed);
    }
  };

  it('are sent once for a new incident, to each target', async () => {
    const { store } = await start({ targets: [hook, mail] });
    await ingest(store, fullOf());
    await ingest(store, fullOf(), summaryOf());
    expect((await told(store)).map(({ kind, target, digest, state }) => [kind, target, digest, state])).toEqual([
      ['new', 'hook', digest, 'waiting'],
      ['new', 'mail', digest, 'waiting'],
    ]);
    expect(new Set((await told(store)).map(({ uid }) => uid)).size).toBe(2);
  });

  it('are not stored without a target, not even for later', async () => {
    const { store } = await start({ targets: [] });
    await ingest(store, fullOf());
    expect(await told(store)).toEqual([]);
    expect(await store.claimNotification(hook)).toBeUndefined();
  });

  it('are not sent for incidents that were new before the store supported notifications', async () => {
    const { store, driver } = await start();
    await ingest(store, fullOf());
    await driver.run('DELETE FROM desk_notices');
    await ingest(store, fullOf());
    expect(await told(store)).toEqual([]);
  });

  it('wait for the Nth occurrence', async () => {
    const { store } = await start({ after: [{ count: 3 }] });
    await ingest(store, fullOf());
    await ingest(store, summaryOf());
    expect(await told(store)).toEqual([]);
    await ingest(store, summaryOf());
    await ingest(store, summaryOf());
    expect(await kinds(store)).toEqual([`new ${digest}`]);
  });

  it('wait until an incident happened often enough within minutes, and again for a regression', async () => {
    const { store } = await start({ after: [{ count: 3, within: 5 * Minute }] });
    const at = thisHour;
    await ingest(store, fullOf({ at }), summaryOf({ at: at + Minute }));
    await ingest(store, summaryOf({ at: at + 6 * Minute }), summaryOf({ at: at + 20 * Minute }));
    await ingest(store, summaryOf({ at: at + 21 * Minute }));
    expect(await told(store)).toEqual([]);
    await ingest(store, summaryOf({ at: at + 24 * Minute }));
    expect(await kinds(store)).toEqual([`new ${digest}`]);
    await store.changeIncident(digest, { to: { state: 'resolved', in: 'now' } }, ada);
    const back = later() + Hour;
    await ingest(store, summaryOf({ at: back }), summaryOf({ at: back + 1 }));
    expect(await told(store)).toHaveLength(1);
    await ingest(store, summaryOf({ at: back + 2 }));
    expect(await kinds(store)).toEqual([`new ${digest}`, `regressed ${digest}`]);
  });

  it('count the occurrences of merged incidents', async () => {
    const { store } = await start({ after: [{ count: 3, within: Minute }] });
    await ingest(store, fullOf({ at: thisHour }), fullOf({ at: thisHour, digest: '00000002' }));
    await store.mergeIncidents('00000002', digest, ada);
    await ingest(store, summaryOf({ at: thisHour + 1, digest: '00000002' }));
    expect(await kinds(store)).toEqual([`new ${digest}`]);
  });

  it('wait until enough visitors are affected, or another threshold is reached', async () => {
    const { store } = await start({ after: [{ count: 2, of: 'visitors' }, { count: 9 }] });
    await ingest(store, fullOf({ visitor: 'one' }), summaryOf({ visitor: 'one' }), summaryOf({ visitor: 'one' }));
    expect(await told(store)).toEqual([]);
    await ingest(store, summaryOf({ visitor: 'two' }));
    expect(await kinds(store)).toEqual([`new ${digest}`]);
    const few = Array.from({ length: 9 }, () => summaryOf({ digest: '00000002' }));
    await ingest(store, ...few);
    expect(await kinds(store)).toEqual([`new ${digest}`, 'new 00000002']);
  });

  it('tell an operator about an incident that someone else assigned to them', async () => {
    const people = [{ id: 'for-ada', name: 'Mail to ada', person: 'ada' }];
    const { store } = await start({ people });
    await ingest(store, fullOf());
    const assign = (assignee: string | null, author: string) => store.changeIncident(digest, { assignee }, { author });
    await assign('ada', 'grace');
    await assign('ada', 'grace');
    await assign(null, 'grace');
    await assign('ada', 'ada');
    const { notification, incident } = (await store.claimNotification(people[0] ?? hook)) ?? {};
    expect(notification).toMatchObject({ kind: 'assigned', target: 'for-ada', detail: { by: 'grace', to: 'ada' } });
    expect(incident).toMatchObject({ digest, assignee: 'ada' });
    expect(await kinds(store)).toEqual([`new ${digest}`, `assigned ${digest}`]);
    // Without an address, all targets are told.
    await assign('bob', 'grace');
    expect((await told(store)).at(-1)).toMatchObject({ kind: 'assigned', target: 'hook', detail: { to: 'bob' } });
  });

  it('sum up the day before once, however many processes ask, and only if something happened', async () => {
    const { store, driver } = await start({ targets: [mail], after: [{ count: 1000 }] });
    const at = thisHour + Hour;
    const ask = (day: number) => Promise.all([1, 2, 3].map(() => store.queueDaily(mail, at + day * Day)));
    await ask(-1);
    expect(await told(store)).toEqual([]);
    await ingest(store, fullOf({ at: at - 3 * Day, digest: '00000003', title: 'Old' }));
    await ingest(
      store,
      fullOf({ at: at - 3 * Day, digest: '00000004', title: 'Back' }),
      fullOf({ at: at - Hour, digest: '00000005' }),
    );
    await store.changeIncident('00000005', { to: { state: 'resolved', in: 'now' } }, ada);
    await store.changeIncident('00000004', { to: { state: 'resolved', in: 'now' } }, ada);
    await driver.run("UPDATE desk_incidents SET state_at = ? WHERE digest = '00000004'", [at - 2 * Day]);
    await ingest(store, fullOf({ at: at - Hour, digest: '00000004' }));
    await ingest(store, fullOf({ at: at - Hour, title: 'Fresh' }), summaryOf({ at: at - Hour }));
    await ask(0);
    await ask(0);
    const claimed = await store.claimNotification(mail);
    expect(claimed?.notification).toMatchObject({
      kind: 'daily',
      detail: {
        day: {
          incidents: 2,
          fresh: 1,
          returned: 1,
          most: [
            { digest, title: 'Fresh', count: 2 },
            { digest: '00000004', title: 'Back', count: 1 },
          ],
        },
      },
    });
    expect(await told(store)).toHaveLength(1);
    await ask(1);
    expect(await told(store)).toHaveLength(1);
  });

  it('are sent for every regression', async () => {
    const { store } = await start();
    await ingest(store, fullOf());
    for (const release of ['v2', 'v3']) {
      await store.changeIncident(digest, { to: { state: 'resolved', in: 'now' } }, ada);
      await ingest(store, summaryOf({ at: later(), release }));
      await ingest(store, summaryOf({ at: later(), release }));
    }
    expect(await kinds(store)).toEqual([`new ${digest}`, `regressed ${digest}`, `regressed ${digest}`]);
  });

  it('are sent for an incident that outgrew the limit until which it was ignored', async () => {
    const { store } = await start();
    await ingest(store, fullOf({ at: thisHour }));
    await store.changeIncident(digest, { to: { state: 'ignored', growth: 2 } }, ada);
    await ingest(store, summaryOf({ at: thisHour }));
    expect(await kinds(store)).toEqual([`new ${digest}`]);
    await ingest(store, summaryOf({ at: thisHour }));
    const notifications = await told(store);
    expect(notifications.at(-1)).toMatchObject({ kind: 'storming', detail: { wasIgnored: true } });
    expect(notifications).toHaveLength(2);
  });

  it('are not sent for an incident ignored or resolved before its Nth occurrence', async () => {
    const { store } = await start({ after: [{ count: 2 }] });
    await ingest(store, fullOf());
    await store.changeIncident(digest, { to: { state: 'ignored' } }, ada);
    await ingest(store, summaryOf(), summaryOf());
    await store.changeIncident(digest, { to: { state: 'open' } }, ada);
    await ingest(store, summaryOf());
    expect(await told(store)).toEqual([]);
  });

  it.each(['csp', 'deprecation', 'intervention', 'script-error'] as const)('are not sent for kind %s', async (kind) => {
    const { store } = await start();
    await ingest(store, fullOf({ kind }));
    expect(await told(store)).toEqual([]);
  });

  it('are sent for browser-only failures from the second visitor within a day', async () => {
    const { store } = await start();
    const seen = (wanted: Partial<Failure>) => ingest(store, summaryOf({ side: 'browser', ...wanted }));
    await seen({ visitor: 'one', at: Date.now() - 2 * Day });
    await seen({ visitor: 'two' });
    await seen({ visitor: 'two' });
    await seen({});
    expect(await told(store)).toEqual([]);
    await seen({ visitor: 'three' });
    await seen({ visitor: 'four' });
    expect(await kinds(store)).toEqual([`new ${digest}`]);
  });

  const midnight = Math.floor(Date.now() / Day) * Day;
  it.each<[string, boolean, readonly [visitor: string, at: number, sameVisitor: readonly string[]][]]>([
    [
      'one visitor before and after midnight',
      false,
      [
        ['a', -Minute, []],
        ['A', Minute, ['a']],
      ],
    ],
    [
      'one visitor before and after midnight, stored together',
      false,
      [
        ['a', -Minute, ['z']],
        ['A', Minute, ['a']],
      ],
    ],
    [
      'one visitor whose last day arrives late',
      false,
      [
        ['A', Minute, ['a']],
        ['a', -Minute, ['z']],
      ],
    ],
    [
      'one visitor with a local salt and with the common salt',
      false,
      [
        ['own', 0, []],
        ['A', Minute, ['own']],
      ],
    ],
    [
      'another visitor after midnight',
      true,
      [
        ['a', -Minute, []],
        ['B', Minute, ['b']],
      ],
    ],
    [
      'another visitor of the same day',
      true,
      [
        ['A', 0, ['a']],
        ['B', Minute, ['b']],
      ],
    ],
    [
      'another visitor a day later',
      false,
      [
        ['a', -Minute, []],
        ['B', Day, ['b']],
      ],
    ],
  ])('are sent for browser-only failures, by the hashes of %s: %s', async (_name, isTold, seen) => {
    const entries = seen.map(([visitor, at, sameVisitor]) => ({
      ...summaryOf({ side: 'browser', visitor, at: midnight + at }),
      sameVisitor,
    }));
    const apart = await start();
    for (const entry of entries) await ingest(apart.store, entry);
    const together = await start();
    await ingest(together.store, ...entries);
    const wanted = isTold ? [`new ${digest}`] : [];
    expect([await kinds(apart.store), await kinds(together.store)]).toEqual([wanted, wanted]);
  });

  it('are sent for browser-only regressions from the second visitor too', async () => {
    const { store } = await start();
    const seen = (visitor: string) => ingest(store, summaryOf({ side: 'browser', visitor, at: later() }));
    await ingest(store, summaryOf({ side: 'browser', visitor: 'one', at: Date.now() - 3 * Day }));
    await store.changeIncident(digest, { to: { state: 'resolved', in: 'now' } }, ada);
    await seen('two');
    expect(await told(store)).toEqual([]);
    await seen('three');
    expect(await kinds(store)).toEqual([`regressed ${digest}`]);
  });

  it('are sent in a flood of made-up errors only for the one that other visitors met too', async () => {
    const { store } = await start();
    const made = Array.from({ length: 50 }, (_, index) =>
      summaryOf({ digest: nameOf(index), side: 'browser', visitor: `visitor ${index}` }),
    );
    const rest = Array.from({ length: 950 }, (_, index) =>
      summaryOf({ side: 'browser', visitor: `visitor ${index % 100}` }),
    );
    await ingest(store, ...made, ...rest);
    // It did not happen in the hours before, so it is also a storm.
    expect(await kinds(store)).toEqual([`new ${digest}`, `storming ${digest}`]);
  });

  it('are sent immediately for a browser failure that the server also sees', async () => {
    const { store } = await start();
    await ingest(store, summaryOf({ side: 'browser', visitor: 'one' }));
    await ingest(store, summaryOf());
    expect(await kinds(store)).toEqual([`new ${digest}`]);
  });

  it('are sent for a storm, once a day', async () => {
    const { store, driver } = await start();
    const times = (count: number, wanted: Partial<Failure> = {}) =>
      ingest(store, ...Array.from({ length: count }, () => summaryOf({ at: thisHour, ...wanted })));
    await times(STORM.least - 1);
    expect(await kinds(store)).toEqual([`new ${digest}`]);
    await times(1);
    await times(5);
    expect(await kinds(store)).toEqual([`new ${digest}`, `storming ${digest}`]);
    expect((await told(store)).at(-1)).toMatchObject({ detail: { count: STORM.least, most: 0 } });
    await driver.run('UPDATE desk_incidents SET stormed_at = stormed_at - ?', [Day]);
    await times(1);
    expect((await told(store)).filter(({ kind }) => kind === 'storming')).toHaveLength(2);
  });

  it('are not sent for the usual rate, for old occurrences, or for a storm by one visitor', async () => {
    const { store } = await start();
    const times = (count: number, wanted: Partial<Failure>) =>
      ingest(store, ...Array.from({ length: count }, () => summaryOf({ at: thisHour, ...wanted })));
    const most = Math.ceil(STORM.least / STORM.times) + 1;
    await times(most, { at: thisHour - 3 * Hour });
    await times(STORM.least, {});
    await times(STORM.least, { digest: '00000002', at: thisHour - 5 * Hour });
    await times(STORM.least, { digest: '00000003', side: 'browser', visitor: 'one' });
    // The server has seen it once, so browser occurrences do not count.
    await times(1, { digest: '00000004' });
    await times(STORM.least, { digest: '00000004', side: 'browser' });
    expect((await told(store)).filter(({ kind }) => kind === 'storming')).toEqual([]);
    await times(STORM.times * most - STORM.least, {});
    expect((await told(store)).filter(({ kind }) => kind === 'storming')).toMatchObject([
      { digest, detail: { count: STORM.times * most, most } },
    ]);
  });

  it('are sent for the target of merged incidents', async () => {
    const { store } = await start();
    await ingest(store, fullOf(), fullOf({ digest: '00000002' }));
    await store.mergeIncidents('00000002', digest, ada);
    await ingest(store, ...Array.from({ length: STORM.least }, () => summaryOf({ digest: '00000002', at: thisHour })));
    expect((await kinds(store)).slice(2)).toEqual([`storming ${digest}`]);
  });

  it('are claimed by only one replica, and again only after a minute', async () => {
    const { store, driver } = await start();
    await ingest(store, fullOf());
    const claims = await Promise.all([1, 2, 3, 4].map(() => store.claimNotification(hook)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(claims.find(Boolean)).toMatchObject({ incident: { digest }, notification: { tries: 1 }, isLast: false });
    expect(await store.claimNotification(mail)).toBeUndefined();
    await pass(driver, Minute);
    const again = await claim(store);
    expect(again).toMatchObject({ tries: 2 });
    expect(claims.find(Boolean)?.notification.uid).toBe(again.uid);
  });

  it('keep their result, update open pages, and are not sent again', async () => {
    const { store, driver } = await start();
    await ingest(store, fullOf());
    const changes = await store.readChanges();
    await store.settleNotification(await claim(store), ok);
    expect(await store.readChanges()).toBeGreaterThan(changes);
    await pass(driver, Day);
    expect(await store.claimNotification(hook)).toBeUndefined();
    const { waiting, waitingCount, done } = await store.listNotifications(10);
    expect([waiting, waitingCount]).toEqual([[], 0]);
    expect(done).toMatchObject([{ state: 'sent', outcome: ok.words, tries: 1, targetName: hook.name }]);
    expect(done[0]?.doneAt).toBeGreaterThan(0);
  });

  it('are retried with a wait that doubles, and eventually dropped', async () => {
    const { store, driver } = await start();
    await ingest(store, fullOf());
    const waits: number[] = [];
    for (let tries = 1; tries < MAX_NOTICE_TRIES; tries += 1) {
      await store.settleNotification(await claim(store), no);
      expect(await store.claimNotification(hook)).toBeUndefined();
      const [{ dueAt = 0 } = {}] = (await store.listNotifications(1)).waiting;
      waits.push(dueAt - Date.now());
      await pass(driver, 2 * Hour);
    }
    expect(waits[0]).toBeGreaterThan(3 * Second);
    expect(waits[0]).toBeLessThan(6 * Second);
    expect(waits[3]).toBeGreaterThan(30 * Second);
    expect(Math.max(...waits)).toBeLessThan(Hour + Minute);
    await store.settleNotification(await claim(store), no);
    expect((await store.listNotifications(1)).done).toMatchObject([{ state: 'failed', tries: MAX_NOTICE_TRIES }]);
  });

  it('pause for a target that failed, and continue once it answers', async () => {
    const { store, driver } = await start();
    await ingest(store, fullOf());
    await store.settleNotification(await claim(store), no);
    await ingest(store, fullOf({ digest: '00000002' }));
    expect(await store.claimNotification(hook)).toBeUndefined();
    await pass(driver, 10 * Second);
    await store.settleNotification(await claim(store), ok);
    await store.settleNotification(await claim(store), ok);
    expect((await store.listNotifications(5)).done).toMatchObject([{ state: 'sent' }, { state: 'sent' }]);
  });

  it('respect Retry-After', async () => {
    const { store, driver } = await start();
    await ingest(store, fullOf());
    await store.settleNotification(await claim(store), { ...no, retryAfter: 10 * Minute });
    await pass(driver, 9 * Minute);
    expect(await store.claimNotification(hook)).toBeUndefined();
    await pass(driver, Minute);
    await store.settleNotification(await claim(store), { ...no, retryAfter: 3 * Day });
    await pass(driver, 23 * Hour);
    expect(await store.claimNotification(hook)).toBeUndefined();
    await pass(driver, Hour);
    expect(await store.claimNotification(hook)).toBeDefined();
  });

  it('are dropped immediately after a permanent failure', async () => {
    const { store } = await start();
    await ingest(store, fullOf());
    await store.settleNotification(await claim(store), { ...no, isFinal: true });
    expect((await store.listNotifications(1)).done).toMatchObject([{ state: 'failed', tries: 1 }]);
  });

  it('can be ended only by the replica that claimed them last', async () => {
    const { store, driver } = await start();
    await ingest(store, fullOf());
    const slow = await claim(store);
    await pass(driver, Minute);
    const quick = await claim(store);
    await store.settleNotification(slow, { ...no, isFinal: true });
    expect((await store.listNotifications(1)).waiting).toMatchObject([{ tries: 2 }]);
    await store.settleNotification(quick, ok);
    expect((await store.listNotifications(1)).done).toMatchObject([{ state: 'sent' }]);
  });

  it('are skipped if an operator has handled the incident first', async () => {
    const { store } = await start();
    await open20(store, 4);
    await store.changeIncident(nameOf(0), { to: { state: 'resolved', in: 'now' } }, ada);
    await store.mergeIncidents(nameOf(1), nameOf(3), ada);
    await store.deleteIncident(nameOf(2), ada);
    expect((await sendAll(store)).map(({ incident }) => incident?.digest)).toEqual([nameOf(3)]);
    expect((await told(store)).map(({ state }) => state)).toEqual(['dropped', 'dropped', 'dropped', 'sent']);
  });

  it('are limited to twenty an hour, then one summary of the rest', async () => {
    const { store, driver } = await start();
    await open20(store, 35);
    const sent = await sendAll(store);
    expect(sent.map(({ notification }) => notification.kind)).toEqual(Array.from({ length: 20 }, () => 'new'));
    expect(sent.map(({ isLast }) => isLast)).toEqual([...Array.from({ length: 19 }, () => false), true]);
    await pass(driver, 20 * Second);
    await open20(store, 3, 40);
    expect(await sendAll(store)).toEqual([]);
    await pass(driver, 10 * Second);
    const [summary, ...more] = await sendAll(store);
    expect(more).toEqual([]);
    expect(summary).toMatchObject({ notification: { kind: 'summary' }, summed: { count: 18 } });
    expect(summary?.summed?.notifications).toHaveLength(10);
    expect(summary?.summed?.notifications[0]).toMatchObject({ digest: `${nameOf(42)}@production`, state: 'summed' });

    // No second summary within the hour. After that, single messages again.
    await open20(store, 2, 50);
    await pass(driver, 50 * Minute);
    expect(await sendAll(store)).toEqual([]);
    await pass(driver, 10 * Minute);
    expect(await sendAll(store)).toMatchObject([{ notification: { kind: 'summary' }, summed: { count: 2 } }]);
    await open20(store, 1, 60);
    expect(await sendAll(store)).toMatchObject([{ incident: { digest: nameOf(60) } }]);
  });

  it('stay within the limit if several replicas claim simultaneously', async () => {
    const { store } = await start();
    await open20(store, 30);
    const lines = await Promise.all([sendAll(store), sendAll(store), sendAll(store)]);
    expect(lines.flat().map(({ incident }) => incident?.digest)).toHaveLength(20);
    expect(new Set(lines.flat().map(({ incident }) => incident?.digest)).size).toBe(20);
  });

  it('are dropped after a day, and their records deleted after a month', async () => {
    const { store, driver } = await start();
    await ingest(store, fullOf());
    await store.settleNotification(await claim(store), no);
    await retain(store);
    expect((await told(store)).map(({ state }) => state)).toEqual(['waiting']);
    await pass(driver, Day + Minute);
    await retain(store);
    expect((await told(store)).map(({ state }) => state)).toEqual(['dropped']);
    await pass(driver, 30 * Day);
    await retain(store);
    expect(await told(store)).toEqual([]);
    expect(await driver.all('SELECT * FROM desk_targets')).toEqual([]);
  });

  it('are listed with the title of their incident and the time of the next attempt', async () => {
    const { store, driver } = await start();
    await ingest(store, fullOf(), fullOf({ digest: '00000002', title: '<b>' }));
    await store.settleNotification(await claim(store), { ...no, retryAfter: 10 * Minute });
    const { waiting } = await store.listNotifications(5);
    expect(waiting.map(({ incident }) => incident?.title).sort()).toEqual(['<b>', 'TypeError: boom']);
    for (const { dueAt } of waiting) expect(dueAt).toBeGreaterThan(Date.now() + 9 * Minute);
    await driver.run("DELETE FROM desk_incidents WHERE digest = '00000002'");
    expect((await store.listNotifications(5)).waiting.filter(({ incident }) => incident)).toHaveLength(1);
  });

  it('include test messages in the list', async () => {
    const { store } = await start();
    await store.storeTestNotification(mail, { uid: '0123', ok: false, words: 'It answered 500.' });
    expect((await store.listNotifications(5)).done).toMatchObject([
      { kind: 'test', state: 'failed', uid: '0123', targetName: mail.name, tries: 1 },
    ]);
  });

  it('are stored together with the batch, or not at all', async () => {
    const { store } = await start();
    const from = { run: 'run-1', next: { segment: null as never, offset: 0 } }; // the last statement rejects this
    await expect(store.ingest({ entries: [fullOf()], from })).rejects.toThrow(QueryFailedError);
    expect(await told(store)).toEqual([]);
  });
});

describe('the wait after a failure', () => {
  it('doubles up to an hour, minus at most a fifth', () => {
    expect([1, 2, 3, 11, 1000].map((failures) => toWait(failures, 0))).toEqual(
      [5, 10, 20, 3600, 3600].map((s) => s * Second),
    );
    expect(toWait(1, 1)).toBe(4 * Second);
  });
});
