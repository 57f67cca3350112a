import { describe, expect, it } from 'vitest';
import { createKnownBuilds } from '../../../../src/server/desk/tunnel/known-builds.ts';
import { Minute } from '../../../../src/shared/units.ts';

const own = { build: 'build-3', release: 'v3' };
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('createKnownBuilds()', () => {
  it('knows its own build at once, and the published ones by id and by release', async () => {
    const list = async () => [
      { id: 'build-2', release: 'v2' },
      { id: 'build-1', release: 'v2' },
    ];
    const findBuild = createKnownBuilds({ own, list });
    expect([findBuild('build-3'), findBuild('v3')]).toEqual([own, own]);
    await settled();
    expect(findBuild('v2')).toEqual({ build: 'build-2', release: 'v2' });
    expect(findBuild('build-1')).toEqual({ build: 'build-1', release: 'v2' });
    expect(findBuild('v999')).toBeUndefined();
    expect(findBuild('__proto__')).toBeUndefined();
  });

  it('looks for a name that nobody knows once a minute, whoever asks', async () => {
    const time = { at: 0 };
    let asked = 0;
    const list = async () => {
      asked += 1;
      return asked > 1 ? [{ id: 'build-4', release: 'v4' }] : [];
    };
    const findBuild = createKnownBuilds({ own, list, now: () => time.at });
    for (let turn = 0; turn < 100; turn += 1) findBuild('build-4');
    expect(asked).toBe(1);
    time.at = Minute;
    for (let turn = 0; turn < 100; turn += 1) findBuild('build-4');
    expect(asked).toBe(2);
    await settled();
    expect(findBuild('build-4')).toEqual({ build: 'build-4', release: 'v4' });
  });

  it('keeps what it knows while the store is away', async () => {
    const findBuild = createKnownBuilds({ own, list: () => Promise.reject(new Error('away')) });
    await settled();
    expect(findBuild('v3')).toBe(own);
  });
});
