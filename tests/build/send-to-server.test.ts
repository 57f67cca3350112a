import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { sendToServer } from '../../build/develop/send-to-server.mjs';

it('a message to a server that has just exited is lost, and causes no error', async () => {
  const script = "process.once('message', () => process.exit(7)); process.send('ready');";
  const server = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const errors: unknown[] = [];
  server.on('error', (error) => errors.push(error));
  await once(server, 'message');
  const exited = once(server, 'exit');
  sendToServer(server, 'end');
  // This process does not notice the exit while it works.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
  expect([server.exitCode, server.connected]).toEqual([null, true]);
  sendToServer(server, { type: 'state' });
  expect(await exited).toEqual([7, null]);
  sendToServer(server, { type: 'state' });
  await new Promise((resolve) => setImmediate(resolve));
  expect(errors).toEqual([]);
});
