import { describe, expect, it } from 'vitest';
import { createCheckToken, MAX_COUNTED_SENDERS } from '../../../src/server/front/check-token.ts';
import { createTokens } from '../../../src/server/front/tokens.ts';
import { Second } from '../../../src/shared/units.ts';
import { ADA, VERA } from '../../support/people.ts';

/** A process whose clock the test sets. */
function start() {
  let at = 0;
  const checkToken = createCheckToken(createTokens([ADA, VERA]), () => at);
  return {
    check: (token: string, address = '192.0.2.1') => checkToken(token, address).kind,
    checkToken,
    pass: (ms: number) => {
      at += ms;
    },
  };
}

const repeat = (count: number, ask: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => ask(index));

const wrongs = (kinds: readonly string[]) => kinds.filter((kind) => kind === 'wrong').length;

describe('checking a token', () => {
  it('checks five wrong tokens a minute from one address, then rejects all', () => {
    const { check, checkToken, pass } = start();
    pass(15 * Second);
    expect(repeat(7, () => check('wrong'))).toEqual([...Array(5).fill('wrong'), 'too-many', 'too-many']);
    expect(checkToken(ADA.token, '192.0.2.1')).toEqual({ kind: 'too-many', waitMs: 45 * Second });
    expect(check(ADA.token, '192.0.2.2')).toBe('known');
    pass(45 * Second);
    expect(check(ADA.token)).toBe('known');
  });

  it.each([
    ['one /64', 10, (index: number) => `2001:db8:1:2::${index}`],
    ['one /48', 20, (index: number) => `2001:db8:1:${index}::1`],
    ['one IPv4 address in two spellings', 5, (index: number) => (index % 2 ? '192.0.2.1' : '::ffff:192.0.2.1')],
  ])('limits %s to %i a minute', (_what, limit, toAddress) => {
    const { check } = start();
    expect(wrongs(repeat(30, (index) => check('wrong', toAddress(index))))).toBe(limit);
    expect(check(ADA.token, toAddress(77))).toBe('too-many');
    expect(check(ADA.token, '2001:db8:2::1')).toBe('known');
  });

  it('still checks a sender that had a valid token before, even if its network sent wrong ones', () => {
    const { check } = start();
    expect(check(ADA.token, '2001:db8:1:1::1')).toBe('known');
    repeat(30, (index) => check('wrong', `2001:db8:1:${index}::2`));
    expect(check(ADA.token, '2001:db8:1:1::1')).toBe('known');
    expect(wrongs(repeat(10, () => check('wrong', '2001:db8:1:1::1')))).toBe(5);
  });

  it('forgets the oldest sender of wrong tokens beyond a limit', () => {
    const { check } = start();
    repeat(5, () => check('wrong'));
    expect(check('wrong')).toBe('too-many');
    repeat(MAX_COUNTED_SENDERS, (index) => check('wrong', `host-${index}`));
    expect(check('wrong')).toBe('wrong');
  });
});
