import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { indexPublicFiles } from '../../../src/server/front/public-files.ts';
import { isUnfinished, untilBuilt } from '../../../src/server/request/unfinished-build.ts';
import { createFolder } from '../../support/folder.ts';

/** A build that has written what a server needs. Its process finishes it with `finish()`. */
async function beginBuild() {
  const dist = createFolder(onTestFinished);
  mkdirSync(join(dist, 'client/assets'), { recursive: true });
  writeFileSync(join(dist, 'client/assets/a-1.js'), 'x'.repeat(500));
  const script = `
    const { writeFileSync, rmSync } = require('node:fs');
    writeFileSync('.unfinished', String(process.pid));
    console.log('runnable');
    process.stdin.once('data', () => {
      writeFileSync('client/assets/a-1.js.br', 'short');
      rmSync('.unfinished');
    });`;
  const builder = spawn(process.execPath, ['-e', script], { cwd: dist, stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void builder.kill('SIGKILL'));
  await once(builder.stdout, 'data');
  return { dist, finish: () => builder.stdin.end('now') };
}

it('serves compressed files as soon as they are written', async () => {
  const { dist, finish } = await beginBuild();
  expect(isUnfinished(dist)).toBe(true);
  const files = indexPublicFiles(dist);
  const encodings = () => files.get('/assets/a-1.js')?.representations.map(({ encoding }) => encoding);
  expect(encodings()).toEqual([undefined]);
  finish();
  await untilBuilt(dist);
  await expect.poll(encodings).toEqual(['br', undefined]);
});

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
