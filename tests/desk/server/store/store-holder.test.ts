import { expect, it, onTestFinished, vi } from 'vitest';
import { createSignals } from '../../../../src/desk/server/ingest/signals.ts';
import { StoreAwayError } from '../../../../src/desk/server/store/sql.ts';
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
  return { holder, levels: () => lines.map(({ level }) => level) };
}

it('a store is unavailable if the disk is full, until a write succeeds', async () => {
  const { store, driver } = await useMemoryStore();
  const { holder, levels } = hold(async () => store);
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

it('opens a lost store only once, and does not lose it again to late errors of the earlier one', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const opening: ((store: Store) => void)[] = [];
  const close = vi.fn(async () => undefined);
  const openOne = () => opening.at(-1)?.({ close } as unknown as Store); // The rest is not called.
  const { holder } = hold(() => new Promise<Store>((resolve) => void opening.push(resolve)));
  openOne();
  const works = [1, 2, 3].map(() => Promise.withResolvers<never>());
  const uses = works.map(({ promise }) => expect(holder.use(() => promise)).rejects.toThrow('gone'));
  await vi.advanceTimersByTimeAsync(0);
  const fail = (index: number) => {
    works[index]?.reject(new StoreAwayError('gone', { isGone: true }));
    return vi.advanceTimersByTimeAsync(1000);
  };
  await fail(0);
  await fail(1); // The second store is being opened.
  openOne();
  await fail(2);
  await Promise.all(uses);
  expect([opening.length, close.mock.calls.length, holder.reachableSince !== undefined]).toEqual([2, 1, true]);
});
