import { expect, it, onTestFinished } from 'vitest';
import { describeNodeFloor } from '../../../src/server/engine/monitoring/node-floor.ts';
import { startServer } from '../../support/e2e-server.ts';

it('logs one warning if a newer Node release fixes a vulnerability in this one', async () => {
  const server = await startServer();
  onTestFinished(() => server.stop());
  expect((await fetch(`${server.url}/livez`)).status).toBe(200);
  const lines = () =>
    server
      .log()
      .split('\n')
      .filter((line) => line.includes('CVE-2026-111497'))
      .map((line) => JSON.parse(line));
  const words = describeNodeFloor(process.versions.node);
  const expected = words === undefined ? [] : [expect.objectContaining({ level: 40, msg: words })];
  await expect.poll(lines, { timeout: 10_000 }).toEqual(expected);
});
