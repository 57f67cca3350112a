import { expect, it, vi } from 'vitest';
import { createCheckToken } from '../../../../src/server/access/check-token.ts';
import { MAX_COUNTED_SENDERS } from '../../../../src/server/access/limits.ts';
import { createOperatorTokens } from '../../../../src/server/access/operator-tokens.ts';
import { createWrongTokens } from '../../../../src/server/access/wrong-tokens.ts';
import { createSessionCache } from '../../../../src/server/desk/access/session-cache.ts';
import { MAX_CACHED_SESSIONS } from '../../../../src/server/desk/limits.ts';
import { ADA } from '../../../support/people.ts';

const sessions = { countAttempts: () => new Promise<never>(() => {}) };
const toAddress = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;

it('caches at most MAX_CACHED_SESSIONS sessions', async () => {
  const readSession = vi.fn(async () => undefined);
  const cache = createSessionCache({ readSession, now: () => 0 });
  for (let index = 0; index <= MAX_CACHED_SESSIONS; index++) await cache.read(String(index));
  await cache.read(String(MAX_CACHED_SESSIONS));
  expect(readSession).toHaveBeenCalledTimes(MAX_CACHED_SESSIONS + 1);
  await cache.read('0');
  expect(readSession).toHaveBeenCalledTimes(MAX_CACHED_SESSIONS + 2);
});

it('remembers a limited number of addresses that sent wrong tokens', () => {
  const wrong = createWrongTokens({ replicas: sessions, secret: 'secret', now: () => 0 });
  for (let time = 0; time < 5; time++) wrong.add(['192.0.2.1']);
  expect(wrong.waitOf(['192.0.2.1'])).toBeGreaterThan(0);
  for (let index = 0; index < MAX_COUNTED_SENDERS; index++) wrong.add([toAddress(index)]);
  expect(wrong.waitOf(['192.0.2.1'])).toBe(0);
});

it('remembers a limited number of addresses that sent valid tokens', async () => {
  const checkToken = createCheckToken({
    tokens: createOperatorTokens([ADA]),
    replicas: sessions,
    now: () => 0,
    holdMs: 0,
  });
  const check = async (token: string, address: string) => (await checkToken(token, address)).kind;
  expect(await check(ADA.token, '2001:db8::1')).toBe('known');
  for (let index = 0; index < 20; index++) await check('wrong', `2001:db8:0:${index + 1}::1`);
  expect(await check(ADA.token, '2001:db8::1')).toBe('known');
  for (let index = 0; index < 1000; index++) await check(ADA.token, toAddress(index));
  expect(await check(ADA.token, '2001:db8::1')).toBe('too-many');
});
