import { expect, it } from 'vitest';
import { Hour, Second } from '../../../../src/shared/units.ts';
import { describeStores, retain } from '../../../support/stores.ts';

describeStores('revalidations', (open) => {
  it('are found by those who looked before, and by no one who looks much later', async () => {
    const { store, driver } = await open();
    const before = await store.listRevalidations(0);
    expect(before.found).toEqual([]);
    await store.ingest({ entries: [], revalidations: ['/articles/7'] });
    const after = await store.listRevalidations(before.now);
    expect(after.found).toEqual([{ path: '/articles/7', at: expect.any(Number) }]);
    expect(after.now).toBeGreaterThanOrEqual(before.now);
    // Within a few seconds they are listed again, for transactions that were slow to commit.
    expect((await store.listRevalidations(after.now)).found).toEqual(after.found);
    expect((await store.listRevalidations(after.now + 6 * Second)).found).toEqual([]);
    await driver.run('UPDATE desk_revalidations SET at = at - ?', [Second]);
    await store.ingest({ entries: [], revalidations: ['/articles/7'] });
    const again = await store.listRevalidations(before.now);
    expect(again.found).toHaveLength(1);
    expect(again.found[0]?.at).toBeGreaterThan((after.found[0]?.at ?? 0) - Second);
  });

  it('are deleted when every page of that time has been rendered again', async () => {
    const { store, driver } = await open();
    await store.ingest({ entries: [], revalidations: ['/old'] });
    await driver.run('UPDATE desk_revalidations SET at = at - ?', [Hour]);
    await store.ingest({ entries: [], revalidations: ['/new'] });
    await retain(store);
    expect(await driver.all('SELECT path FROM desk_revalidations')).toEqual([{ path: '/new' }]);
  });
});
