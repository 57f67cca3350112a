import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listLoaded, openPage, useRecipe } from './recipe.ts';

/** Returns an image of one color, without loss. */
function toWebp(width: number, height: number): Buffer {
  const bytes = Buffer.from('RIFF....WEBPVP8L....\x2f....\x07\x50\xc0\x28\x60\xff\x03\x11\xd1\xff\x00', 'latin1');
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt32LE((width - 1) | ((height - 1) << 14), 21);
  return bytes;
}

const app = useRecipe('images', ({ folder, replace }) => {
  replace('src/shared/product/pages/home/home.tsx', 'loading="lazy"', 'loading="lazy" style={{ marginTop: 5000 }}');
  const home = join(folder, 'src/shared/product/pages/home');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'lake-640.webp'), toWebp(640, 360));
  writeFileSync(join(home, 'lake-1280.webp'), toWebp(1280, 720));
  writeFileSync(join(home, 'map.svg'), '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3 2"/>');
});

it.each([
  ['a small screen', 1, 'lake-640'],
  ['a sharp screen', 2, 'lake-1280'],
])('loads one size of the photo from a hashed URL, without moving the page: %s', async (_, deviceScaleFactor, name) => {
  const { url } = await app.start();
  const loaded: string[] = [];
  const options = { viewport: { width: 500, height: 400 }, deviceScaleFactor, before: listLoaded('image', loaded) };
  const { page, complaints } = await openPage(url, options);
  const photo = page.getByAltText('A lake below a dam');
  const shown = () => photo.evaluate((it: HTMLImageElement) => it.complete && it.naturalWidth > 0);
  await expect.poll(shown).toBe(true);
  await expect.poll(() => loaded).toEqual([`/assets/${name}-*.webp image/webp public, max-age=31536000, immutable`]);
  const { width, height } = (await photo.boundingBox()) ?? { width: 0, height: 0 };
  expect(Math.round((width / height) * 9)).toBe(16);
  expect(await page.locator('head link[rel=preload][as=image]').count()).toBe(1);
  await page.getByAltText('A map of the lake').scrollIntoViewIfNeeded();
  await expect.poll(() => loaded).toHaveLength(2);
  expect(loaded[1]).toMatch(/^\/assets\/map-\*\.svg image\/svg\+xml .*immutable$/);
  expect(complaints).toEqual([]);
});
