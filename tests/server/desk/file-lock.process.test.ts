import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { takeLock } from '../../../src/server/desk/file-lock.ts';
import { createFolder } from '../../support/folder.ts';

const module = new URL('../../../src/server/desk/file-lock.ts', import.meta.url).href;

it('can be held only once', () => {
  const path = join(createFolder(onTestFinished), 'a.lock');
  const lock = takeLock(path);
  expect(lock).toBeDefined();
  expect(takeLock(path)).toBeUndefined();
  lock?.release();
  const again = takeLock(path);
  expect(again).toBeDefined();
  again?.release();
});

it('is released when its process is killed', async () => {
  const path = join(createFolder(onTestFinished), 'a.lock');
  const script = `import('${module}').then(({ takeLock }) => { takeLock('${path}'); console.log('held'); setInterval(() => {}, 1000); })`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  expect(takeLock(path)).toBeUndefined();
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await ended;
  const lock = takeLock(path);
  expect(lock).toBeDefined();
  lock?.release();
});

it('throws if its file cannot be created', () => {
  expect(() => takeLock(join(createFolder(onTestFinished), 'none', 'a.lock'))).toThrow();
});
