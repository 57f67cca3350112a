import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { precompress } from '../../build/precompress.mjs';

it('spends no time on what is compressed already, such as a video', async () => {
  const before = process.cpuUsage();
  expect(await precompress([{ path: 'client/film.mp4', contents: randomBytes(2e6) }])).toEqual([]);
  expect(process.cpuUsage(before).user).toBeLessThan(500_000);
});
