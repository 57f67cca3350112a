import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('ends before the build if a setting of the server is wrong', () => {
  const env = { ...process.env, PORT: 'abc' };
  const { status, stderr } = spawnSync(process.execPath, ['bin/dev.mjs'], { env, encoding: 'utf8', timeout: 40_000 });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^The setting PORT is not a port number\..*$/m);
  expect(stderr).not.toContain('Building');
});
