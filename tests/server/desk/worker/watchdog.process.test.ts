import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, type TestContext } from 'vitest';
import { BLOCKED_AFTER, PULSE_INTERVAL } from '../../../../src/server/desk/limits.ts';
import { toKey } from '../../../../src/server/desk/store/incident-key.ts';
import type { BlockedLoop } from '../../../../src/server/desk/worker/heartbeat.ts';
import { createWatchdog } from '../../../../src/server/desk/worker/watchdog.ts';
import { openTestDesk } from '../../../support/desk.ts';
import { createFolder } from '../../../support/folder.ts';

const FRAME = { file: 'server/main.js', line: 1, column: 1, function: 'spin' };

function setUp() {
  const signals = { pulses: 1, waiting: false };
  const clock = { now: 0 };
  const reports: BlockedLoop[] = [];
  let asked = 0;
  const watchdog = createWatchdog({
    signals,
    readStack: async () => {
      asked += 1;
      return [FRAME];
    },
    onBlocked: (report) => reports.push(report),
    onChange: () => undefined,
    now: () => clock.now,
  });
  return {
    signals,
    watchdog,
    reports,
    asked: () => asked,
    /** Lets time pass, then runs one check. */
    look(ms: number = PULSE_INTERVAL) {
      clock.now += ms;
      watchdog.look();
    },
  };
}

describe('the watchdog', () => {
  it('asks for the stack once, and reports once when the block is over', async () => {
    const { signals, watchdog, reports, asked, look } = setUp();
    for (let ms = 0; ms < 3 * BLOCKED_AFTER; ms += PULSE_INTERVAL) look();
    await Promise.resolve();
    expect(watchdog.blocked).toMatchObject({ frames: [FRAME] });
    expect(reports).toEqual([]);
    signals.pulses += 1;
    look();
    look();
    expect(asked()).toBe(1);
    expect(reports).toMatchObject([{ ms: 3 * BLOCKED_AFTER, frames: [FRAME] }]);
    expect(watchdog.blocked).toBeUndefined();
  });

  it('ignores a thread that keeps sending pulses', () => {
    const { signals, asked, look } = setUp();
    for (let turn = 0; turn < 100; turn += 1) {
      signals.pulses += 1;
      look();
    }
    expect(asked()).toBe(0);
  });

  it('does not mistake a suspended machine for a blocked thread', () => {
    const { asked, look } = setUp();
    look(60_000);
    expect(asked()).toBe(0);
  });

  it('ignores a thread that waits for the watchdog', () => {
    const { signals, asked, look } = setUp();
    signals.waiting = true;
    for (let ms = 0; ms < 3 * BLOCKED_AFTER; ms += PULSE_INTERVAL) look();
    expect(asked()).toBe(0);
  });

  it('ignores a program that is still loading', () => {
    const { signals, asked, look } = setUp();
    signals.pulses = 0;
    look();
    for (let ms = 0; ms < 3 * BLOCKED_AFTER; ms += PULSE_INTERVAL) look();
    expect(asked()).toBe(0);
  });
});

const childFile = fileURLToPath(new URL('../../../support/blocked-child.ts', import.meta.url));

/** Tests that run concurrently each have their own context. */
type Context = Pick<TestContext, 'expect' | 'onTestFinished'>;

function start({ onTestFinished }: Context, env: Record<string, string>) {
  const child = spawn(process.execPath, [childFile], { env: { ...process.env, ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  const output = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    output.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.err += chunk;
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  return { child, output, ended };
}

// Concurrent, because each test mostly waits.
describe.concurrent('a blocked process', () => {
  it.for([
    ['loop', 'spinInALoop'],
    ['regexp', 'matchForEver'],
    ['native', 'callAnotherProgram'],
  ])('in a %s is reported with the blocking function', { timeout: 60_000 }, async ([how = '', name = ''], context) => {
    const { expect, onTestFinished } = context;
    const { output, ended } = start(context, { DATA_DIR: createFolder(onTestFinished), HOW: how });
    await ended;
    const [report]: BlockedLoop[] = JSON.parse(output.out);
    expect(report?.ms).toBeGreaterThanOrEqual(1000);
    expect(report?.frames).toContainEqual({
      file: expect.stringMatching(/blocked-child\.ts$/),
      line: expect.any(Number),
      column: expect.any(Number),
      function: name,
    });
    // Node writes to stderr if a debugger session is still attached at the end.
    expect(output.err).toBe('');
  });

  it('that is killed is reported with its stack', async (context) => {
    const { expect, onTestFinished } = context;
    const dataDir = createFolder(onTestFinished);
    const { child, output, ended } = start(context, { DATA_DIR: dataDir, HOW: 'forEver' });
    await expect.poll(() => output.out, { timeout: 20_000 }).toContain('standing still');
    const store = new DatabaseSync(join(dataDir, 'desk.sqlite'), { readOnly: true });
    const isKnown = () =>
      store.prepare('SELECT blocked FROM desk_runs').get()?.blocked?.toString().includes('"frames":[{');
    await expect.poll(isKnown, { timeout: 20_000 }).toBe(true);
    store.close();
    // As an orchestrator does with an unresponsive process.
    child.kill('SIGKILL');
    await ended;

    const desk = await openTestDesk({ dataDir });
    onTestFinished(() => desk.close());
    const findDeath = async () =>
      (await desk.calls.listIncidents({ limit: 10 })).incidents.find(({ kind }) => kind === 'unclean-death');
    await expect.poll(findDeath, { timeout: 20_000 }).toBeDefined();
    const { occurrences } = await desk.calls.listOccurrences(
      toKey((await findDeath())?.digest ?? '', 'production'),
      {
        limit: 1,
        isFull: true,
      },
    );
    const [occurrence] = occurrences;
    const [error] = occurrence?.full?.errors ?? [];
    expect(error?.frames.map((frame) => frame.function)).toContain('neverComeBack');
    expect(occurrence?.full?.extra).toMatchObject({ blockedFor: expect.any(Number) });
  }, 60_000);
});
