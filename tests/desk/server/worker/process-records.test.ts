import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { DEAD_AFTER } from '../../../../src/desk/server/desk-limits.ts';
import { StoreAwayError } from '../../../../src/desk/server/store/sql.ts';
import type { Store } from '../../../../src/desk/server/store/store.ts';
import type { StoreHolder } from '../../../../src/desk/server/store/store-holder.ts';
import { createProcessRecords } from '../../../../src/desk/server/worker/process-records.ts';
import { createFolder } from '../../../support/folder.ts';
import { createTestLog } from '../../../support/test-log.ts';
import { useMemoryStore } from '../../support/stores.ts';

const STATE = { inFlight: [], memory: 1, heap: { used: 1, limit: 2 }, blockedMs: 0 };
const readState = () => STATE;
const START = { build: 'b', release: 'r', environment: 'production', startedAt: 1 };

/** A replica's view of a store that others also write to. */
async function setUp() {
  const { store: sqlite, driver } = await useMemoryStore();
  const store: Store = { ...sqlite, isShared: true };
  const state = { reachableSince: (-10 * DEAD_AFTER) as number | undefined, away: false };
  const folder = createFolder(onTestFinished);
  const holder: Pick<StoreHolder, 'use' | 'reachableSince' | 'noteHeartbeat'> = {
    get reachableSince() {
      return state.reachableSince;
    },
    noteHeartbeat: () => undefined,
    async use(work) {
      if (state.away) throw new StoreAwayError('away');
      return work(store);
    },
  };
  const records = createProcessRecords(
    { start: { ...START, id: 'own' }, folder, readState },
    { holder, namespace: 'test', log: createTestLog().log },
  );
  const beat = async (id: string, age: number, state = STATE) => {
    await store.processes.storeHeartbeat({ ...START, id }, state);
    await driver.run('UPDATE desk_processes SET beat_at = beat_at - ? WHERE id = ?', [age, id]);
  };
  const deaths = async () => {
    const { incidents } = await store.list.listIncidents({ limit: 10 });
    return incidents.find(({ kind }) => kind === 'unclean-death')?.counts.server ?? 0;
  };
  return { records, store, state, folder, beat, deaths };
}

it('keeps deaths with different causes apart', async () => {
  const { records, store, beat } = await setUp();
  const states = [STATE, { ...STATE, blockedMs: 4000 }, { ...STATE, blockedMs: 4000, heap: { used: 95, limit: 100 } }];
  for (const [index, state] of [...states, ...states].entries()) {
    await beat(`p${index}`, DEAD_AFTER + 1000, state);
  }
  await records.endOfSilent();
  const { incidents } = await store.list.listIncidents({ limit: 10 });
  expect(Object.fromEntries(incidents.map(({ title, counts }) => [title, counts.server]))).toEqual({
    'unclean-death': 2,
    'unclean-death event loop blocked': 2,
    'unclean-death out of memory': 2,
  });
});

describe('a replica', () => {
  it('waits for 60 s after an outage of the store, because all heartbeats are old then', async () => {
    const { records, state, beat, deaths } = await setUp();
    await beat('silent', DEAD_AFTER + 1000);
    state.reachableSince = performance.now() - DEAD_AFTER / 2;
    await records.endOfSilent();
    state.reachableSince = undefined;
    await records.endOfSilent();
    expect(await deaths()).toBe(0);
    state.reachableSince = performance.now() - DEAD_AFTER - 1;
    await records.endOfSilent();
    expect(await deaths()).toBe(1);
  });

  it('counts no death of a process that ended on purpose while the store was away', async () => {
    const { records, store, state, deaths, folder } = await setUp();
    await store.processes.storeHeartbeat({ ...START, id: 'own', environment: 'staging' }, STATE);
    state.away = true;
    await expect(records.end()).rejects.toThrow(StoreAwayError);
    state.away = false;
    expect(await records.endOf({ process: 'own', folder })).toBe('staging');
    expect(await deaths()).toBe(0);
    expect(await store.processes.readUnended('own')).toBeUndefined();
  });

  it('marks its end in its folder, also if its last heartbeat hangs', () => {
    const folder = createFolder(onTestFinished);
    const hung = { reachableSince: 0, noteHeartbeat: () => undefined, use: () => new Promise<never>(() => undefined) };
    const start = { ...START, id: 'own' };
    const { log } = createTestLog();
    const records = createProcessRecords({ start, folder, readState }, { holder: hung, namespace: 'test', log });
    records.write();
    void records.end();
    expect(existsSync(join(folder, 'ended'))).toBe(true);
  });

  it('counts no death under `npm run dev`, which kills slow servers', async () => {
    const { records, beat, deaths } = await setUp();
    vi.stubEnv('SPILLWAY_DEV', '1');
    onTestFinished(() => void vi.unstubAllEnvs());
    await beat('replaced', DEAD_AFTER + 1000);
    await records.endOfSilent();
    expect(await deaths()).toBe(0);
  });
});
