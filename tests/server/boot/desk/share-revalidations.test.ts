import { expect, it, onTestFinished, vi } from 'vitest';
import { startRevalidations } from '../../../../src/server/boot/desk/share-revalidations.ts';
import type { Desk } from '../../../../src/server/desk/desk.ts';
import { openSqlite } from '../../../../src/server/desk/store/sqlite.ts';
import { openStore, type Store } from '../../../../src/server/desk/store/store.ts';
import { onDrop, revalidate } from '../../../../src/server/engine/pages/revalidate.ts';
import { createTestLog } from '../../../support/test-log.ts';

const dropped: string[] = [];
onDrop((path) => void dropped.push(path));

async function startReplica() {
  const { log, lines } = createTestLog();
  const store = await openStore(openSqlite(':memory:', { log }), { environment: 'production' });
  let isAway = false;
  const asked: string[] = [];
  const ask = async (name: keyof Store, ...args: unknown[]) => {
    if (isAway) throw new Error('away');
    const answer = await (store[name] as (...args: unknown[]) => unknown)(...args);
    asked.push(name);
    return answer;
  };
  const end = startRevalidations({ desk: { ask: ask as Desk['ask'] }, log, interval: 5 });
  dropped.length = 0;
  onTestFinished(async () => {
    end();
    await store.close();
  });
  await vi.waitFor(() => expect(asked).toContain('listRevalidations'));
  /** Resolves after a look that began after this call. */
  async function looked(): Promise<void> {
    const count = asked.length;
    await vi.waitFor(() => expect(asked.length).toBeGreaterThan(count + 1));
  }
  function away(value: boolean): void {
    isAway = value;
  }
  return { store, lines, looked, end, away };
}

it('drops a page that another replica has revalidated, once', async () => {
  const { store, looked } = await startReplica();
  await store.storeRevalidation('/articles/7');
  await vi.waitFor(() => expect(dropped).toEqual(['/articles/7']));
  await looked();
  await looked();
  expect(dropped).toEqual(['/articles/7']);
});

it('tells other replicas, in the spelling of requests', async () => {
  const { store } = await startReplica();
  revalidate('/größe?page=2');
  expect(dropped[0]).toBe('/gr%C3%B6%C3%9Fe');
  await vi.waitFor(async () => {
    const { found } = await store.listRevalidations(0);
    expect(found.map(({ path }) => path)).toEqual(['/gr%C3%B6%C3%9Fe']);
  });
});

it('catches up after the store was unavailable, and logs what it could not tell', async () => {
  const { store, lines, away } = await startReplica();
  away(true);
  revalidate('/mine');
  await vi.waitFor(() => expect(JSON.stringify(lines)).toContain('Other replicas were not told'));
  await store.storeRevalidation('/theirs');
  away(false);
  await vi.waitFor(() => expect(dropped).toEqual(['/mine', '/theirs']));
});

it('ends', async () => {
  const { store, end } = await startReplica();
  end();
  await store.storeRevalidation('/later');
  await new Promise((resolve) => setImmediate(resolve));
  expect(dropped).toEqual([]);
});
