import { expect, it, vi } from 'vitest';
import { UNKNOWN_ASSET_TIME } from '../../../src/server/desk/limits.ts';
import { createFindOldAsset } from '../../../src/server/desk/old-assets.ts';

const PATH = '/assets/a-AAAAAAAA.js';

it('reads a file once', async () => {
  const read = vi.fn(async () => Buffer.from('a'));
  const find = createFindOldAsset(read);
  const found = [...(await Promise.all([find(PATH), find(PATH)])), await find(PATH)];
  expect(found.map(String)).toEqual(['a', 'a', 'a']);
  expect(read.mock.calls).toEqual([[`client${PATH}`]]);
});

it('asks again for a missing file after a while, because another replica can publish it', async () => {
  const read = vi.fn(async () => undefined);
  let now = 0;
  const find = createFindOldAsset(read, () => now);
  for (now of [0, UNKNOWN_ASSET_TIME - 1]) expect(await find(PATH)).toBeUndefined();
  expect(read).toHaveBeenCalledTimes(1);
  now = UNKNOWN_ASSET_TIME;
  await find(PATH);
  expect(read).toHaveBeenCalledTimes(2);
});

it('does not look up what no build creates, and finds nothing while the store is unavailable', async () => {
  const read = vi.fn(() => Promise.reject(new Error('away')));
  const find = createFindOldAsset(read);
  for (const path of [
    '/assets/a.js',
    '/assets/../a-AAAAAAAA.js',
    '/x/a-AAAAAAAA.js',
    '/assets/x/a-AAAAAAAA.js',
    `${PATH}?`,
  ]) {
    expect(await find(path)).toBeUndefined();
  }
  expect(read).not.toHaveBeenCalled();
  expect(await find(PATH)).toBeUndefined();
});

it('limits simultaneous lookups of made-up names', async () => {
  const read = vi.fn(() => new Promise<undefined>(() => undefined));
  const find = createFindOldAsset(read);
  for (let index = 0; index < 1000; index += 1) void find(`/assets/a-${String(index).padStart(8, '0')}.js`);
  expect(read.mock.calls.length).toBeLessThan(100);
});
