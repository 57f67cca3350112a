import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { QueryFailedError, StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import { openSqlite } from '../../../../src/server/desk/store/sqlite.ts';
import { openStore, type Store } from '../../../../src/server/desk/store/store.ts';
import { createStoreHolder, type StoreHolder } from '../../../../src/server/desk/worker/store-holder.ts';
import { createFailure } from '../../../support/desk.ts';
import { createTestLog } from '../../../support/test-log.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers().restoreAllMocks());

function setUp(open: () => Promise<Store>) {
  const { log, lines } = createTestLog();
  let opened = 0;
  const holder = createStoreHolder({
    open,
    count: () => undefined,
    log,
    onOpen: () => {
      opened += 1;
    },
  });
  holder.start();
  return { holder, lines, opened: () => opened };
}

/** Lets time pass for retries. */
async function wait(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
}

/**
 * Waits for the next retry and its result. Opening or checking a store takes event-loop iterations that no fake timer
 * controls, and the clock must not advance during them.
 */
async function waitUntilBack(holder: StoreHolder): Promise<void> {
  await vi.advanceTimersToNextTimerAsync();
  while (holder.reachableSince === undefined) await new Promise((resolve) => setImmediate(resolve));
}

const openMemory = () => openStore(openSqlite(':memory:', createTestLog()), { environment: 'production' });
const entries = [{ entry: 'full' as const, failure: createFailure() }];

describe('an unavailable store', () => {
  it('is opened as soon as possible, and logged once when it is lost and once when it is back', async () => {
    let isThere = false;
    const { holder, lines, opened } = setUp(async () => {
      if (!isThere) throw new StoreAwayError('not yet');
      return openMemory();
    });
    await expect(holder.use((store) => store.listBuilds())).rejects.toThrow(StoreAwayError);
    await wait(60_000);
    expect(lines).toMatchObject([{ level: 'error', message: expect.stringContaining('wait in the journal') }]);
    expect(holder.reachableSince).toBeUndefined();
    isThere = true;
    await waitUntilBack(holder);
    expect(await holder.use((store) => store.listBuilds())).toEqual([]);
    expect(opened()).toBe(1);
    expect(lines.map(({ level }) => level)).toEqual(['error', 'info']);
    await holder.close();
  });

  it('is detected if its disk is full, and stays unavailable until a write succeeds', async () => {
    const driver = openSqlite(':memory:', createTestLog());
    const store = await openStore(driver, { environment: 'production' });
    const { holder, lines } = setUp(async () => store);
    await holder.use(() => store.ingest({ entries }));
    const [pages] = await driver.all<{ page_count: number }>('PRAGMA page_count');
    await driver.all(`PRAGMA max_page_count = ${pages?.page_count ?? 0}`);
    const big = Array.from({ length: 500 }, () => ({ entry: 'full' as const, failure: createFailure() }));
    await expect(holder.use(() => store.ingest({ entries: big }))).rejects.toThrow(StoreAwayError);
    expect(lines.map(({ level }) => level)).toEqual(['error']);

    await driver.all('PRAGMA max_page_count = 1000000');
    await waitUntilBack(holder);
    await holder.use(() => store.ingest({ entries: big }));
    // The refused batch left nothing behind.
    expect((await store.find({ digest: '7K3QM2XA' }))?.incident.counts.server).toBe(501);
    await holder.close();
  });
});

it('logs a failing query once a minute for each reason', async () => {
  const { holder, lines } = setUp(openMemory);
  const fail = (reason: 'slow' | 'refused') =>
    holder.use(async () => {
      throw new QueryFailedError(reason, 'no');
    });
  for (const reason of ['slow', 'slow', 'refused', 'slow'] as const) {
    await expect(fail(reason)).rejects.toThrow(QueryFailedError);
  }
  expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn']);
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 61_000);
  await expect(fail('slow')).rejects.toThrow(QueryFailedError);
  expect(lines).toHaveLength(3);
  await holder.close();
});
