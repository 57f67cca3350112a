import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { readConfig, requireFreeTunnelPath, SETTINGS } from '../../src/server/config.ts';
import { listRemovedSettings } from '../../src/server/removed-settings.ts';
import { createOwnsPath } from '../../src/server/request/paths.ts';
import { ConfigError } from '../../src/server/settings.ts';

function sentencesOf(env: Record<string, string>) {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.sentences;
    throw error;
  }
}

it('has defaults, which trust no proxy and listen only on this machine', () => {
  expect(readConfig({})).toMatchObject({
    port: 3000,
    host: '127.0.0.1',
    isLoopback: true,
    dataDir: resolve('data'),
    publicOrigins: [],
    trustProxy: 0,
    times: { keepAlive: 72_000, request: 300_000, socket: 180_000 },
    digestNamespace: 'spillway',
    operatorTokens: [],
    tunnelPath: '/_report',
    drainLag: 1000,
    drainDeadline: 8000,
  });
  expect(readConfig({}, { terminal: true }).drainLag).toBe(0);
  expect(readConfig({ PORT: '', LOG_LEVEL: '  ' }).port).toBe(3000);
});

it('accepts every spelling of an on/off setting', () => {
  for (const text of ['1', 'true', 'on', 'yes', 'YES', ' On '])
    expect(readConfig({ COMPRESSION: text }).compression).toBe(true);
  for (const text of ['0', 'false', 'off', 'no', 'FALSE'])
    expect(readConfig({ COMPRESSION: text }).compression).toBe(false);
});

it('reads lists of origins and proxies', () => {
  expect(readConfig({ PUBLIC_ORIGINS: 'https://example.com, http://localhost:3000/' }).publicOrigins).toEqual([
    'https://example.com',
    'http://localhost:3000',
  ]);
  expect(readConfig({ PUBLIC_ORIGINS: 'https://a.example,https://*.a.example:8443' }).publicOrigins).toEqual([
    'https://a.example',
    'https://*.a.example:8443',
  ]);
  expect(readConfig({ TRACE_TARGETS: 'https://api.example.com, https://API.example:8443/' }).traceTargets).toEqual([
    'https://api.example.com',
    'https://api.example:8443',
  ]);
  expect(readConfig({ TRUST_PROXY: '2' }).trustProxy).toBe(2);
  expect(readConfig({ TRUST_PROXY: 'off' }).trustProxy).toBe(0);
  expect(readConfig({ TRUST_PROXY: '10.0.0.0/8, loopback,::1' }).trustProxy).toEqual(['10.0.0.0/8', 'loopback', '::1']);
});

it.each([
  ['PORT', ['canary', '65536', '-1', '3000.5']],
  ['HOST', ['canary canary', 'http://canary', 'canary:80']],
  ['DATA_DIR', ['canary\0']],
  [
    'PUBLIC_ORIGINS',
    [
      'canary',
      'https://canary/path',
      'ftp://canary',
      'https://u:canary@x',
      '*',
      'https://*.canary',
      'https://x,https://*canary',
    ],
  ],
  ['TRACE_TARGETS', ['canary', 'https://canary/path', '*', 'https://x,https://*.canary', 'https://x https://canary']],
  [
    'TRUST_PROXY',
    ['true', 'yes', 'canary', '10.0.0.0/33', '0.0.0.0/0', '::/0', '1.2.3', 'loopback,canary', '10.0.0.0/8/8'],
  ],
  ['LOG_LEVEL', ['canary', 'verbose']],
  ['COMPRESSION', ['canary', '2']],
  ['RELEASE', ['canary canary', 'x'.repeat(101)]],
  ['DIGEST_NAMESPACE', ['x'.repeat(201)]],
  ['OPERATOR_TOKEN', ['canary', 'canary-canary-canary canary', 'canary-canary-canary,other-other-other']],
  ['VIEWER_TOKEN', ['canary', 'ada:canary']],
  ['DESK_PORT', ['canary', '65536', '-1']],
  ['SMTP_URL', ['canary', 'https://canary', 'smtp://', 'smtp://canary/x', 'smtp://:canary@x', 'smtp://u:100%canary@x']],
  ['MAIL_FROM', ['canary', 'Canary <canary@x>', 'canary@x\r\nBcc: y@z', 'canary@x,y@z']],
  ['SENTRY_DSN', ['canary', 'https://canary.example/2', 'ftp://key@canary/2']],
  ['SENTRY_ENVIRONMENT', ['canary canary', 'x'.repeat(65)]],
  ['TUNNEL_PATH', ['canary', '/', '/api/canary', '/canary canary', '/canary/../x', '//canary', '/_check/canary']],
  ['SCRUB_KEYS', ['x,canary:', '(canary)']],
  ['SCRUB_PATTERNS', ['canary', '/(canary/', '/^(canary|canary)+$/']],
  ['KEEP_ALIVE', ['canary', '0', '7201', '60s']],
  ['REQUEST_TIMEOUT', ['0', '86401']],
  ['SOCKET_TIMEOUT', ['0', '86401']],
  ['DRAIN_LAG', ['-1', '601']],
  ['DRAIN_DEADLINE', ['Infinity']],
])('an invalid value of %s is reported in one sentence that names the setting but not the value', (name, values) => {
  for (const value of values) {
    const sentences = sentencesOf({ [name]: value });
    expect(sentences, value).toHaveLength(1);
    expect(sentences[0]).toMatch(new RegExp(`^The setting ${name} (?:is|contains|does)\\b.+\\.$`));
    expect(sentences[0]).not.toContain('canary');
  }
});

it.each(['/desk', '/DESK/reports'])('reports cannot be sent to %s, which is the tracker’s', (TUNNEL_PATH) => {
  const check = () => requireFreeTunnelPath(readConfig({ TUNNEL_PATH }), createOwnsPath({ paths: ['/desk'] }));
  expect(check).toThrow(/^The setting TUNNEL_PATH is not a path for reports\./);
});

it('says of a setting that no longer exists what replaces it', () => {
  const removed = ['DESK_MCP', 'DESK_ONLY', 'HEARTBEAT_URL', 'MAIL_PEOPLE', 'MAIL_SUMMARY', 'WEBHOOK_FORMAT'];
  const sentences = listRemovedSettings(Object.fromEntries(removed.map((name) => [name, 'canary'])));
  expect(
    sentences.map((text) => /^The setting (\w+) no longer exists, so it is ignored\. \S.+\.$/.exec(text)?.[1]),
  ).toEqual(removed);
  expect(sentences.join(' ')).not.toContain('canary');
  expect(listRemovedSettings({ DESK_ONLY: ' ', PORT: '1', MAIL_TO: 'ada@example.com' })).toEqual([]);
});

it('is described in .env.example, setting by setting', () => {
  const text = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
  for (const [name, { about, example }] of Object.entries(SETTINGS)) {
    expect(text).toContain(`# ${about}\n# ${name}=${example}\n`);
    expect(sentencesOf({ [name]: example })).toEqual([]);
  }
});
