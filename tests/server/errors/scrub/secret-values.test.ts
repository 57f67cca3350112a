import { expect, it } from 'vitest';
import { listEnvironmentSecrets } from '../../../../src/server/errors/scrub/secret-values.ts';
import { createScrubber } from '../../../../src/server/errors/scrub.ts';

const scrubber = createScrubber();

it('finds the secrets of the environment by name, and in URLs', () => {
  const env = {
    SESSION_SECRET: 'one-long-secret',
    DATABASE_URL: 'postgres://app:p%40ss@db/x',
    NODE_ENV: 'production',
    STRIPE_API_KEY: undefined,
    PWD: '/srv/the-folder-of-the-app',
  };
  const secrets = listEnvironmentSecrets(env, scrubber);
  expect(secrets).toContain('one-long-secret');
  expect(secrets).toEqual(expect.arrayContaining(['p%40ss', 'p@ss']));
  expect(secrets).not.toContain('production');
  expect(secrets).not.toContain('/srv/the-folder-of-the-app');
});
