import { expect, it, onTestFinished } from 'vitest';
import { createSignals } from '../../../../src/desk/server/ingest/signals.ts';
import { StoreAwayError } from '../../../../src/desk/server/store/sql.ts';
import { createStoreHolder } from '../../../../src/desk/server/store/store-holder.ts';
import { createTestLog } from '../../../support/test-log.ts';
import { until } from '../../../support/until.ts';
import { fullOf, ingest, useMemoryStore } from '../../support/stores.ts';

it('a store is unavailable if the disk is full, until a write succeeds', async () => {
  const { store, driver } = await useMemoryStore();
  const { log, lines } = createTestLog();
  const signals = createSignals();
  const holder = createStoreHolder({ open: async () => store, signals, retryFirst: 10, count: () => undefined, log });
  onTestFinished(() => holder.close());
  holder.start();
  await holder.use(() => ingest(store, fullOf()));
  const [pages] = await driver.all<{ page_count: number }>('PRAGMA page_count');
  await driver.all(`PRAGMA max_page_count = ${pages?.page_count ?? 0}`);
  const big = Array.from({ length: 500 }, () => fullOf());
  await expect(holder.use(() => ingest(store, ...big))).rejects.toThrow(StoreAwayError);
  expect(holder.reachableSince).toBeUndefined();

  await driver.all('PRAGMA max_page_count = 1000000');
  await until(() => holder.reachableSince !== undefined, 'the store');
  await holder.use(() => ingest(store, ...big));
  // The refused batch left nothing behind.
  expect((await store.find({ digest: '7K3QM2XA' }))?.incident.counts.server).toBe(501);
  expect(lines.map(({ level }) => level)).toEqual(['error', 'info']);
});
