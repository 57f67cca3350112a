import { expect, it } from 'vitest';
import { createFindOldAsset } from '../../../src/server/desk/old-assets.ts';

function setUp(files: Record<string, Uint8Array>) {
  const asked: string[] = [];
  const clock = { now: 0 };
  const find = createFindOldAsset(
    async (path) => {
      asked.push(path);
      return files[path];
    },
    () => clock.now,
  );
  return { asked, clock, find };
}

it('reads a file once, and caches it', async () => {
  const { asked, find } = setUp({ 'client/assets/a-AAAAAAAA.js': Buffer.from('a') });
  const found = await Promise.all([find('/assets/a-AAAAAAAA.js'), find('/assets/a-AAAAAAAA.js')]);
  expect(found.map(String)).toEqual(['a', 'a']);
  await find('/assets/a-AAAAAAAA.js');
  expect(asked).toEqual(['client/assets/a-AAAAAAAA.js']);
});

it('caches for a while that a file does not exist, because another replica can publish it later', async () => {
  const { asked, clock, find } = setUp({});
  await find('/assets/a-AAAAAAAA.js');
  await find('/assets/a-AAAAAAAA.js');
  expect(asked).toHaveLength(1);
  clock.now += 60_000;
  await find('/assets/a-AAAAAAAA.js');
  expect(asked).toHaveLength(2);
});

it.each([
  '/assets/a.js',
  '/assets/../a-AAAAAAAA.js',
  '/other/a-AAAAAAAA.js',
  '/assets/x/a-AAAAAAAA.js',
  '/assets/a-AAAAAAAA.js?x',
])('does not look up %s, which no build creates', async (path) => {
  const { asked, find } = setUp({});
  expect(await find(path)).toBeUndefined();
  expect(asked).toEqual([]);
});

it('limits simultaneous lookups of made-up names', async () => {
  let open = 0;
  const find = createFindOldAsset(() => {
    open += 1;
    return new Promise(() => undefined);
  });
  for (let index = 0; index < 1000; index += 1) void find(`/assets/a-${String(index).padStart(8, '0')}.js`);
  expect(open).toBeLessThan(100);
});

it('finds nothing while the store is unavailable', async () => {
  const find = createFindOldAsset(async () => {
    throw new Error('away');
  });
  expect(await find('/assets/a-AAAAAAAA.js')).toBeUndefined();
});
