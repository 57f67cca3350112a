import { expect, it, onTestFinished } from 'vitest';
import { startRevalidations } from '../../../src/desk/server/share-revalidations.ts';
import { createTestLog } from '../../support/test-log.ts';
import { until } from '../../support/until.ts';
import { useMemoryStore } from '../support/stores.ts';

it('drops a page that another replica has revalidated, once, also after an outage', async () => {
  const { store } = await useMemoryStore();
  const dropped: string[] = [];
  let isAway = false;
  let looks = 0;
  async function listRevalidations(since: number) {
    if (isAway) throw new Error('away');
    const found = await store.revalidations.listRevalidations(since);
    looks += 1;
    return found;
  }
  const { end } = startRevalidations({
    ...{ calls: { listRevalidations }, store: () => true, log: createTestLog().log, interval: 5 },
    dropCached: (path) => void dropped.push(path),
  });
  onTestFinished(end);
  const revalidate = (path: string) => store.journals.ingest({ occurrences: [], revalidations: [path] });
  await until(() => looks > 0, 'the first look');
  await revalidate('/articles/7');
  await expect.poll(() => dropped).toEqual(['/articles/7']);
  isAway = true;
  await revalidate('/later');
  isAway = false;
  await expect.poll(() => dropped).toEqual(['/articles/7', '/later']);
  const before = looks;
  await until(() => looks > before + 1, 'two looks');
  end();
  await revalidate('/after-the-end');
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(dropped).toEqual(['/articles/7', '/later']);
});
