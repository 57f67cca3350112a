import { once } from 'node:events';
import { describe, it } from 'vitest';
import { createFolder } from '../../support/desk.ts';
import {
  type Context,
  expectGrowth,
  growthOf,
  PATIENCE,
  readDeath,
  readStory,
  startLeak,
} from '../../support/leaks.ts';

/** A server whose heap has grown until it is sampled. It has most at once, and then more in small pieces. */
async function startSampled(context: Context) {
  const dataDir = createFolder(context.onTestFinished);
  const env = { DATA_DIR: dataDir, HOW: 'heap', EACH: '16000', AT_ONCE: '1800000', FOR: '100000' };
  const leak = startLeak(context, 400, env);
  await context.expect.poll(() => readStory(dataDir)?.grown.length ?? 0, { timeout: 60_000 }).toBeGreaterThan(0);
  return { ...leak, dataDir };
}

// At once: each of them mostly waits for memory to grow.
describe.concurrent('a leak', () => {
  it('is told of with the function that kept what it should have let go of', async (context) => {
    const { child, dataDir } = await startSampled(context);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expectGrowth(context, await readDeath(context, dataDir));
  }, 90_000);

  it('is told of with words where it is no part of the heap', async (context) => {
    const { expect, onTestFinished } = context;
    const dataDir = createFolder(onTestFinished);
    const { child, ended } = startLeak(context, 400, { DATA_DIR: dataDir, HOW: 'buffers' });
    await expect.poll(() => readStory(dataDir)?.points.length ?? 0, PATIENCE).toBeGreaterThan(4);
    // As the system does with whoever has the most, when there is no memory left.
    child.kill('SIGKILL');
    expect((await ended).signal).toBe('SIGKILL');
    const whole = await readDeath(context, dataDir);
    expect(growthOf(whole)).toMatchObject({ where: 'outside', isSampled: false });
    expect(whole?.errors).toEqual([]);
  }, 60_000);

  it('does not hold a process that ends while it is sampled', async (context) => {
    const { child, ended } = await startSampled(context);
    const toldAt = performance.now();
    child.kill('SIGTERM');
    context.expect(await ended).toMatchObject({ code: 0, out: 'closed', err: '' });
    // Less than what the desk waits for its journal as it closes.
    context.expect(performance.now() - toldAt).toBeLessThan(2000);
  }, 90_000);

  it('that a process dies of is told of with the function that kept what it should have let go of', async (context) => {
    const { expect, onTestFinished } = context;
    const dataDir = createFolder(onTestFinished);
    const { out, err } = await startLeak(context, 140, { DATA_DIR: dataDir, HOW: 'heap', FOR: '100000' }).ended;
    expect({ out, err }).toEqual({ out: '', err: expect.stringContaining('heap out of memory') });
    expectGrowth(context, await readDeath(context, dataDir));
  }, 120_000);

  it('is not looked for in a process that does not grow', async (context) => {
    const { expect, onTestFinished } = context;
    const dataDir = createFolder(onTestFinished);
    const env = { DATA_DIR: dataDir, HOW: 'garbage', FOR: '9000', LEAVE: 'at-once' };
    const { code, err } = await startLeak(context, 400, env).ended;
    // Node writes there where a session is still attached at the end.
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(readStory(dataDir)?.grown).toEqual([]);
  }, 60_000);
});
