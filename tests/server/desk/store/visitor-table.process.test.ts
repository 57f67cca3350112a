import { expect, it } from 'vitest';
import { toVisitorHash } from '../../../../src/server/reports/tunnel/visitors.ts';
import { Day, Minute } from '../../../../src/shared/units.ts';
import { describeStores, fullOf, ingest } from '../../../support/stores.ts';

const KEY = '7K3QM2XA@production';
const today = Math.floor(Date.now() / Day);

describeStores('visitors', (open) => {
  it('have one salt per day on all replicas, and yesterday’s is the oldest', async () => {
    const { store, driver } = await open();
    const offer = (salt: string) => store.readSalts([0, today].map((day) => ({ day, salt: `${salt} ${day}` })));
    const first = await offer('first');
    expect(await offer('second')).toEqual(first);
    await driver.run('UPDATE desk_salts SET day = day - 2 WHERE day > 0');
    expect((await store.readSalts([])).map(({ day }) => day)).toEqual([0]);
  });

  it('are forgotten: their failures and texts go, and counts stay', async () => {
    const { store, driver } = await open();
    await store.readSalts([{ day: 0, salt: 'pepper' }]);
    const own = toVisitorHash('pepper', 'customer 7');
    const before = Date.now() - Minute;
    const theirs = (visitor: string, secret: string) =>
      fullOf({
        at: before,
        visitor,
        title: `Error: ${secret}`,
        request: { method: 'GET', url: `/${secret}` },
        tags: { secret },
      });
    await ingest(store, theirs(own, 'hushhush'), fullOf({ at: before, visitor: 'other', title: 'Error: other' }));
    expect(await store.forgetVisitor('customer 7')).toBe(1);
    expect(await store.forgetVisitor('customer 7')).toBe(0);
    expect((await store.listOccurrences(KEY, { limit: 9 })).occurrences).toMatchObject([{ visitor: 'other' }]);
    expect((await store.find({ digest: '7K3QM2XA' }))?.incident).toMatchObject({
      title: 'Error: other',
      counts: { server: 2 },
      visitors: 1,
    });
    expect((await store.listIncidents({ limit: 9, search: 'hushhush' })).incidents).toEqual([]);

    expect(JSON.stringify(await driver.all('SELECT * FROM desk_incidents'))).not.toContain('hushhush');
  });
});
