import { describe, expect, it } from 'vitest';
import { createOperatorTokens, parseTokens } from '../../../src/server/front/operator-tokens.ts';
import { ADA, VERA } from '../../support/people.ts';

const LONG = 'x'.repeat(16);
const OTHER = 'y'.repeat(16);

describe('parseTokens', () => {
  it('reads one token, named after its role, or a list of named tokens', () => {
    expect(parseTokens('', 'operator')).toEqual([]);
    expect(parseTokens(LONG, 'operator')).toEqual([{ name: 'operator', token: LONG }]);
    expect(parseTokens(`ada:${LONG}, Grace Hopper:${OTHER}`, 'operator')).toEqual([
      { name: 'ada', token: LONG },
      { name: 'Grace Hopper', token: OTHER },
    ]);
  });

  it.each([
    'short',
    'x'.repeat(201),
    `with blank ${LONG}`,
    `${LONG},${OTHER}`,
    `ada:${LONG},${OTHER}`,
    `ada:${LONG},ada:${OTHER}`,
    `ada:${LONG},grace:${LONG}`,
    `ada:${LONG},`,
    `:${LONG}`,
    `<b>:${LONG}`,
    `ada:grace:${LONG}`,
    `${LONG}\u00e9`,
  ])('refuses %j', (text) => {
    expect(parseTokens(text, 'operator')).toBeUndefined();
  });
});

it('finds the holder of a token, and none for any other text', () => {
  const tokens = createOperatorTokens([ADA, VERA]);
  expect([tokens.find(ADA.token), tokens.find(VERA.token), tokens.named('vera')]).toEqual([ADA, VERA, VERA]);
  for (const text of ['', ADA.token.slice(1), `${ADA.token}x`, `${ADA.token}\0`, ADA.token.toUpperCase()]) {
    expect(tokens.find(text)).toBeUndefined();
  }
  expect(tokens.named('constructor')).toBeUndefined();
  expect(createOperatorTokens([]).find('')).toBeUndefined();
});
