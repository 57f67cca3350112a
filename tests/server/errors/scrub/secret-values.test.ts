import { expect, it } from 'vitest';
import {
  listBodySecrets,
  listEnvironmentSecrets,
  listRequestSecrets,
} from '../../../../src/server/errors/scrub/secret-values.ts';
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

it('finds the secrets of a request', () => {
  const nested = encodeURIComponent(
    `https://a.example/?back=${encodeURIComponent('/b?sig=twice-nested')}&token=nested-once`,
  );
  const request = {
    headers: {
      cookie: 'sid="quoted-value"; theme=a%20long%20value',
      authorization: `Basic ${Buffer.from('ann:long-password').toString('base64')}`,
      'proxy-authorization': 'Bearer token-for-proxy',
      'x-api-key': 'key-in-a-header',
      referer: 'https://a.example/?token=token-of-referer',
      'user-agent': 'not-a-secret',
    },
    url: `/reset/one%20long%20value?token=secret-in-query&page=not-a-secret&code=code-in-query&next=${nested}`,
    route: '/reset/:resetToken',
  };
  const own = scrubber.with(listRequestSecrets(request, scrubber));
  for (const secret of [
    ...['quoted-value', 'a long value', 'long-password', 'token-for-proxy', 'key-in-a-header', 'token-of-referer'],
    ...['one long value', 'secret-in-query', 'code-in-query', 'nested-once', 'twice-nested'],
  ]) {
    expect(own.text(`No ${secret} here`)).toBe('No [redacted] here');
  }
  expect(own.text('It is not-a-secret')).toBe('It is not-a-secret');
  expect(listRequestSecrets({}, scrubber).filter((secret) => secret !== '')).toEqual([]);
});

it('finds the secrets of a body, by the names of its fields', () => {
  const form = new FormData();
  form.set('user', 'ada');
  form.set('password', 'canary-password');
  form.set('file', new Blob(['canary']), 'a.txt');
  expect(listBodySecrets(form, createScrubber())).toEqual(['canary-password']);
  const body = { user: 'ada', login: { token: 'canary-token', pin: 1 }, secrets: ['canary-a', { deep: 7 }] };
  expect(listBodySecrets(body, createScrubber())).toEqual(['canary-token', '1', 'canary-a', '7']);
  const cyclic: Record<string, unknown> = { password: 'canary-cycle' };
  cyclic.self = cyclic;
  expect(new Set(listBodySecrets(cyclic, createScrubber()))).toEqual(new Set(['canary-cycle']));
  expect(listBodySecrets('text', createScrubber())).toEqual([]);
});
