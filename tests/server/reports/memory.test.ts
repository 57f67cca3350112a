import { expect, it, onTestFinished, vi } from 'vitest';
import { createEchoes, createPublishedBuilds } from '../../../src/server/reports/memory.ts';
import { Minute } from '../../../src/shared/units.ts';

it('admits an echo once, even before it is stored', async () => {
  const { admit } = createEchoes({ isAwaited: async (address) => address !== 'unknown' });
  expect(await Promise.all(['a', 'a', 'unknown', 'b'].map(admit))).toEqual([true, false, false, true]);
  expect(await admit('a')).toBe(false);
});

const own = { build: 'build-3', release: 'v3' };
const second = { build: 'build-2', release: 'v2' };

it('known builds are found by id and release, the running one without the store', async () => {
  const published = ['build-3', 'build-2', 'build-1'].map((id) => ({ id, release: 'v2' }));
  const findBuild = createPublishedBuilds({ own, list: async () => published });
  // The running build was first published under another release.
  for (const [name, found] of [
    ['build-3', own],
    ['v3', own],
    ['build-4', undefined],
    ['build-1', { build: 'build-1', release: 'v2' }],
    ['v2', { build: 'build-3', release: 'v2' }],
    ['__proto__', undefined],
  ] as const) {
    expect(await findBuild(name)).toEqual(found);
  }
});

it('known builds are listed at most once a minute for unknown names, and again after the store was unavailable', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const away = () => Promise.reject(new Error('away'));
  const lists = [async () => [], away, async () => [{ id: 'build-2', release: 'v2' }]];
  let asked = 0;
  const findBuild = createPublishedBuilds({ own, list: async () => lists[asked++]?.() ?? [] });
  const findAll = async () => new Set(await Promise.all(Array.from({ length: 100 }, () => findBuild('build-2'))));
  expect([await findAll(), asked]).toEqual([new Set([undefined]), 1]);
  vi.advanceTimersByTime(Minute);
  expect([await findBuild('build-2'), await findBuild('v3')]).toEqual([undefined, own]);
  expect([await findAll(), asked]).toEqual([new Set([second]), 3]);
});
