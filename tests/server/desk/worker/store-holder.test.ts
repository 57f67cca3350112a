import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { QueryFailedError, StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import { openSqlite } from '../../../../src/server/desk/store/sqlite.ts';
import { openStore } from '../../../../src/server/desk/store/store.ts';
import { createStoreHolder, type StoreHolder } from '../../../../src/server/desk/worker/store-holder.ts';
import { fullOf, ingest } from '../../../support/stores.ts';
import { createTestLog } from '../../../support/test-log.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers().restoreAllMocks());

async function setUp() {
  const driver = openSqlite(':memory:', createTestLog());
  const store = await openStore(driver, { environment: 'production' });
  const { log, lines } = createTestLog();
  const holder = createStoreHolder({ open: async () => store, count: () => undefined, log, onOpen: () => undefined });
  holder.start();
  onTestFinished(() => holder.close());
  return { driver, store, holder, levels: () => lines.map(({ level }) => level) };
}

/**
 * Waits for the next retry and its result. Opening or checking a store takes event-loop iterations that no fake timer
 * controls, and the clock must not advance during them.
 */
async function waitUntilBack(holder: StoreHolder): Promise<void> {
  await vi.advanceTimersToNextTimerAsync();
  while (holder.reachableSince === undefined) await new Promise((resolve) => setImmediate(resolve));
}

it('is unavailable if the disk is full, until a write succeeds', async () => {
  const { driver, store, holder, levels } = await setUp();
  await holder.use(() => ingest(store, fullOf()));
  const [pages] = await driver.all<{ page_count: number }>('PRAGMA page_count');
  await driver.all(`PRAGMA max_page_count = ${pages?.page_count ?? 0}`);
  const big = Array.from({ length: 500 }, () => fullOf());
  await expect(holder.use(() => ingest(store, ...big))).rejects.toThrow(StoreAwayError);
  expect(levels()).toEqual(['error']);
  expect(holder.reachableSince).toBeUndefined();

  await driver.all('PRAGMA max_page_count = 1000000');
  await waitUntilBack(holder);
  await holder.use(() => ingest(store, ...big));
  // The refused batch left nothing behind.
  expect((await store.find({ digest: '7K3QM2XA' }))?.incident.counts.server).toBe(501);
  expect(levels()).toEqual(['error', 'info']);
});

it('logs a failing query once a minute for each reason', async () => {
  const { holder, levels } = await setUp();
  const fail = (reason: 'slow' | 'refused') =>
    holder.use(async () => {
      throw new QueryFailedError(reason, 'no');
    });
  for (const reason of ['slow', 'slow', 'refused', 'slow'] as const) {
    await expect(fail(reason)).rejects.toThrow(QueryFailedError);
  }
  expect(levels()).toEqual(['warn', 'warn']);
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 61_000);
  await expect(fail('slow')).rejects.toThrow(QueryFailedError);
  expect(levels()).toHaveLength(3);
});
