import { expect, it } from 'vitest';
import { openStore } from '../../../../src/desk/server/store/store.ts';
import { Day, Hour, Minute } from '../../../../src/shared/units.ts';
import { describeStores, fullOf, retain } from '../../support/stores.ts';

const DIGEST = '7K3QM2XA';

describeStores('a store', (open) => {
  it('has sessions until they end or expire, and ends each once', async () => {
    const { store, driver } = await open();
    for (const hash of ['1', '2']) await store.sessions.storeSession(hash, 12 * Hour);
    const age = (ms: number) => driver.run('UPDATE desk_sessions SET expires_at = expires_at - ?', [ms]);
    const list = () => Promise.all(['1', '2', '3'].map((hash) => store.sessions.hasSession(hash)));
    await age(12 * Hour - Minute);
    expect(await list()).toEqual([true, true, false]);
    const ends = await Promise.all([store.sessions.endSession('1'), store.sessions.endSession('1')]);
    expect(ends.sort()).toEqual([false, true]);
    await age(2 * Minute);
    expect([await list(), await store.sessions.endSession('2')]).toEqual([[false, false, false], false]);
    await retain(store);
    expect(await driver.all('SELECT 1 FROM desk_sessions')).toEqual([]);
  });

  it('keeps the first salt of a day, and deletes salts from before yesterday', async () => {
    const { store, driver } = await open();
    const today = Math.floor(Date.now() / Day);
    const offer = (salt: string) =>
      store.visitors.readSalts([0, today].map((day) => ({ day, salt: `${salt} ${day}` })));
    const first = await offer('first');
    expect(await offer('second')).toEqual(first);
    await driver.run('UPDATE desk_salts SET day = day - 2 WHERE day > 0');
    await retain(store);
    expect((await store.visitors.readSalts([])).map(({ day }) => day)).toEqual([0]);
  });

  it('has states, counts, releases, notes and notifications for each environment', async () => {
    const rules = { after: 1, targets: [{ id: 'hook', name: 'Webhook' }] };
    const { store: production, driver } = await open(rules);
    const staging = await openStore(driver, { environment: 'staging', rules });
    await production.builds.useBuild({ id: 'build-1', release: 'v1' });
    await production.journals.ingest({ occurrences: [fullOf(), fullOf()] });
    await production.changes.changeState(`${DIGEST}@production`, { state: 'resolved', in: 'next' }, { author: 'ada' });
    await production.history.addNote(`${DIGEST}@production`, 'Mended.', 'ada');
    // The next release runs in staging first, where the failure is known too.
    const next = { build: 'build-2', release: 'v2' };
    await staging.builds.useBuild({ id: 'build-2', release: 'v2' });
    await staging.journals.ingest({ occurrences: [fullOf(next)] });
    const read = async (environment: string) =>
      (await production.finder.find({ digest: DIGEST }, environment))?.incident;
    expect(await read('production')).toMatchObject({ state: 'resolved', counts: { server: 2 }, lastRelease: 'v1' });
    expect(await read('staging')).toMatchObject({ state: 'open', counts: { server: 1 }, lastRelease: 'v2' });
    expect(await production.history.listNotes(`${DIGEST}@staging`, 9)).toEqual([]);
    expect(await production.builds.listDeployments('production')).toMatchObject([{ release: 'v1' }]);
    const queued = await production.notifications.listNotifications(9);
    expect(queued.map(({ key }) => key)).toEqual([`${DIGEST}@staging`, `${DIGEST}@production`]);

    // Deployed to production, the release makes it a regression there.
    await production.builds.useBuild({ id: 'build-2', release: 'v2' });
    await production.journals.ingest({ occurrences: [fullOf({ ...next, at: Date.now() + 5 })] });
    expect(await read('production')).toMatchObject({ state: 'open', regressedIn: 'v2' });
  });
});
