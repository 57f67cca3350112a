import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { createCache } from '../../build/cache.mjs';

it('returns what was written, and keeps as many of the files that were used last as fit', async () => {
  const name = `test-${randomUUID()}`;
  const folder = fileURLToPath(new URL(`../../node_modules/.cache/spillway/${name}`, import.meta.url));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const contents = randomBytes(1000); // not compressible
  const cache = createCache(name, { maxBytes: 3500 });
  for (const [time, key] of ['a', 'b', 'c'].entries()) {
    await cache.write(key, contents);
    utimesSync(join(folder, key), time, time);
  }
  expect(await cache.read('a')).toEqual(contents);
  await createCache(name, { maxBytes: 3500 }).write('d', new Map([['text', contents]]));
  expect(readdirSync(folder).sort()).toEqual(['a', 'c', 'd']);
  expect(await cache.read('d')).toEqual(new Map([['text', contents]]));
  writeFileSync(join(folder, 'c'), 'not written by this version');
  expect(await cache.read('c')).toBeUndefined();
});
