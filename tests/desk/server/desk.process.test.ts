import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { DeskInUseError } from '../../../src/desk/server/desk.ts';
import { toAddress } from '../../../src/shared/reporting/address.ts';
import { createFailure, openTestDesk } from '../support/desk.ts';
import { useDesk } from '../support/use-desk.ts';

describe('the desk', () => {
  it('changes an incident journaled a moment ago, and stores the build before its first failure', async () => {
    const { desk } = await useDesk();
    const failure = createFailure({ at: Date.now() - 1000 });
    desk.journal(failure);
    const change = () =>
      desk.calls.changeState(`${failure.digest}@production`, { state: 'ignored' }, { author: 'ada', expected: 0 });
    expect(await change()).toMatchObject({ outcome: 'changed', before: { state: 'open' }, after: { stateBy: 'ada' } });
    expect(await change()).toMatchObject({ outcome: 'conflict' });
    expect(await desk.calls.listBuilds()).toMatchObject([{ id: 'build-1', release: 'v1' }]);
  });

  it('keeps running if the system has no free file, which reading the memory needs', async () => {
    const rss = vi.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
      throw new Error('EMFILE: too many open files, uv_resident_set_memory');
    });
    onTestFinished(() => rss.mockRestore());
    const { desk } = await useDesk();
    expect(desk.journal(createFailure())).toBe(true);
  });

  it('refuses a second server on the same folder, with a clear message', async () => {
    const { dataDir } = await useDesk();
    const second = openTestDesk({ dataDir });
    await expect(second).rejects.toThrow(DeskInUseError);
    await expect(second).rejects.toThrow(/set a different DATA_DIR/);
  });

  it('keeps working if its database is deleted while it is open', async () => {
    const { desk, dataDir, lines } = await useDesk();
    const before = createFailure();
    desk.journal(before);
    await desk.calls.flush();
    for (const name of readdirSync(dataDir)) if (name.startsWith('desk.sqlite')) rmSync(join(dataDir, name));
    const failure = createFailure();
    expect(desk.journal(failure)).toBe(true);
    await expect.poll(() => desk.calls.find(toAddress(failure)).catch(() => undefined)).toBeDefined();
    // The new database also contains the failures that were still in the journal.
    expect(await desk.calls.find(toAddress(before))).toMatchObject({ state: 'stored' });
    expect(lines.map(({ message }) => message).join('\n')).toContain('is back');
  }, 60_000);

  it('keeps failures while another program locks its database, and stores them afterwards', async () => {
    const { desk, dataDir } = await useDesk();
    await desk.calls.readChanges();
    const other = new DatabaseSync(join(dataDir, 'desk.sqlite'), { timeout: 10_000 });
    other.exec('BEGIN IMMEDIATE');
    const failure = createFailure();
    expect(desk.journal(failure)).toBe(true);
    // The failure can still arrive. Other questions are answered.
    await expect(desk.calls.find(toAddress(failure))).rejects.toMatchObject({ reason: 'arriving' });
    expect(await desk.calls.listIncidents({ limit: 5 })).toMatchObject({ incidents: [] });
    expect(desk.condition.store).toBe('reachable');
    expect(desk.waitingBytes).toBeGreaterThan(0);
    other.exec('COMMIT');
    other.close();
    await expect
      .poll(() => desk.calls.find(toAddress(failure)).catch(() => undefined))
      .toMatchObject({ state: 'stored', incident: { counts: { server: 1 } } });
  }, 60_000);

  it('answers before it has stored everything, says that more is arriving, and finds it later', async () => {
    const { desk } = await useDesk();
    await desk.calls.readChanges();
    const toDigest = (index: number) => String(index % 2000).padStart(8, '0');
    const failures = Array.from({ length: 8000 }, (_none, index) => createFailure({ digest: toDigest(index) }));
    for (const failure of failures) expect(desk.journal(failure)).toBe(true);

    expect(await desk.calls.settle()).toBe(false);
    expect(desk.waitingBytes).toBeGreaterThan(0);
    await desk.calls.flush();
    expect([desk.waitingBytes, await desk.calls.settle()]).toEqual([0, true]);
    const { incidents } = await desk.calls.listIncidents({ limit: 2000 });
    expect(incidents.reduce((sum, { counts }) => sum + counts.server, 0)).toBe(failures.length);
  });
});
