import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Desk } from '../../../src/desk/server/desk.ts';
import { createFolder } from '../../support/folder.ts';
import { createPostgresDatabase, startPostgres, stopPostgres } from '../../support/postgres.ts';
import { TYPESCRIPT } from '../../support/typescript-child.ts';
import { openTestDesk } from '../support/desk.ts';
import { useDesk } from '../support/use-desk.ts';

const childFile = fileURLToPath(new URL('./desk-child.ts', import.meta.url));

/** The number of addresses. Enough for several batches. */
const SHOWN = 800;

/** Starts a server that fails, and kills it after it has shown this many addresses. */
async function killAfter(count: number, env: Record<string, string>): Promise<string[]> {
  const child = spawn(process.execPath, [...TYPESCRIPT, childFile], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.length >= count * ADDRESS_LENGTH) resolve();
    });
    child.on('exit', (code) => reject(new Error(`It ended with ${code} by itself.`)));
  });
  child.removeAllListeners('exit').kill('SIGKILL');
  await once(child, 'close');
  // The kill can cut off the last line.
  return text.split('\n').filter((line) => line.length === ADDRESS_LENGTH - 1);
}

const ADDRESS_LENGTH = '7K3QM2XA-9F4W0R6B\n'.length;

/** Checks that every address leads to its incident, and that each was counted once. */
async function expectAll(
  desk: Desk,
  addresses: readonly string[],
  dead: number,
  machine = hostname().replace(/[^\w-]+/g, '-'),
): Promise<void> {
  const digests = Map.groupBy(addresses, (address) => address.slice(0, 8));
  for (const [digest, shown] of digests) {
    await expect
      .poll(async () => (await desk.calls.find(digest))?.incident.counts.server ?? 0)
      .toBeGreaterThanOrEqual(shown.length);
  }
  // Each process can have stored up to 50 more than it showed before it was killed.
  const total = (await desk.calls.listIncidents({ limit: 100 })).incidents.filter(({ kind }) => kind === 'exception');
  const counted = total.reduce((sum, { counts }) => sum + counts.server, 0);
  expect(counted - addresses.length).toBeLessThanOrEqual(50 * dead);
  for (const address of [...addresses.slice(0, 30), ...addresses.slice(-30)]) {
    expect((await desk.calls.find(address))?.state).toMatch(/^(?:stored|sampled)$/);
  }
  const findDeath = async () => {
    const { incidents } = await desk.calls.listIncidents({ limit: 100 });
    return incidents.find(({ kind }) => kind === 'unclean-death');
  };
  await expect.poll(async () => (await findDeath())?.counts.server).toBe(dead);
  const details = await desk.calls.readDetails((await findDeath())?.key ?? '', undefined);
  expect(JSON.stringify(details), 'the machine').toContain(machine);
}

describe('a process killed during a burst of failures', () => {
  it('loses no address that it showed, on SQLite', async () => {
    const dataDir = createFolder(onTestFinished);
    const first = await killAfter(SHOWN, { DATA_DIR: dataDir });
    const second = await killAfter(SHOWN / 2, { DATA_DIR: dataDir, DIGESTS: '3' });
    const { desk } = await useDesk({ dataDir });
    await expectAll(desk, [...first, ...second], 2);

    // A journal is deleted once all its records are in the store. This process has not journaled anything.
    const listJournals = () => new Set(readdirSync(join(dataDir, 'journal')).map((name) => name.replace(/\..*/, '')));
    await expect.poll(() => listJournals().size).toBe(1);
  }, 60_000);

  it('is recorded even if it had no failure, and was killed before its first heartbeat', async () => {
    const dataDir = createFolder(onTestFinished);
    const journals = join(dataDir, 'journal');
    mkdirSync(journals);
    const process = `${Date.now().toString(36)}-0a1b2c3d-web-1`;
    for (const name of ['.lock', '.lock-journal']) writeFileSync(join(journals, process + name), '');
    const earlier = new Date(Date.now() - 10_000);
    utimesSync(join(journals, `${process}.lock`), earlier, earlier);
    const { desk } = await useDesk({ dataDir });
    await expectAll(desk, [], 1, 'web-1');
    expect(readdirSync(journals).filter((name) => name.startsWith(process))).toEqual([]);
  });

  it('loses none if PostgreSQL was unavailable, and another replica reports it', async () => {
    const databaseUrl = await createPostgresDatabase();
    const dataDir = createFolder(onTestFinished);
    const opened = await openTestDesk({ dataDir, databaseUrl });
    await opened.calls.readChanges();
    await opened.close();
    await stopPostgres();
    const shown = await killAfter(SHOWN, { DATA_DIR: dataDir, DESK_DATABASE_URL: databaseUrl });
    const { desk } = await useDesk({ dataDir, databaseUrl });
    await expect(desk.calls.find(shown[0] ?? '')).rejects.toThrow(/PostgreSQL|cannot be used/);
    await startPostgres();
    await expect.poll(() => desk.condition.store).toBe('reachable');
    await expectAll(desk, shown, 1);
  }, 60_000);
});
