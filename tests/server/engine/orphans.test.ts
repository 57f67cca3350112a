import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { collectOrphans } from '../../../src/server/engine/orphans.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start(looks: number[][], collect: (pids: readonly number[]) => Promise<void>) {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  let asked = 0;
  const system = {
    listEnded() {
      asked += 1;
      return looks.shift() ?? [];
    },
    collect,
  };
  onTestFinished(collectOrphans({ log, system }));
  return { lines, asked: () => asked };
}

it('collects what stands there at two looks, and leaves the rest to whoever started it', async () => {
  const collected: (readonly number[])[] = [];
  start([[7], [7, 8], [9], [9]], async (pids) => void collected.push(pids));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(collected).toEqual([[7], [9]]);
});

it('says once that it cannot', async () => {
  const { lines, asked } = start([[7], [7], [7], [7]], () => Promise.reject(new Error('No such built-in module')));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('docker run --init');
  expect(asked()).toBe(2);
});
