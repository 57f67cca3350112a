import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { BLOCKED_AFTER, PULSE_INTERVAL } from '../../../../src/desk/server/desk-limits.ts';
import { type BlockedLoop, createWatchdog } from '../../../../src/desk/server/worker/watchdog.ts';
import { createFolder } from '../../../support/folder.ts';
import { TYPESCRIPT } from '../../../support/typescript-child.ts';
import { useDesk } from '../../support/use-desk.ts';

function setUp() {
  const signals = { pulses: 1, waiting: false };
  const clock = { now: 0 };
  const reports: BlockedLoop[] = [];
  const watchdog = createWatchdog({
    signals,
    listRequests: () => [],
    onSilent: () => undefined,
    onBlocked: (report) => reports.push(report),
    now: () => clock.now,
  });
  return {
    signals,
    watchdog,
    reports,
    /** Lets time pass, then runs one check. */
    look(ms: number = PULSE_INTERVAL) {
      clock.now += ms;
      watchdog.check();
    },
  };
}

describe('the watchdog', () => {
  it('reports a block once, when it is over', () => {
    const { signals, watchdog, reports, look } = setUp();
    for (let ms = 0; ms < 3 * BLOCKED_AFTER; ms += PULSE_INTERVAL) look();
    expect(watchdog.blockedMs).toBe(3 * BLOCKED_AFTER);
    expect(reports).toEqual([]);
    signals.pulses += 1;
    look();
    look();
    expect(reports).toMatchObject([{ ms: 3 * BLOCKED_AFTER }]);
    expect(watchdog.blockedMs).toBe(0);
  });

  const blocked = 3 * BLOCKED_AFTER;
  it.each<[what: string, signals: { pulses?: number; waiting?: boolean }, interval?: number, dev?: string]>([
    ['a suspended machine', {}, blocked],
    ['a thread that waits for the desk worker', { waiting: true }],
    ['a program that is still loading', { pulses: 0 }],
    ['a server of `npm run dev`', {}, PULSE_INTERVAL, '1'],
  ])('ignores %s', (_what, given, interval = PULSE_INTERVAL, dev = '') => {
    vi.stubEnv('SPILLWAY_DEV', dev);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { signals, look, reports } = setUp();
    Object.assign(signals, given);
    for (let ms = 0; ms < blocked; ms += interval) look(interval);
    signals.pulses += 1;
    look();
    expect(reports).toEqual([]);
  });
});

const childFile = fileURLToPath(new URL('./blocked-child.ts', import.meta.url));

it('reports what blocked a server that was killed because of it, and for how long', { timeout: 60_000 }, async () => {
  const dataDir = createFolder(onTestFinished);
  const child = spawn(process.execPath, [...TYPESCRIPT, childFile], { env: { ...process.env, DATA_DIR: dataDir } });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close');
  await once(child.stdout, 'data');
  const store = new DatabaseSync(join(dataDir, 'desk.sqlite'), { readOnly: true });
  const readBlocked = () =>
    JSON.parse(String(store.prepare('SELECT state FROM desk_processes').get()?.state)).blockedMs;
  await expect.poll(readBlocked).toBeGreaterThan(BLOCKED_AFTER);
  store.close();
  child.kill('SIGKILL');
  await ended;

  const { desk } = await useDesk({ dataDir });
  const findDeath = async () => {
    const { incidents } = await desk.calls.listIncidents({ limit: 10 });
    const [death] = incidents.filter(({ kind }) => kind === 'unclean-death');
    const details = death && (await desk.calls.readDetails(death.key, undefined));
    return details?.shown?.full?.extra;
  };
  await expect.poll(findDeath).toMatchObject({
    blockedFor: expect.any(Number),
    inFlight: [{ method: 'GET', route: '/heavy' }],
    memory: expect.toSatisfy((bytes: number) => bytes > 10_000_000),
    heap: { used: expect.any(Number), limit: expect.any(Number) },
  });
});
