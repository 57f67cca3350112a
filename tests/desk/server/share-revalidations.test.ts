import { expect, it, onTestFinished } from 'vitest';
import { startRevalidations } from '../../../src/desk/server/share-revalidations.ts';
import { openSqlite } from '../../../src/desk/server/store/sqlite.ts';
import { openStore } from '../../../src/desk/server/store/store.ts';
import { dropCached, onDrop, revalidate, shareRevalidations } from '../../../src/server/pages/revalidate.ts';
import { createTestLog } from '../../support/test-log.ts';
import { until } from '../../support/until.ts';
import { useDesk } from '../support/use-desk.ts';

const dropped: string[] = [];
onDrop((path) => void dropped.push(path));

async function startReplica() {
  const { log, lines } = createTestLog();
  const store = await openStore(openSqlite(':memory:', { log }), { environment: 'production' });
  const state = { isAway: false, isFull: false, looks: 0 };
  const journaled: string[] = [];
  const { share, end } = startRevalidations({
    calls: {
      async listRevalidations(since) {
        if (state.isAway) throw new Error('away');
        const found = await store.listRevalidations(since);
        state.looks += 1;
        return found;
      },
    },
    store: (path) => !state.isFull && journaled.push(path) > 0,
    dropCached,
    log,
    interval: 5,
  });
  shareRevalidations(share);
  dropped.length = 0;
  onTestFinished(async () => {
    end();
    await store.close();
  });
  /** Resolves after a look that began after this call. */
  async function looked(): Promise<void> {
    const before = state.looks;
    await until(() => state.looks > before + 1, 'two looks');
  }
  await looked();
  return { store, lines, looked, journaled, state, end };
}

it('drops a page that another replica has revalidated, once, also after an outage', async () => {
  const { store, state, looked, end } = await startReplica();
  await store.ingest({ occurrences: [], revalidations: ['/articles/7'] });
  await expect.poll(() => dropped).toEqual(['/articles/7']);
  state.isAway = true;
  await store.ingest({ occurrences: [], revalidations: ['/later'] });
  state.isAway = false;
  await expect.poll(() => dropped).toEqual(['/articles/7', '/later']);
  await looked();
  end();
  await store.ingest({ occurrences: [], revalidations: ['/after-the-end'] });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(dropped).toEqual(['/articles/7', '/later']);
});

it('does not journal a path that no index can have', async () => {
  const { desk } = await useDesk();
  const isJournaled = (length: number) => desk.journalRevalidation(`/${'a'.repeat(length)}`);
  expect([isJournaled(1999), isJournaled(2000)]).toEqual([true, false]);
});

it('tells other replicas, in the spelling of requests, and logs if it cannot', async () => {
  const { state, journaled, lines } = await startReplica();
  revalidate('/größe?page=2');
  expect([dropped, journaled, lines]).toEqual([['/gr%C3%B6%C3%9Fe'], ['/gr%C3%B6%C3%9Fe'], []]);
  state.isFull = true;
  revalidate('/mine');
  expect(dropped).toContain('/mine');
  expect(lines).toMatchObject([{ message: expect.stringContaining('Other replicas were not told') }]);
});
