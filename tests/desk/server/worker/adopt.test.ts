import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { takeLock } from '../../../../src/desk/server/file-lock.ts';
import { claimDeadJournals } from '../../../../src/desk/server/worker/adopt.ts';
import { createFolder } from '../../../support/folder.ts';
import { createTestLog } from '../../../support/test-log.ts';

it('old locks without a journal are deleted, except those of processes that are alive', () => {
  const folder = createFolder(onTestFinished);
  const locks = ['alive', 'dead', 'new'].map((process) => {
    const path = join(folder, `${process}.lock`);
    const lock = takeLock(path);
    if (process !== 'new') utimesSync(path, 0, 0);
    return lock;
  });
  for (const lock of locks.slice(1)) lock?.release();
  expect(claimDeadJournals(folder, 'own', createTestLog().log)).toEqual([]);
  const left = readdirSync(folder).filter((name) => name.endsWith('.lock'));
  expect(left.sort()).toEqual(['alive.lock', 'new.lock']);
  locks[0]?.release();
});
