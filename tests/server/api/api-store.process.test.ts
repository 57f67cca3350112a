import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ApiStore, createMemoryStore, createPostgresStore } from '../../../src/server/api/api-store.ts';
import { Day, Minute } from '../../../src/shared/units.ts';
import { createPostgresDatabase } from '../../support/postgres.ts';

const reply = { status: 201, headers: { Location: '/api/orders/1' }, body: { id: 1 } };

const toClaim = (id: string, sender = 'ada') => ({ id, sender });

async function createTwo(): Promise<[ApiStore, ApiStore]> {
  const connectionString = await createPostgresDatabase();
  const open = () => {
    const pool = new pg.Pool({ connectionString, max: 3 });
    onTestFinished(() => pool.end());
    return createPostgresStore(pool);
  };
  return [open(), open()];
}

describe.each<[string, () => Promise<[ApiStore, ApiStore]>]>([
  [
    'in memory',
    async () => {
      const store = createMemoryStore();
      return [store, store];
    },
  ],
  ['in PostgreSQL, of two replicas', createTwo],
])('the store of an API, %s', (_name, create) => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 0 }));
  afterEach(() => void vi.useRealTimers());

  it('counts by key, and from the start in the next window', async () => {
    const [one, two] = await create();
    const window = { startsAt: 0, endsAt: Minute };
    const counts = await Promise.all([one, two, one, two].map((store) => store.count('ada', window)));
    expect(counts.sort()).toEqual([1, 2, 3, 4]);
    expect(await one.count('grace', window)).toBe(1);
    expect(await two.count('ada', { startsAt: Minute, endsAt: 2 * Minute })).toBe(1);
  });

  it('lets one of several requests run, and keeps its reply for a day', async () => {
    const [one, two] = await create();
    const claims = await Promise.all([one, two, one].map((store) => store.claim('key', 'print')));
    expect(claims.filter((claim) => claim === undefined)).toHaveLength(1);
    expect(await two.claim('key', 'other')).toMatchObject({ fingerprint: 'print', reply: undefined });
    await one.keep('key', reply);
    vi.setSystemTime(Day - 1);
    expect(await two.claim('key', 'print')).toMatchObject({ fingerprint: 'print', reply });
    await two.keep('another', reply); // dropped, or never claimed
    expect(await one.claim('another', 'print')).toBeUndefined();
    vi.setSystemTime(Day + 1);
    expect(await two.claim('key', 'print')).toBeUndefined();
  });

  it('does not let a run that has lost its claim change the reply of another', async () => {
    const [one, two] = await create();
    const [late, next] = [toClaim('late'), toClaim('next')];
    await one.claim('key', 'print', late);
    vi.setSystemTime(6 * Minute);
    expect(await two.claim('key', 'print', next)).toBeUndefined();
    await one.keep('key', { status: 500 }, late);
    await one.release('key', late);
    expect(await one.claim('key', 'print', toClaim('third'))).toEqual({ fingerprint: 'print', reply: undefined });
    await two.keep('key', reply, next);
    await one.release('key', late);
    expect(await one.claim('key', 'print', toClaim('third'))).toEqual({ fingerprint: 'print', reply });
  });

  it('gives a key back if its request fails, or its process dies', async () => {
    const [one, two] = await create();
    await one.claim('key', 'print');
    await one.release('key');
    expect(await two.claim('key', 'print')).toBeUndefined();
    vi.setSystemTime(6 * Minute);
    expect(await one.claim('key', 'print')).toBeUndefined();
  });
});

it.each<[string, number, (count: number) => string, number]>([
  ['one sender with many keys', 40_000, () => 'eve', 10],
  ['one sender with large replies', 300, () => 'eve', 1024 * 1024],
  ['many senders', 40_000, (count) => `eve ${count % 2000}`, 10],
])(
  'the store in memory keeps the reply of a caller while others send a lot: %s',
  async (_name, most, toSender, size) => {
    const store = createMemoryStore();
    await store.claim('key', 'print', toClaim('1'));
    await store.keep('key', reply, toClaim('1'));
    const large = { status: 200, body: 'x'.repeat(size) };
    for (let count = 0; count < most; count += 1) {
      const claim = toClaim('1', toSender(count));
      await store.claim(`key ${count}`, 'print', claim);
      await store.keep(`key ${count}`, large, claim);
    }
    expect(await store.claim('key', 'print', toClaim('2'))).toMatchObject({ reply });
    expect(await store.claim(`key ${most - 1}`, 'print', toClaim('2', 'eve'))).toMatchObject({ reply: large });
    expect(await store.claim('key 0', 'print', toClaim('2', 'eve'))).toBeUndefined();
  },
);
