import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOperatorTokens, parseTokens } from '../../../src/server/access/operator-tokens.ts';

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

  it('parses every list of names and tokens that can be formatted', () => {
    const name = fc.stringMatching(/^[a-zA-Z0-9][a-zA-Z0-9._@-]{0,30}$/);
    const token = fc.stringMatching(/^[!-+\--9;-~]{16,60}$/);
    const list = fc.uniqueArray(fc.record({ name, token }), {
      minLength: 1,
      maxLength: 6,
      comparator: (a, b) => a.name === b.name || a.token === b.token,
    });
    fc.assert(
      fc.property(list, (tokens) => {
        const text = tokens.map((one) => `${one.name}:${one.token}`).join(',');
        expect(parseTokens(text, 'operator')).toEqual(tokens);
      }),
    );
  });
});

describe('createOperatorTokens', () => {
  const ada = { name: 'ada', token: LONG, role: 'operator' } as const;
  const vera = { name: 'vera', token: OTHER, role: 'viewer' } as const;
  const tokens = createOperatorTokens([ada, vera]);

  it('finds the holder of a token', () => {
    expect(tokens.find(LONG)).toEqual(ada);
    expect(tokens.find(OTHER)).toEqual(vera);
    expect(tokens.named('vera')).toEqual(vera);
  });

  it('finds no holder for any other text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(tokens.find(text)).toBeUndefined();
      }),
    );
    for (const text of [LONG.slice(1), `${LONG}x`, `${LONG}\0`, LONG.toUpperCase()])
      expect(tokens.find(text)).toBeUndefined();
    expect(tokens.named('constructor')).toBeUndefined();
    expect(createOperatorTokens([]).find('')).toBeUndefined();
  });
});
