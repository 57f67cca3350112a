import { describe, expect, it } from 'vitest';
import { createKnownBuilds } from '../../../../src/server/reports/tunnel/known-builds.ts';
import { Minute } from '../../../../src/shared/units.ts';

const own = { build: 'build-3', release: 'v3' };

describe('createKnownBuilds()', () => {
  it('finds its own build without asking the store, and published builds by id and release', async () => {
    const list = async () => [
      { id: 'build-2', release: 'v2' },
      { id: 'build-1', release: 'v2' },
    ];
    const findBuild = createKnownBuilds({ own, list });
    expect([await findBuild('build-3'), await findBuild('v3')]).toEqual([own, own]);
    expect(await findBuild('v2')).toEqual({ build: 'build-2', release: 'v2' });
    expect(await findBuild('build-1')).toEqual({ build: 'build-1', release: 'v2' });
    expect(await findBuild('v999')).toBeUndefined();
    expect(await findBuild('__proto__')).toBeUndefined();
  });

  it('names the release that is running for its own build, not the one under which it was first published', async () => {
    const findBuild = createKnownBuilds({ own, list: async () => [{ id: 'build-3', release: 'v2' }] });
    await findBuild('build-4');
    expect(await findBuild('build-3')).toBe(own);
    expect(await findBuild('v2')).toEqual({ build: 'build-3', release: 'v2' });
  });

  it('looks up an unknown name at most once a minute for all callers', async () => {
    const time = { at: 0 };
    let asked = 0;
    const list = async () => {
      asked += 1;
      return asked > 1 ? [{ id: 'build-4', release: 'v4' }] : [];
    };
    const findBuild = createKnownBuilds({ own, list, now: () => time.at });
    const findAll = () => Promise.all(Array.from({ length: 100 }, () => findBuild('build-4')));
    expect(new Set(await findAll())).toEqual(new Set([undefined]));
    expect(asked).toBe(1);
    time.at = Minute;
    expect(await findAll()).toContainEqual({ build: 'build-4', release: 'v4' });
    expect(asked).toBe(2);
  });

  it('waits for a list that is loading, as after a start, but not for its own build', async () => {
    const { promise, resolve } = Promise.withResolvers<{ id: string; release: string }[]>();
    const findBuild = createKnownBuilds({ own, list: () => promise });
    expect(await findBuild('build-3')).toBe(own);
    const found = findBuild('build-2');
    resolve([{ id: 'build-2', release: 'v2' }]);
    expect(await found).toEqual({ build: 'build-2', release: 'v2' });
  });

  it('keeps its list while the store is unavailable, and asks again', async () => {
    let isAway = true;
    const list = async () => {
      if (isAway) throw new Error('away');
      return [{ id: 'build-2', release: 'v2' }];
    };
    const findBuild = createKnownBuilds({ own, list });
    expect(await findBuild('build-2')).toBeUndefined();
    expect(await findBuild('v3')).toBe(own);
    isAway = false;
    expect(await findBuild('build-2')).toEqual({ build: 'build-2', release: 'v2' });
  });
});
