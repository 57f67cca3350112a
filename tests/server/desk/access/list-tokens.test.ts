import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listTokens, type TokenSettings } from '../../../../src/server/desk/access/list-tokens.ts';
import { ConfigError } from '../../../../src/server/engine/settings.ts';
import { createFolder } from '../../../support/folder.ts';
import { createTestLog } from '../../../support/test-log.ts';

const ada = { name: 'ada', token: 'ada-has-a-long-token' };
const vera = { name: 'vera', token: 'vera-has-a-long-token' };

function toSettings(wanted: Partial<TokenSettings> = {}): TokenSettings {
  const dataDir = join(createFolder(onTestFinished), 'data');
  return {
    operatorTokens: [],
    viewerTokens: [],
    dataDir,
    deskDatabaseUrl: undefined,
    ...wanted,
  };
}

const { log } = createTestLog();

describe('without token settings', () => {
  it('creates an operator token once, in a file that only its owner can read', () => {
    const settings = toSettings();
    const first = listTokens(settings, log);
    expect(first).toEqual({
      tokens: [{ name: 'operator', token: expect.stringMatching(/^[\w-]{32}$/), role: 'operator' }],
      isNew: true,
    });
    const file = join(settings.dataDir, 'desk-token');
    expect(readFileSync(file, 'utf8')).toBe(`${first.tokens[0]?.token}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(listTokens(settings, log)).toEqual({ tokens: first.tokens, isNew: false });
  });

  it('creates one even if there are viewer tokens, and again if an earlier start was interrupted', () => {
    const settings = toSettings({ viewerTokens: [vera] });
    mkdirSync(settings.dataDir);
    writeFileSync(join(settings.dataDir, 'desk-token'), '', { mode: 0o600 });
    const { tokens, isNew } = listTokens(settings, log);
    expect(tokens.map(({ name, role }) => [name, role])).toEqual([
      ['operator', 'operator'],
      ['vera', 'viewer'],
    ]);
    expect(isNew).toBe(true);
  });

  it('disables sign-in and logs it if the token cannot be stored', () => {
    const settings = toSettings();
    writeFileSync(settings.dataDir, 'a file in the place of the folder');
    const spied = createTestLog();
    expect(listTokens(settings, spied.log)).toEqual({ tokens: [], isNew: false });
    expect(spied.lines.map(({ message }) => message)).toEqual([expect.stringContaining('No operator can sign in')]);
  });

  it('refuses to start if replicas share a database', () => {
    const settings = toSettings({ deskDatabaseUrl: 'postgres://desk@localhost/desk' });
    expect(() => listTokens(settings, log)).toThrow(ConfigError);
    expect(() => listTokens(settings, log)).toThrow(/^The setting OPERATOR_TOKEN is missing\. With DESK_DATABASE_URL/);
  });
});

describe('with token settings', () => {
  it('uses only these tokens and writes no file', () => {
    const settings = toSettings({ operatorTokens: [ada], viewerTokens: [vera], deskDatabaseUrl: 'postgres://x/y' });
    expect(listTokens(settings, log)).toEqual({
      tokens: [
        { ...ada, role: 'operator' },
        { ...vera, role: 'viewer' },
      ],
      isNew: false,
    });
    expect(() => chmodSync(settings.dataDir, 0o700)).toThrow(/ENOENT/);
  });

  it.each([
    ['a name', { ...vera, name: 'ada' }],
    ['a token', { ...vera, token: ada.token }],
  ])('rejects operators and viewers that share %s', (_what, viewer) => {
    const settings = toSettings({ operatorTokens: [ada], viewerTokens: [viewer] });
    expect(() => listTokens(settings, log)).toThrow(ConfigError);
    expect(() => listTokens(settings, log)).not.toThrow(/long-token/);
  });
});
