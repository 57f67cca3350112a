import { describe, it } from 'vitest';
import { createFolder } from '../../support/folder.ts';
import { growthOf, PATIENCE, readDeath, readStory, startLeak } from '../../support/leaks.ts';

// Concurrent, because each test mostly waits for memory to grow.
describe.concurrent('the memory growth of a process is reported', () => {
  it('if the system kills it because it keeps Buffers', async ({ expect, onTestFinished }) => {
    const dataDir = createFolder(onTestFinished);
    const { child, ended } = startLeak({ expect, onTestFinished }, 400, { DATA_DIR: dataDir, HOW: 'buffers' });
    await expect.poll(() => readStory(dataDir)?.points.length ?? 0, PATIENCE).toBeGreaterThan(4);
    // As the system does with the largest process when it runs out of memory.
    child.kill('SIGKILL');
    expect((await ended).signal).toBe('SIGKILL');
    const whole = await readDeath({ expect, onTestFinished }, dataDir);
    expect(growthOf(whole)).toMatchObject({ where: 'outside' });
    expect(whole?.errors).toEqual([]);
  }, 60_000);

  it('if its heap is full', async ({ expect, onTestFinished }) => {
    const dataDir = createFolder(onTestFinished);
    const { out, err } = await startLeak({ expect, onTestFinished }, 140, { DATA_DIR: dataDir, HOW: 'heap' }).ended;
    expect({ out, err }).toEqual({ out: '', err: expect.stringContaining('heap out of memory') });
    expect(growthOf(await readDeath({ expect, onTestFinished }, dataDir))).toMatchObject({ where: 'heap' });
  }, 120_000);
});
