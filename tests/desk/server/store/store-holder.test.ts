import { expect, it, onTestFinished, vi } from 'vitest';
import { createSignals } from '../../../../src/desk/server/ingest/signals.ts';
import { QueryFailedError, StoreAwayError } from '../../../../src/desk/server/store/sql.ts';
import type { Store } from '../../../../src/desk/server/store/store.ts';
import { createStoreHolder } from '../../../../src/desk/server/store/store-holder.ts';
import { createTestLog } from '../../../support/test-log.ts';
import { until } from '../../../support/until.ts';
import { fullOf, ingest, useMemoryStore } from '../../support/stores.ts';

function hold(open: () => Promise<Store>) {
  const { log, lines } = createTestLog();
  const holder = createStoreHolder({ open, signals: createSignals(), retryFirst: 10, count: () => undefined, log });
  onTestFinished(() => holder.close());
  holder.start();
  return { holder, lines };
}

it('a store is unavailable if the disk is full, until a write succeeds', async () => {
  const { store, driver } = await useMemoryStore();
  const { holder, lines } = hold(async () => store);
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
  expect((await store.finder.find({ digest: '7K3QM2XA' }))?.incident.counts.server).toBe(501);
  expect(lines.map(({ level }) => level)).toEqual(['error', 'info']);
});

it('a store that hangs is not back while its queries wait for a connection', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let check = () => Promise.reject(new QueryFailedError('busy', 'timeout exceeded when trying to connect ()'));
  const store = { check: () => check(), close: async () => undefined } as unknown as Store; // The rest is not called.
  const { holder } = hold(async () => store);
  await expect(holder.use(() => Promise.reject(new StoreAwayError('no answer')))).rejects.toThrow(StoreAwayError);
  await vi.advanceTimersByTimeAsync(1000);
  expect(holder.reachableSince).toBeUndefined();
  check = () => Promise.reject(new QueryFailedError('refused', 'read-only'));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(holder.reachableSince).toBeDefined();
});
