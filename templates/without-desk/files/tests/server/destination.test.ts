import { expect, it } from 'vitest';
import { readConfig } from '../../src/server/config.ts';
import { toFailureLinks } from '../../src/server/destination.ts';
import { listTokens } from '../../src/server/destination-settings.ts';
import { ConfigError } from '../../src/server/settings.ts';

const ADDRESS = '7K3QM2XA-9F4W0R6B';

it('links failures to FAILURE_LINK, for everyone', () => {
  const { toUrl, arePublic } = toFailureLinks(readConfig({ FAILURE_LINK: 'https://sentry.example/?query={digest}' }));
  expect([toUrl(ADDRESS), arePublic]).toEqual(['https://sentry.example/?query=7K3QM2XA', true]);
  expect(toFailureLinks(readConfig({})).toUrl(ADDRESS)).toBeUndefined();
});

it.each(['canary', 'https://sentry.example/', 'javascript:{digest}'])('does not accept the link %s', (link) => {
  expect(() => readConfig({ FAILURE_LINK: link })).toThrow('FAILURE_LINK');
});

it('lists who can read the metrics', () => {
  const log = { error: () => undefined };
  const config = readConfig({ OPERATOR_TOKEN: 'ada:6f1d0c5e9b7a4823', VIEWER_TOKEN: '3ac97e4410d8b26f' });
  expect(listTokens(config, log).tokens.map(({ name, role }) => [name, role])).toEqual([
    ['ada', 'operator'],
    ['viewer', 'viewer'],
  ]);
  const twice = readConfig({ OPERATOR_TOKEN: '3ac97e4410d8b26f', VIEWER_TOKEN: '3ac97e4410d8b26f' });
  expect(() => listTokens(twice, log)).toThrow(ConfigError);
});
