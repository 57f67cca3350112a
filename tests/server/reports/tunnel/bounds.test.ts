import { describe, expect, it } from 'vitest';
import { toSender } from '../../../../src/server/engine/request/to-sender.ts';
import { createEchoes } from '../../../../src/server/reports/tunnel/echoes.ts';
import { createNewIncidents } from '../../../../src/server/reports/tunnel/new-incidents.ts';
import { createRecentIds } from '../../../../src/server/reports/tunnel/recent-ids.ts';
import { createTokenBuckets } from '../../../../src/server/reports/tunnel/token-buckets.ts';
import { Hour, Minute } from '../../../../src/shared/units.ts';

function clock() {
  const time = { at: 0, now: () => time.at };
  return time;
}

describe('createTokenBuckets()', () => {
  it('allows a burst, then the configured rate', () => {
    const time = clock();
    const buckets = createTokenBuckets({ burst: 3, perSecond: 2 }, { now: time.now });
    expect([1, 2, 3, 4].map(() => buckets.take('a'))).toEqual([0, 0, 0, 500]);
    time.at = 500;
    expect([1, 2].map(() => buckets.take('a'))).toEqual([0, 500]);
    time.at = Hour;
    expect([1, 2, 3, 4].map(() => buckets.take('a'))).toEqual([0, 0, 0, 500]);
  });

  it('has one bucket per sender, and evicts the sender that was idle longest', () => {
    const buckets = createTokenBuckets({ burst: 1, perSecond: 0.001 }, { now: () => 0, maxBuckets: 3 });
    expect(['a', 'b', 'c', 'a', 'd', 'a', 'b'].map((key) => buckets.take(key) === 0)).toEqual([
      true,
      true,
      true,
      false,
      true,
      false,
      true,
    ]);
    for (let sender = 0; sender < 10_000; sender += 1) buckets.take(`s${sender}`);
    expect(buckets.size).toBe(3);
  });
});

describe('toSender()', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2'],
    ['2001:db8::5', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['', ''],
    ['an invalid address', 'an invalid address'],
  ])('maps %s to %s', (address, sender) => {
    expect(toSender(address)).toBe(sender);
  });
});

describe('createRecentIds()', () => {
  it('remembers an id for ten minutes, and a limited number of ids', () => {
    const time = clock();
    const ids = createRecentIds({ now: time.now, maxIds: 2 });
    ids.add('a', 'AAAA');
    expect(ids.find('a')).toBe('AAAA');
    time.at = 10 * Minute;
    expect(ids.find('a')).toBeUndefined();
    for (const id of ['b', 'c', 'd']) ids.add(id, id);
    expect(['b', 'c', 'd'].map((id) => ids.find(id))).toEqual([undefined, 'c', 'd']);
  });
});

describe('createNewIncidents()', () => {
  it('admits 50 new incidents an hour, and all known ones', async () => {
    const time = clock();
    const incidents = createNewIncidents({ isKnown: async (digest) => digest === 'known', now: time.now });
    const asked = Array.from({ length: 60 }, (_, index) => `new-${index}`);
    const answers = await Promise.all(asked.map((digest) => incidents.admit(digest)));
    expect(answers.filter(Boolean)).toHaveLength(50);
    expect(await incidents.admit('known')).toBe(true);
    expect(await incidents.admit('new-0')).toBe(true);
    expect(await incidents.admit('new-59')).toBe(false);
    time.at = Hour;
    expect(await incidents.admit('new-59')).toBe(true);
  });

  it('counts a digest once, however many calls arrive at the same time', async () => {
    const incidents = createNewIncidents({ isKnown: async () => false });
    await Promise.all(Array.from({ length: 100 }, () => incidents.admit('same')));
    const others = await Promise.all(Array.from({ length: 60 }, (_, index) => incidents.admit(`new-${index}`)));
    expect(others.filter(Boolean)).toHaveLength(49);
  });

  it('admits incidents while the store is unavailable', async () => {
    const incidents = createNewIncidents({ isKnown: () => Promise.reject(new Error('away')) });
    expect(await incidents.admit('a')).toBe(true);
  });
});

it('admits an echo once, even before it is stored', async () => {
  const echoes = createEchoes({ isAwaited: async (address) => address !== 'unknown' });
  expect(await Promise.all([echoes.admit('a'), echoes.admit('a')])).toEqual([true, false]);
  expect(await echoes.admit('a')).toBe(false);
  expect([await echoes.admit('unknown'), await echoes.admit('b')]).toEqual([false, true]);
});
