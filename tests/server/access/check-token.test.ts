import { describe, expect, it, vi } from 'vitest';
import { createCheckToken } from '../../../src/server/access/check-token.ts';
import { MAX_HELD_ATTEMPTS, MAX_SHARED_SENDERS } from '../../../src/server/access/limits.ts';
import { createOperatorTokens } from '../../../src/server/access/operator-tokens.ts';
import type { SharedAttempts } from '../../../src/server/access/wrong-tokens.ts';
import { Minute, Second } from '../../../src/shared/units.ts';
import { ADA, VERA } from '../../support/people.ts';

const tokens = createOperatorTokens([ADA, VERA]);

/** A store that counts attempts like the real one, and records every call. */
function createCountingStore() {
  const counts = new Map<string, number>();
  const calls: { senders: readonly string[]; inTotal: number }[] = [];
  let total = 0;
  const countAttempts: SharedAttempts['countAttempts'] = async (bySender, inTotal) => {
    calls.push({ senders: bySender.map(([sender]) => sender), inTotal });
    total += inTotal;
    for (const [sender, count] of bySender) counts.set(sender, (counts.get(sender) ?? 0) + count);
    return { bySender: bySender.map(([sender]) => [sender, counts.get(sender) ?? 0]), inTotal: total };
  };
  return { countAttempts, calls };
}

/** A replica whose clock the test sets. */
function start({ store = createCountingStore(), holdMs = 0 } = {}) {
  let at = 0;
  const checkToken = createCheckToken({ tokens, replicas: store, now: () => at, holdMs });
  return {
    store,
    check: async (token: string, address = '192.0.2.1') => (await checkToken(token, address)).kind,
    checkToken,
    pass: (ms: number) => {
      at += ms;
    },
  };
}

type Check = ReturnType<typeof start>['check'];

async function repeat(count: number, ask: (index: number) => ReturnType<Check>) {
  const kinds: string[] = [];
  for (let index = 0; index < count; index++) kinds.push(await ask(index));
  return kinds;
}

const wrongs = (kinds: readonly string[]) => kinds.filter((kind) => kind === 'wrong').length;

describe('checking a token', () => {
  it('identifies the holder without asking the store, which can be unavailable', async () => {
    const countAttempts = vi.fn<SharedAttempts['countAttempts']>().mockRejectedValue(new Error('away'));
    const checkToken = createCheckToken({ tokens, replicas: { countAttempts } });
    expect(await checkToken(ADA.token, 'a')).toEqual({ kind: 'known', token: ADA });
    expect(await checkToken(VERA.token, 'a')).toEqual({ kind: 'known', token: VERA });
    expect(countAttempts).not.toHaveBeenCalled();
    expect(await checkToken('wrong', 'a')).toEqual({ kind: 'wrong' });
    await expect.poll(() => countAttempts.mock.calls.length).toBe(1);
  });

  it('checks five wrong tokens a minute from one address, then rejects all', async () => {
    const { check, checkToken, pass } = start();
    pass(15 * Second);
    expect(await repeat(7, () => check('wrong'))).toEqual([...Array(5).fill('wrong'), 'too-many', 'too-many']);
    expect(await checkToken(ADA.token, '192.0.2.1')).toEqual({ kind: 'too-many', waitMs: 45 * Second });
    expect(await check(ADA.token, '192.0.2.2')).toBe('known');
    pass(45 * Second);
    expect(await check(ADA.token)).toBe('known');
  });

  it('checks no more than that if they arrive in parallel', async () => {
    const { check } = start();
    const guesses = [...Array<string>(20).fill('wrong'), ADA.token];
    const kinds = await Promise.all(guesses.map((token) => check(token)));
    expect(wrongs(kinds)).toBe(5);
    expect(kinds.at(-1)).toBe('too-many');
  });

  it.each([
    ['one /64', 10, (index: number) => `2001:db8:1:2::${index}`],
    ['one /48', 20, (index: number) => `2001:db8:1:${index}::1`],
    ['one IPv4 address in two spellings', 5, (index: number) => (index % 2 ? '192.0.2.1' : '::ffff:192.0.2.1')],
  ])('limits %s to %i a minute', async (_what, limit, toAddress) => {
    const { check } = start();
    expect(wrongs(await repeat(30, (index) => check('wrong', toAddress(index))))).toBe(limit);
    expect(await check(ADA.token, toAddress(77))).toBe('too-many');
    expect(await check(ADA.token, '2001:db8:2::1')).toBe('known');
  });

  it('still checks a sender that had a valid token before, even if its network sent wrong ones', async () => {
    const { check } = start();
    expect(await check(ADA.token, '2001:db8:1:1::1')).toBe('known');
    await repeat(30, (index) => check('wrong', `2001:db8:1:${index}::2`));
    expect(await check(ADA.token, '2001:db8:1:1::1')).toBe('known');
    expect(wrongs(await repeat(10, () => check('wrong', '2001:db8:1:1::1')))).toBe(5);
  });
});

describe('a flood from many senders', () => {
  const toStranger = (index: number) => `2001:${(index + 1).toString(16)}:1::1`;

  it('slows down all senders but locks none out, and makes at most one query a second', async () => {
    const { check, store } = start({ holdMs: 300 });
    expect(wrongs(await repeat(30, (index) => check('wrong', toStranger(index))))).toBe(30);
    const startedAt = performance.now();
    const flood = Array.from({ length: 3000 }, (_, index) => check('wrong', toStranger(100 + index)));
    const right = check(ADA.token, '198.51.100.1');
    expect(await right).toBe('known');
    expect(wrongs(await Promise.all(flood))).toBe(3000);
    expect(performance.now() - startedAt).toBeGreaterThan(290);
    await expect.poll(() => store.calls.length, { timeout: 30_000 }).toBeGreaterThan(0);
    const tookMs = performance.now() - startedAt;
    expect(store.calls.length).toBeLessThanOrEqual(2 + tookMs / Second);
    expect(new Set(store.calls.flatMap(({ senders }) => senders)).size).toBeLessThanOrEqual(MAX_SHARED_SENDERS);
  });

  it('delays a limited number of answers, and none to senders that had a valid token before', async () => {
    const { check } = start({ holdMs: Minute });
    expect(await check(ADA.token, '198.51.100.1')).toBe('known');
    await repeat(30, (index) => check('wrong', toStranger(index)));
    let answered = 0;
    for (let index = 0; index < MAX_HELD_ATTEMPTS + 50; index++) {
      void check('wrong', toStranger(100 + index)).then(() => {
        answered += 1;
      });
    }
    expect(await check(ADA.token, '198.51.100.1')).toBe('known');
    expect(await check(ADA.token, '198.51.100.2')).toBe('known');
    expect(answered).toBe(50);
  });
});

describe('replicas', () => {
  it('share one count, which they store by address hash', async () => {
    const store = createCountingStore();
    const [one, two] = [start({ store }), start({ store })];
    await repeat(5, () => one.check('wrong'));
    await expect.poll(() => store.calls.reduce((sum, { inTotal }) => sum + inTotal, 0), { timeout: 5000 }).toBe(5);
    expect(await two.check('wrong')).toBe('wrong');
    await expect.poll(() => two.check(ADA.token), { timeout: 5000 }).toBe('too-many');
    const [sender, ...others] = new Set(store.calls.flatMap(({ senders }) => senders));
    expect(others).toEqual([]);
    expect(sender).toMatch(/^[\w-]{22}$/);
  });
});
