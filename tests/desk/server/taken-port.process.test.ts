import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import buildOnce from '../../support/build-once.ts';
import { createFolder } from '../../support/folder.ts';

const MAIN = fileURLToPath(new URL('../../../dist/server/main.js', import.meta.url));

beforeAll(() => buildOnce());

it.each(['PORT', 'DESK_PORT'])('a start whose %s is in use is not recorded as a crash', async (name) => {
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  const DATA_DIR = createFolder(onTestFinished);
  const env = { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', DATA_DIR, [name]: String(port) };
  const { status, stderr } = spawnSync(process.execPath, [MAIN], { encoding: 'utf8', env, timeout: 40_000 });
  expect([status, stderr]).toEqual([1, expect.stringContaining(`or set ${name} to another one.`)]);
  const store = new DatabaseSync(join(DATA_DIR, 'desk.sqlite'), { readOnly: true });
  onTestFinished(() => store.close());
  expect(store.prepare("SELECT id FROM desk_processes WHERE ended IS NOT 'clean'").all()).toEqual([]);
});
