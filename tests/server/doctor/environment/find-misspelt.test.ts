import { expect, it } from 'vitest';
import { SETTINGS } from '../../../../src/server/config.ts';
import { findMisspelt } from '../../../../src/server/doctor/environment/find-misspelt.ts';

const known = Object.keys(SETTINGS);

it.each([
  ['TRUST_PROXIES', 'TRUST_PROXY'],
  ['TRUSTED_PROXY', 'TRUST_PROXY'],
  ['PUBLIC_ORIGIN', 'PUBLIC_ORIGINS'],
  ['OPERATOR_TOKENS', 'OPERATOR_TOKEN'],
  ['SCRUB_KEY', 'SCRUB_KEYS'],
  ['DATADIR', 'DATA_DIR'],
  ['SENTRY_DNS', 'SENTRY_DSN'],
  ['port', 'PORT'],
  ['NOTIFY_PRIVATE_TARGET', 'NOTIFY_PRIVATE_TARGETS'],
])('corrects %s to %s', (name, meant) => {
  expect(findMisspelt({ [name]: 'x' }, known)).toEqual([{ name, meant }]);
});

it('ignores names of other programs', () => {
  const others = [
    ...['HOME', 'HOSTNAME', 'SHELL', 'PATH', 'PWD', 'TERM', 'LANG', 'USER', 'NODE_ENV', 'NODE_OPTIONS', 'NO_COLOR'],
    ...['DATABASE_URL', 'REDIS_URL', 'MAIL', 'REST_PORT', 'XDG_DATA_DIRS', 'SENTRY_AUTH_TOKEN', 'LOG_FORMAT', 'CI'],
    ...['KUBERNETES_PORT', 'SMTP_PASSWORD', 'SESSION_SECRET', 'npm_config_port', 'SPILLWAY_DEV', 'TOUR_FAILURES'],
  ];
  expect(findMisspelt(Object.fromEntries(others.map((name) => [name, 'x'])), known)).toEqual([]);
});

it('reports nothing if the right name is set or the wrong one is empty', () => {
  expect(findMisspelt({ TRUST_PROXIES: '1', TRUST_PROXY: '1' }, known)).toEqual([]);
  expect(findMisspelt({ TRUST_PROXIES: ' ' }, known)).toEqual([]);
});
