import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { BLOCKED_AFTER, PULSE_INTERVAL } from '../../../../src/desk/server/desk-limits.ts';
import { createWatchdog } from '../../../../src/desk/server/worker/watchdog.ts';
import { createFolder } from '../../../support/folder.ts';
import { TYPESCRIPT } from '../../../support/typescript-child.ts';
import { useDesk } from '../../support/use-desk.ts';

const blocked = 3 * BLOCKED_AFTER;

it.each<[what: string, reported: number[], given?: object, interval?: number, dev?: string]>([
  ['a block once, when it is over', [blocked]],
  ['no suspended machine', [], {}, blocked],
  ['no thread that waits for the desk worker', [], { waiting: true }],
  ['no program that is still loading', [], { pulses: 0 }],
  ['nothing of `npm run dev`', [], {}, PULSE_INTERVAL, '1'],
])('the watchdog reports %s', (_what, reported, given = {}, interval = PULSE_INTERVAL, dev = '') => {
  vi.stubEnv('SPILLWAY_DEV', dev);
  onTestFinished(() => void vi.unstubAllEnvs());
  const signals = { pulses: 1, waiting: false, ...given };
  const reports: number[] = [];
  let now = 0;
  const watchdog = createWatchdog({
    ...{ signals, now: () => now, listRequests: () => [], onSilent: () => undefined },
    onBlocked: ({ ms }) => reports.push(ms),
  });
  const look = (ms: number) => {
    now += ms;
    watchdog.check();
  };
  for (let ms = 0; ms < blocked; ms += interval) look(interval);
  expect(reports).toEqual([]);
  signals.pulses += 1;
  for (let checks = 0; checks < 2; checks += 1) look(PULSE_INTERVAL);
  expect(reports).toEqual(reported);
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
