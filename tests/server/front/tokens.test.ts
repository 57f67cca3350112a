import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createTokens, keepToken, listTokens, parseTokens } from '../../../src/server/front/tokens.ts';
import { ConfigError } from '../../../src/server/settings.ts';
import { createFolder } from '../../support/folder.ts';
import { ADA, VERA } from '../../support/people.ts';
import { createTestLog } from '../../support/test-log.ts';

const LONG = 'x'.repeat(16);
const OTHER = 'y'.repeat(16);

it('parseTokens reads one token, named after its role, or a list of named tokens', () => {
  expect(parseTokens('', 'operator')).toEqual([]);
  expect(parseTokens(LONG, 'operator')).toEqual([{ name: 'operator', token: LONG }]);
  expect(parseTokens(`ada:${LONG}, Grace Hopper:${OTHER}`, 'operator')).toEqual([
    { name: 'ada', token: LONG },
    { name: 'Grace Hopper', token: OTHER },
  ]);
});

it('finds the holder of a token, and none for any other text', () => {
  const tokens = createTokens([ADA, VERA]);
  expect([tokens.find(ADA.token), tokens.find(VERA.token), tokens.named('vera')]).toEqual([ADA, VERA, VERA]);
  for (const text of ['', ADA.token.slice(1), `${ADA.token}x`, `${ADA.token}\0`, ADA.token.toUpperCase()]) {
    expect(tokens.find(text)).toBeUndefined();
  }
  expect(tokens.named('constructor')).toBeUndefined();
  expect(createTokens([]).find('')).toBeUndefined();
});

function start() {
  const { log, lines } = createTestLog();
  const dataDir = join(createFolder(onTestFinished), 'data');
  return { dataDir, lines, keep: () => keepToken(dataDir, log) };
}

it('the token of a site without OPERATOR_TOKEN is created once, in a file that only its owner can read', () => {
  const { dataDir, keep } = start();
  mkdirSync(dataDir);
  const file = join(dataDir, 'desk-token');
  writeFileSync(file, '', { mode: 0o600 }); // by a start that was interrupted
  const first = keep();
  expect(first).toEqual({ name: 'operator', token: expect.stringMatching(/^[\w-]{32}$/), isNew: true });
  expect(readFileSync(file, 'utf8')).toBe(`${first?.token}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(keep()).toEqual({ ...first, isNew: false });
});

it('the token of a site without OPERATOR_TOKEN does not exist if it cannot be stored, which is logged', () => {
  const { dataDir, keep, lines } = start();
  writeFileSync(dataDir, 'a file in the place of the folder');
  expect(keep()).toBeUndefined();
  expect(lines).toMatchObject([{ message: expect.stringContaining('No operator can sign in') }]);
});

it.each([
  ['a name', { ...VERA, name: 'ada' }],
  ['a token', { ...VERA, token: ADA.token }],
])('an operator and a viewer cannot share %s', (_what, viewer) => {
  expect(listTokens({ operatorTokens: [ADA], viewerTokens: [VERA] })).toEqual([ADA, VERA]);
  for (const settings of [
    { operatorTokens: [ADA], viewerTokens: [viewer] },
    { operatorTokens: [ADA, viewer], viewerTokens: [] },
  ]) {
    expect(() => listTokens(settings)).toThrow(ConfigError);
    expect(() => listTokens(settings)).not.toThrow(/long-token/);
  }
});
