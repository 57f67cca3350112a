import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isUnfinished } from '../../../src/server/request/unfinished-build.ts';
import { createFolder } from '../../support/folder.ts';

it('does not wait for a build that has failed', async () => {
  const dist = createFolder(onTestFinished);
  const ended = spawn(process.execPath, ['-e', '']);
  await once(ended, 'exit');
  writeFileSync(join(dist, '.unfinished'), String(ended.pid));
  expect(isUnfinished(dist)).toBe(false);
  writeFileSync(join(dist, '.unfinished'), String(process.pid)); // another process can have its id now
  expect(isUnfinished(dist)).toBe(true);
  utimesSync(join(dist, '.unfinished'), new Date(0), new Date(0));
  expect(isUnfinished(dist)).toBe(false);
});
