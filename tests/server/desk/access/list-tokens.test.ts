import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listTokens, type TokenSettings } from '../../../../src/server/desk/access/list-tokens.ts';
import { ConfigError } from '../../../../src/server/engine/settings.ts';
import { createFolder, createTestLog } from '../../../support/desk.ts';

const ada = { name: 'ada', token: 'ada-has-a-long-token' };
const vera = { name: 'vera', token: 'vera-has-a-long-token' };

function toSettings(wanted: Partial<TokenSettings> = {}): TokenSettings {
  const dataDir = join(createFolder(onTestFinished), 'data');
  return { operatorTokens: [], viewerTokens: [], dataDir, deskDatabaseUrl: undefined, ...wanted };
}

const { log } = createTestLog();

describe('without a setting', () => {
  it('a token is made once, in a file that its owner alone may read', () => {
    const settings = toSettings();
    const first = listTokens(settings, log);
    expect(first).toEqual({
      tokens: [{ name: 'operator', token: expect.stringMatching(/^[\w-]{32}$/), role: 'operator' }],
      newcomer: 'operator',
    });
    const file = join(settings.dataDir, 'desk-token');
    expect(readFileSync(file, 'utf8')).toBe(`${first.tokens[0]?.token}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(listTokens(settings, log)).toEqual({ tokens: first.tokens, newcomer: undefined });
  });

  it('is made beside viewers too, and anew where a start was cut short', () => {
    const settings = toSettings({ viewerTokens: [vera] });
    mkdirSync(settings.dataDir);
    writeFileSync(join(settings.dataDir, 'desk-token'), '', { mode: 0o600 });
    const { tokens, newcomer } = listTokens(settings, log);
    expect(tokens.map(({ name, role }) => [name, role])).toEqual([
      ['operator', 'operator'],
      ['vera', 'viewer'],
    ]);
    expect(newcomer).toBe('operator');
  });

  it('nobody can sign in where it cannot be kept, and the log says so', () => {
    const settings = toSettings();
    writeFileSync(settings.dataDir, 'a file in the place of the folder');
    const spied = createTestLog();
    expect(listTokens(settings, spied.log)).toEqual({ tokens: [], newcomer: undefined });
    expect(spied.lines.map(({ message }) => message)).toEqual([expect.stringContaining('No operator can sign in')]);
  });

  it('replicas that share a database are refused, by a sentence', () => {
    const settings = toSettings({ deskDatabaseUrl: 'postgres://desk@localhost/desk' });
    expect(() => listTokens(settings, log)).toThrow(ConfigError);
    expect(() => listTokens(settings, log)).toThrow(/^The setting OPERATOR_TOKEN is missing\. With DESK_DATABASE_URL/);
  });
});

describe('with settings', () => {
  it('they alone count, and nothing is written', () => {
    const settings = toSettings({ operatorTokens: [ada], viewerTokens: [vera], deskDatabaseUrl: 'postgres://x/y' });
    expect(listTokens(settings, log)).toEqual({
      tokens: [
        { ...ada, role: 'operator' },
        { ...vera, role: 'viewer' },
      ],
      newcomer: undefined,
    });
    expect(() => chmodSync(settings.dataDir, 0o700)).toThrow(/ENOENT/);
  });

  it.each([
    ['a name', { ...vera, name: 'ada' }],
    ['a token', { ...vera, token: ada.token }],
  ])('operators and viewers may not share %s', (_what, viewer) => {
    const settings = toSettings({ operatorTokens: [ada], viewerTokens: [viewer] });
    expect(() => listTokens(settings, log)).toThrow(ConfigError);
    expect(() => listTokens(settings, log)).not.toThrow(/long-token/);
  });
});
