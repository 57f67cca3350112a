import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import buildOnce from '../support/build-once.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

it('`npm start` takes its server along when npm itself is ended', async () => {
  await buildOnce();
  const dataDir = mkdtempSync(join(tmpdir(), 'spillway-data-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const npm = spawn('npm', ['start'], {
    cwd: root,
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0', DRAIN_LAG: '0', DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    npm.stdout.on('data', (chunk) => {
      output += chunk;
      const found = /Listening on (http:\/\/[^\s"]+)/.exec(output)?.[1];
      if (found) resolve(found);
    });
    npm.once('exit', () => reject(new Error(`npm ended before the server listened:\n${output}`)));
  });
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  npm.removeAllListeners('exit');
  npm.kill('SIGTERM');
  // When the last process that writes to its output has ended, the server too.
  await once(npm, 'close');
  await expect(fetch(`${url}/livez`)).rejects.toThrow();
});

it('ends where nobody reads its log any more', async () => {
  const logger = new URL('../../src/server/engine/logger.ts', import.meta.url).href;
  const script = `
    const { createLogger } = await import('${logger}');
    const { log, flush } = await createLogger({ level: 'info', terminal: false });
    process.once('message', () => { log.info('The last line.'); flush(); process.exit(0); });
    process.send('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  child.stdout?.destroy();
  child.send('end');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
