import { expect, it, onTestFinished, vi } from 'vitest';
import { createCheckToken } from '../../../src/server/front/check-token.ts';
import { createTokens } from '../../../src/server/front/tokens.ts';
import { Minute, Second } from '../../../src/shared/units.ts';
import { ADA, VERA } from '../../support/people.ts';

it.each([
  ['one address', () => '192.0.2.1'],
  ['one IPv4 address in two spellings', (index: number) => (index % 2 ? '192.0.2.1' : '::ffff:192.0.2.1')],
  ['one /64 network', (index: number) => `2001:db8:1:2::${index}`],
])('checks five wrong tokens from %s, then one every twelve seconds', (_what, toAddress) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const checkToken = createCheckToken(createTokens([ADA, VERA]));
  const tryWrong = () => Array.from({ length: 7 }, (_, index) => checkToken('wrong', toAddress(index)).kind);
  expect(checkToken(ADA.token, toAddress(1)).kind).toBe('known');
  const first = tryWrong();
  expect(first).toEqual([...Array(5).fill('wrong'), 'too-many', 'too-many']);
  vi.advanceTimersByTime(2 * Second);
  expect(checkToken(ADA.token, toAddress(1))).toEqual({ kind: 'too-many', waitMs: expect.closeTo(10 * Second, -1) });
  expect(checkToken(ADA.token, '2001:db8:1:3::1').kind).toBe('known');
  vi.advanceTimersByTime(10.01 * Second);
  expect(checkToken(ADA.token, toAddress(1)).kind).toBe('known');
  expect(tryWrong()).toEqual(['wrong', ...Array(6).fill('too-many')]);
  vi.advanceTimersByTime(10 * Minute);
  expect(tryWrong()).toEqual(first);
});
