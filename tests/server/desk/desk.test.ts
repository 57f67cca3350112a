import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DeskInUseError } from '../../../src/server/desk/desk.ts';
import { toAddress } from '../../../src/server/engine/errors/failure.ts';
import { createFailure, createFolder, createTestLog, openTestDesk } from '../../support/desk.ts';

describe('the desk', () => {
  it('finds what was journaled a moment ago', async () => {
    const dataDir = createFolder(onTestFinished);
    const { log, lines } = createTestLog();
    const desk = await openTestDesk({ dataDir, log });
    onTestFinished(() => desk.close());
    const failure = createFailure();

    expect(desk.journal(failure)).toBe(true);
    const found = await desk.ask('find', toAddress(failure));

    expect(found).toMatchObject({
      state: 'kept',
      incident: { digest: failure.digest, title: failure.title, counts: { server: 1, browser: 0 } },
      occurrence: { occurrence: failure.occurrence, requestId: failure.requestId, whole: { id: failure.id } },
    });
    expect(lines).toEqual([]);
  });

  it('leaves no journal behind when it is closed', async () => {
    const dataDir = createFolder(onTestFinished);
    const desk = await openTestDesk({ dataDir });
    const failure = createFailure();
    desk.journal(failure);

    await desk.close();
    expect(readdirSync(join(dataDir, 'journal'))).toEqual([]);

    const next = await openTestDesk({ dataDir });
    onTestFinished(() => next.close());
    expect(await next.ask('find', toAddress(failure))).toMatchObject({ state: 'kept' });
    expect((await next.ask('listRuns', 10)).at(-1)).toMatchObject({ ended: 'clean' });
  });

  it('refuses a second server on the same folder, with a sentence', async () => {
    const dataDir = createFolder(onTestFinished);
    const desk = await openTestDesk({ dataDir });
    onTestFinished(() => desk.close());

    const second = openTestDesk({ dataDir });
    await expect(second).rejects.toThrow(DeskInUseError);
    await expect(second).rejects.toThrow(/DATA_DIR of its own/);
    expect(existsSync(join(dataDir, 'instance.lock'))).toBe(true);
  });
});
