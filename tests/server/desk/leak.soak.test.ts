import { describe, it } from 'vitest';
import { createFolder } from '../../support/desk.ts';
import { expectGrowth, readDeath, readStory, startLeak } from '../../support/leaks.ts';

// At once: each of them mostly waits for memory to grow.
describe.concurrent('a leak', () => {
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
