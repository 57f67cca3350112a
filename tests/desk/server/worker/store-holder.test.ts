import { expect, it, onTestFinished } from 'vitest';
import { StoreAwayError } from '../../../../src/desk/server/store/sql.ts';
import { openSqlite } from '../../../../src/desk/server/store/sqlite.ts';
import { openStore } from '../../../../src/desk/server/store/store.ts';
import { createSignals } from '../../../../src/desk/server/worker/signals.ts';
import { createStoreHolder } from '../../../../src/desk/server/worker/store-holder.ts';
import { createTestLog } from '../../../support/test-log.ts';
import { until } from '../../../support/until.ts';
import { fullOf, ingest } from '../../support/stores.ts';

it('a store is unavailable if the disk is full, until a write succeeds', async () => {
  const driver = openSqlite(':memory:', createTestLog());
  const store = await openStore(driver, { environment: 'production' });
  const { log, lines } = createTestLog();
  const levels = () => lines.map(({ level }) => level);
  const holder = createStoreHolder({
    open: async () => store,
    signals: createSignals(),
    retryFirst: 10,
    count: () => undefined,
    log,
  });
  onTestFinished(() => holder.close());
  holder.start();
  await holder.use(() => ingest(store, fullOf()));
  const [pages] = await driver.all<{ page_count: number }>('PRAGMA page_count');
  await driver.all(`PRAGMA max_page_count = ${pages?.page_count ?? 0}`);
  const big = Array.from({ length: 500 }, () => fullOf());
  await expect(holder.use(() => ingest(store, ...big))).rejects.toThrow(StoreAwayError);
  expect(levels()).toEqual(['error']);
  expect(holder.reachableSince).toBeUndefined();

  await driver.all('PRAGMA max_page_count = 1000000');
  await until(() => holder.reachableSince !== undefined, 'the store');
  await holder.use(() => ingest(store, ...big));
  // The refused batch left nothing behind.
  expect((await store.find({ digest: '7K3QM2XA' }))?.incident.counts.server).toBe(501);
  expect(levels()).toEqual(['error', 'info']);
});
