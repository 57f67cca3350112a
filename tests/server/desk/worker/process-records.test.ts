import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { DEAD_AFTER } from '../../../../src/server/desk/limits.ts';
import { type SqlDriver, StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import { openSqlite } from '../../../../src/server/desk/store/sqlite.ts';
import { openStore, type Store } from '../../../../src/server/desk/store/store.ts';
import { createDigester } from '../../../../src/server/desk/worker/maps/digester.ts';
import { readHeartbeatFile } from '../../../../src/server/desk/worker/heartbeat-file.ts';
import { createProcessRecords } from '../../../../src/server/desk/worker/process-records.ts';
import { createFolder } from '../../../support/folder.ts';
import { createTestLog } from '../../../support/test-log.ts';

const digester = createDigester({ namespace: 'test' });

/** A replica's view of a store that others also write to. */
async function setUp({ isShared = true } = {}) {
  const driver: SqlDriver = openSqlite(':memory:', createTestLog());
  const sqlite = await openStore(driver, { environment: 'production' });
  onTestFinished(() => sqlite.close());
  const store: Store = new Proxy(sqlite, {
    get: (target, name) => (name === 'isShared' ? isShared : Reflect.get(target, name).bind(target)),
  });
  const state = { reachableSince: (-10 * DEAD_AFTER) as number | undefined, away: false };
  const folder = createFolder(onTestFinished);
  const runs = createProcessRecords({
    run: { id: 'own', build: 'b', release: 'r', startedAt: 1 },
    folder,
    holder: {
      get reachableSince() {
        return state.reachableSince;
      },
      async use(work) {
        if (state.away) throw new StoreAwayError('away');
        return work(store);
      },
    },
    blocked: () => undefined,
    digester,
    prepare: async (entries) => [...entries],
    log: createTestLog().log,
  });
  const beat = async (id: string, age = 0) => {
    await store.storeHeartbeat({ id, build: 'b', release: 'r' }, { startedAt: 1, inFlight: [], memory: 1 });
    await driver.run('UPDATE desk_runs SET beat_at = beat_at - ? WHERE id = ?', [age, id]);
  };
  const deaths = async () => {
    const { incidents } = await store.listIncidents({ limit: 10 });
    return incidents.find(({ kind }) => kind === 'unclean-death')?.counts.server ?? 0;
  };
  return { runs, store, state, folder, beat, deaths };
}

describe('a replica', () => {
  it('reports another one that has sent no heartbeat for 60 s', async () => {
    const { runs, beat, deaths } = await setUp();
    await beat('silent', DEAD_AFTER + 1000);
    await beat('alive', DEAD_AFTER - 5000);
    await beat('own', DEAD_AFTER + 1000);
    await runs.tellSilent();
    await runs.tellSilent();
    expect(await deaths()).toBe(1);
  });

  it('waits for 60 s after an outage of the store, because all heartbeats are old then', async () => {
    const { runs, state, beat, deaths } = await setUp();
    await beat('silent', DEAD_AFTER + 1000);
    state.reachableSince = performance.now() - DEAD_AFTER / 2;
    await runs.tellSilent();
    state.reachableSince = undefined;
    await runs.tellSilent();
    expect(await deaths()).toBe(0);
    state.reachableSince = performance.now() - DEAD_AFTER - 1;
    await runs.tellSilent();
    expect(await deaths()).toBe(1);
  });

  it('without others immediately reports the process before it', async () => {
    const { runs, beat, deaths } = await setUp({ isShared: false });
    await beat('before');
    await runs.tellSilent();
    expect(await deaths()).toBe(1);
  });

  it('writes its heartbeat next to its journal while the store is unavailable', async () => {
    const { runs, store, state, folder } = await setUp();
    const inFlight = [{ requestId: 'r', method: 'GET', route: '/', ms: 1 }];
    state.away = true;
    runs.note({ inFlight, memory: 7 });
    await vi.waitFor(() =>
      expect(readHeartbeatFile(folder)).toMatchObject({ id: 'own', inFlight, memory: 7, isEnd: false }),
    );
    state.away = false;
    runs.note({ inFlight, memory: 8 });
    await vi.waitFor(() => expect(readHeartbeatFile(folder)).toBeUndefined());
    expect(await store.readUnended('own')).toMatchObject({ memory: 8 });

    state.away = true;
    await expect(runs.end()).rejects.toThrow(StoreAwayError);
    expect(readHeartbeatFile(folder)).toMatchObject({ isEnd: true });
  });

  it('is reported by the heartbeat next to its journal, unless it ended cleanly', async () => {
    const { runs, store, deaths } = await setUp();
    const beside = {
      id: 'a',
      build: 'b',
      release: 'r',
      startedAt: 1,
      beatAt: 5,
      memory: 1,
      inFlight: [],
      isEnd: false,
    };
    await runs.tellDead('a', beside);
    await runs.tellDead('a', beside);
    expect(await deaths()).toBe(1);
    await store.storeHeartbeat({ id: 'c', build: 'b', release: 'r' }, { startedAt: 1, inFlight: [], memory: 1 });
    await runs.tellDead('c', { ...beside, id: 'c', isEnd: true });
    expect(await deaths()).toBe(1);
    expect(await store.readUnended('c')).toBeUndefined();
  });

  it('gives every unclean death the same title', async () => {
    const { runs, beat, store } = await setUp();
    await beat('a', DEAD_AFTER);
    await beat('b', DEAD_AFTER);
    await runs.tellSilent();
    expect((await store.listIncidents({ limit: 10 })).incidents).toMatchObject([
      { kind: 'unclean-death', counts: { server: 2 } },
    ]);
  });
});
