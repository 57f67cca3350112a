import { expect, it, onTestFinished } from 'vitest';
import { startRevalidations } from '../../../src/desk/server/share-revalidations.ts';
import { onDrop } from '../../../src/server/pages/revalidate.ts';
import { createTestLog } from '../../support/test-log.ts';
import { until } from '../../support/until.ts';
import { useMemoryStore } from '../support/stores.ts';

const dropped: string[] = [];
onDrop((path) => void dropped.push(path));

async function startReplica() {
  const { log, lines } = createTestLog();
  const { store } = await useMemoryStore();
  const state = { isAway: false, isFull: false, looks: 0 };
  const journaled: string[] = [];
  const end = startRevalidations({
    calls: {
      async listRevalidations(since) {
        if (state.isAway) throw new Error('away');
        const found = await store.listRevalidations(since);
        state.looks += 1;
        return found;
      },
    },
    store: (path) => !state.isFull && journaled.push(path) > 0,
    log,
    interval: 5,
  });
  dropped.length = 0;
  onTestFinished(end);
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
