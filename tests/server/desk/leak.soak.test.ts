import { describe, it } from 'vitest';
import { createFolder } from '../../support/desk.ts';
import { growthOf, PATIENCE, readDeath, readStory, startLeak } from '../../support/leaks.ts';

// At once: each of them mostly waits for memory to grow.
describe.concurrent('the memory of a process is told', () => {
  it('if the system has killed it, for Buffers that it kept', async ({ expect, onTestFinished }) => {
    const dataDir = createFolder(onTestFinished);
    const { child, ended } = startLeak({ expect, onTestFinished }, 400, { DATA_DIR: dataDir, HOW: 'buffers' });
    await expect.poll(() => readStory(dataDir)?.points.length ?? 0, PATIENCE).toBeGreaterThan(4);
    // As the system does with whoever has the most, when there is no memory left.
    child.kill('SIGKILL');
    expect((await ended).signal).toBe('SIGKILL');
    const whole = await readDeath({ expect, onTestFinished }, dataDir);
    expect(growthOf(whole)).toMatchObject({ where: 'outside' });
    expect(whole?.errors).toEqual([]);
  }, 60_000);

  it('if its heap was full', async ({ expect, onTestFinished }) => {
    const dataDir = createFolder(onTestFinished);
    const { out, err } = await startLeak({ expect, onTestFinished }, 140, { DATA_DIR: dataDir, HOW: 'heap' }).ended;
    expect({ out, err }).toEqual({ out: '', err: expect.stringContaining('heap out of memory') });
    expect(growthOf(await readDeath({ expect, onTestFinished }, dataDir))).toMatchObject({ where: 'heap' });
  }, 120_000);
});
