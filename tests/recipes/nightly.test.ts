import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createRecipe } from './recipe.ts';

type Job = (signal: AbortSignal) => Promise<void>;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

const HOUR = 60 * 60 * 1000;

it('a nightly job runs once a day, after a restart if it was missed, again if it failed, and ends with the server', async () => {
  const app = createRecipe('jobs');
  onTestFinished(app.remove);
  const { startNightly } = await import(join(app.folder, 'src/server/product/nightly.ts'));
  const ran: string[] = [];
  const start = (job: Job = async () => void ran.push(new Date().toISOString())) =>
    startNightly(join(app.folder, 'nightly'), job);
  async function pass(hours: number): Promise<void> {
    for (let hour = 0; hour <= hours; hour += 1) {
      if (hour > 0) vi.advanceTimersByTime(HOUR);
      await setImmediate();
    }
  }

  vi.setSystemTime('2026-11-27T10:30:00Z');
  const first = start();
  await pass(40);
  expect(ran.splice(0)).toEqual(['2026-11-27T10:30:00.000Z', '2026-11-28T03:30:00.000Z']);
  await first.close();
  await pass(24);
  expect(ran).toEqual([]);

  let attempts = 0;
  const second = start(async () => {
    attempts += 1;
    if (attempts === 1) throw new Error('no');
  });
  await pass(3);
  expect(attempts).toBe(2);
  await second.close();

  await pass(24);
  let ended: unknown;
  const third = start(async (signal) => {
    try {
      while (true) await setImmediate(undefined, { signal });
    } catch (error) {
      ended = error;
      throw error;
    }
  });
  await setImmediate();
  await third.close();
  expect(ended).toMatchObject({ name: 'AbortError' });
});
