import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { describe, it, type TestContext } from 'vitest';
import type { MemoryStory } from '../../../src/server/desk/beat.ts';
import { presentOccurrence } from '../../../src/server/desk/pages/present-occurrence.ts';
import { toCallKey } from '../../../src/server/desk/store/incident-key.ts';
import type { WholeShape } from '../../../src/shared/desk/shapes.ts';
import { createFolder, openTestDesk } from '../../support/desk.ts';

/** Other tests share the machine. */
const PATIENCE = { timeout: 20_000 };

const childFile = fileURLToPath(new URL('../../support/leaking-child.ts', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** Tests that run at once each have their own. */
type Context = Pick<TestContext, 'expect' | 'onTestFinished'>;

/** Runs a server that keeps what it should let go of. @param heap MiB */
function startLeak(
  { onTestFinished }: Context,
  heap: number,
  env: Record<string, string>,
): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [`--max-old-space-size=${heap}`, childFile], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal, out, err })),
  );
  return { child, ended };
}

/** What the next start tells of it. */
async function readDeath({ expect, onTestFinished }: Context, dataDir: string): Promise<WholeShape | undefined> {
  const desk = await openTestDesk({ dataDir });
  onTestFinished(() => desk.close());
  const findDeath = async () =>
    (await desk.ask('listIncidents', { limit: 10 })).incidents.find(({ kind }) => kind === 'unclean-death');
  await expect.poll(findDeath, PATIENCE).toBeDefined();
  const digest = (await findDeath())?.digest ?? '';
  const { occurrences } = await desk.ask('listOccurrences', toCallKey(digest, 'production'), {
    limit: 1,
    withWholes: true,
  });
  const [occurrence] = occurrences;
  return occurrence && presentOccurrence(occurrence, { sourceLink: undefined }).whole;
}

/** What the heartbeat holds of it by now. */
function readStory(dataDir: string): MemoryStory | undefined {
  const file = join(dataDir, 'desk.sqlite');
  if (!existsSync(file)) return undefined;
  const store = new DatabaseSync(file, { readOnly: true });
  try {
    const text = store.prepare('SELECT memory_story FROM desk_runs').get()?.memory_story;
    return typeof text === 'string' ? (JSON.parse(text) as MemoryStory) : undefined;
  } catch {
    return undefined; // It has no tables yet.
  } finally {
    store.close();
  }
}

function growthOf(whole: WholeShape | undefined) {
  return whole?.story?.kind === 'unclean-death' ? whole.story.growth : undefined;
}

// At once: each of them mostly waits for memory to grow.
describe.concurrent('a process that dies of its memory', () => {
  it('is told of with the function that kept what it should have let go of', async (context) => {
    const { expect, onTestFinished } = context;
    const dataDir = createFolder(onTestFinished);
    const { out, err } = await startLeak(context, 140, { DATA_DIR: dataDir, HOW: 'heap', FOR: '100000' }).ended;
    expect({ out, err }).toEqual({ out: '', err: expect.stringContaining('heap out of memory') });

    const whole = await readDeath(context, dataDir);
    expect(growthOf(whole)).toMatchObject({ where: 'heap', isSampled: true });
    const [error] = whole?.errors ?? [];
    expect(error).toMatchObject({ class: 'HeapGrowth' });
    expect(error?.message).toMatch(/^The heap held \d+ MiB/);
    const [frame] = error?.frames ?? [];
    const line =
      readFileSync(childFile, 'utf8')
        .split('\n')
        .findIndex((text) => text.includes('rememberForEver')) + 1;
    expect(frame).toMatchObject({ file: 'tests/support/leaking-child.ts', line, function: 'rememberForEver' });
  }, 120_000);

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
});

describe.concurrent('what samples the heap', () => {
  it('is not there in a process that does not grow', async (context) => {
    const { expect, onTestFinished } = context;
    const dataDir = createFolder(onTestFinished);
    const env = { DATA_DIR: dataDir, HOW: 'garbage', FOR: '9000', LEAVE: 'at-once' };
    const { code, err } = await startLeak(context, 400, env).ended;
    // Node writes there where a session is still attached at the end.
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(readStory(dataDir)?.grown).toEqual([]);
  }, 60_000);

  it('does not hold a process that ends while it is sampled', async (context) => {
    const { expect, onTestFinished } = context;
    const dataDir = createFolder(onTestFinished);
    const { child, ended } = startLeak(context, 500, {
      DATA_DIR: dataDir,
      HOW: 'heap',
      EACH: '1000',
      FOR: '100000',
    });
    await expect.poll(() => readStory(dataDir)?.grown.length ?? 0, { timeout: 60_000 }).toBeGreaterThan(0);
    const toldAt = performance.now();
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0, out: 'closed', err: '' });
    expect(performance.now() - toldAt).toBeLessThan(2000);
  }, 90_000);
});
