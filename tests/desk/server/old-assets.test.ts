import { expect, it, vi } from 'vitest';
import { createFindOldAsset } from '../../../src/desk/server/old-assets.ts';

const PATH = '/assets/a-AAAAAAAA.js';

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
