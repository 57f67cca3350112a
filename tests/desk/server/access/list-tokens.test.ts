import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { listTokens, type TokenSettings } from '../../../../src/desk/server/access/list-tokens.ts';
import { toProxySignIn } from '../../../../src/desk/server/access/proxy-operator.ts';
import { ConfigError } from '../../../../src/server/settings.ts';
import { createFolder } from '../../../support/folder.ts';
import { ADA, VERA } from '../../../support/people.ts';
import { createTestLog } from '../../../support/test-log.ts';

function start(wanted: Partial<TokenSettings> = {}) {
  const { log, lines } = createTestLog();
  const dataDir = join(createFolder(onTestFinished), 'data');
  const settings = { operatorTokens: [], viewerTokens: [], dataDir, deskDatabaseUrl: undefined, ...wanted };
  return { dataDir, lines, list: () => listTokens(settings, log) };
}

it('creates an operator token once, in a file that only its owner can read', () => {
  const { dataDir, list } = start({ viewerTokens: [VERA] });
  mkdirSync(dataDir);
  const file = join(dataDir, 'desk-token');
  writeFileSync(file, '', { mode: 0o600 }); // by a start that was interrupted
  const first = list();
  const operator = { name: 'operator', token: expect.stringMatching(/^[\w-]{32}$/), role: 'operator' };
  expect(first).toEqual({ tokens: [operator, VERA], isNew: true });
  expect(readFileSync(file, 'utf8')).toBe(`${first.tokens[0]?.token}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(list()).toEqual({ tokens: first.tokens, isNew: false });
});

it('disables sign-in and logs it if the token cannot be stored', () => {
  const { dataDir, list, lines } = start();
  writeFileSync(dataDir, 'a file in the place of the folder');
  expect(list()).toEqual({ tokens: [], isNew: false });
  expect(lines).toMatchObject([{ message: expect.stringContaining('No operator can sign in') }]);
});

it('uses only the tokens of settings, and then writes no file', () => {
  const { dataDir, list } = start({ operatorTokens: [ADA], viewerTokens: [VERA], deskDatabaseUrl: 'postgres://x/y' });
  expect(list()).toEqual({ tokens: [ADA, VERA], isNew: false });
  expect(existsSync(dataDir)).toBe(false);
});

it.each([
  ['replicas share a database but no token', { deskDatabaseUrl: 'postgres://desk@localhost/desk' }],
  ['an operator and a viewer share a name', { operatorTokens: [ADA], viewerTokens: [{ ...VERA, name: 'ada' }] }],
  ['an operator and a viewer share a token', { operatorTokens: [ADA], viewerTokens: [{ ...VERA, token: ADA.token }] }],
])('refuses to start if %s', (_what, wanted) => {
  const { list } = start(wanted);
  expect(list).toThrow(ConfigError);
  expect(list).not.toThrow(/long-token/);
});

it('trusts the header of a proxy only with addresses and a secret', () => {
  const settings = {
    authProxyHeader: 'x-forwarded-user',
    authProxySecret: 'a-secret-of-the-proxy',
    authProxyOperators: [],
    trustProxy: ['10.0.0.0/8'],
  };
  const trust = toProxySignIn(settings)?.trust;
  expect([trust?.('10.1.2.3', 0), trust?.('192.0.2.1', 0)]).toEqual([true, false]);
  expect(toProxySignIn({ ...settings, authProxyHeader: undefined, trustProxy: 1 })).toBeUndefined();
  expect(() => toProxySignIn({ ...settings, trustProxy: 1, authProxySecret: undefined })).toThrow(
    /TRUST_PROXY.*\n.*AUTH_PROXY_SECRET/,
  );
});
