import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Settings of Spillway, Node, npm, Git and the system. */
const SETTINGS =
  'NODE_ENV OPERATOR_TOKEN SMTP_URL PUBLIC_ORIGINS DATA_DIR DIGEST_NAMESPACE NODE_DEBUG npm_lifecycle_event GIT_DIR GIT_CONFIG_GLOBAL TZ LC_ALL http_proxy';

it("keeps a developer's settings out of tests", () => {
  const { PATH = '', HOME = '' } = process.env;
  const taken = { PATH, HOME, SEED: '2', TEST_DATABASE: 'postgres', TEST_DIGEST_NAMESPACE: 'secret' };
  const settings = Object.fromEntries(SETTINGS.split(' ').map((name) => [name, 'hostile']));
  const script = `await import('${new URL('environment.ts', import.meta.url)}'); console.log(JSON.stringify(process.env));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...settings, ...taken },
    encoding: 'utf8',
  });
  expect(JSON.parse(output)).toEqual({
    ...taken,
    DIGEST_NAMESPACE: 'secret',
    NODE_ENV: 'test',
    TZ: 'UTC',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  });
});
