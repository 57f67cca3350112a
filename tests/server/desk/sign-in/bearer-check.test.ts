import { describe, expect, it } from 'vitest';
import { createBearerCheck } from '../../../../src/server/desk/sign-in/bearer-check.ts';
import { createOperatorTokens } from '../../../../src/server/desk/sign-in/operator-tokens.ts';
import { Minute } from '../../../../src/shared/units.ts';
import { ADA, VERA } from '../../../support/desk-site.ts';

/** A store that counts as the real one does, and what it was asked. */
function start({ ofOthers = 0 } = {}) {
  const bySender = new Map<string, number>();
  let asked = 0;
  let at = 0;
  const check = createBearerCheck({
    tokens: createOperatorTokens([ADA, VERA]),
    now: () => at,
    sessions: {
      countAttempt: async (sender) => {
        asked += 1;
        bySender.set(sender, (bySender.get(sender) ?? 0) + 1);
        return { ofSender: bySender.get(sender) ?? 0, inTotal: ofOthers + sum(bySender) };
      },
      forgiveAttempt: async (sender) => void bySender.set(sender, (bySender.get(sender) ?? 0) - 1),
    },
  });
  return {
    check: async (token: string, sender = 'a') => (await check(token, sender)).kind,
    asked: () => asked,
    counted: (sender: string) => bySender.get(sender) ?? 0,
    pass: (ms: number) => {
      at += ms;
      bySender.clear();
    },
  };
}

const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((all, one) => all + one, 0);

describe('checking a token', () => {
  it('knows its holder, and asks the store for nothing', async () => {
    const check = createBearerCheck({
      tokens: createOperatorTokens([ADA, VERA]),
      sessions: { countAttempt: () => Promise.reject(new Error()), forgiveAttempt: () => Promise.reject(new Error()) },
    });
    expect(await check(ADA.token, 'a')).toEqual({ kind: 'known', operator: { name: 'ada', role: 'operator' } });
    expect(await check(VERA.token, 'a')).toEqual({ kind: 'known', operator: { name: 'vera', role: 'viewer' } });
    await expect(check('wrong', 'a')).rejects.toThrow();
  });

  it('looks at five wrong ones a minute of one sender, then at none', async () => {
    const { check, pass, asked } = start();
    const kinds = [];
    for (let index = 0; index < 7; index++) kinds.push(await check('wrong'));
    expect(kinds).toEqual([...Array(5).fill('wrong'), 'too-many', 'too-many']);
    expect(await check(ADA.token)).toBe('too-many');
    expect(asked()).toBe(5);
    expect(await check(ADA.token, 'b')).toBe('known');
    pass(Minute);
    expect(await check(ADA.token)).toBe('known');
  });

  it('looks at no more of many at once', async () => {
    const { check } = start();
    const guesses = [...Array<string>(20).fill('wrong'), ADA.token];
    const kinds = await Promise.all(guesses.map((token) => check(token)));
    expect(kinds.filter((kind) => kind === 'wrong')).toHaveLength(5);
    expect(kinds.at(-1)).toBe('too-many');
  });

  it('looks at thirty of all senders, and goes on for those that had a right one', async () => {
    const { check } = start();
    expect(await check(ADA.token, 'known')).toBe('known');
    const kinds = [];
    for (let index = 0; index < 40; index++) kinds.push(await check('wrong', `sender ${index}`));
    expect(kinds.filter((kind) => kind === 'wrong')).toHaveLength(30);
    expect(await check(ADA.token, 'new')).toBe('too-many');
    expect(await check(ADA.token, 'known')).toBe('known');
    for (let index = 0; index < 5; index++) expect(await check('wrong', 'known')).toBe('wrong');
    expect(await check(ADA.token, 'known')).toBe('too-many');
  });

  it('heeds what others have counted, and gives back what was too many', async () => {
    const { check } = start({ ofOthers: 30 });
    expect(await check('wrong')).toBe('wrong');
    expect(await check('wrong')).toBe('too-many');
    const shared = start();
    for (let index = 0; index < 5; index++) await shared.check('wrong', 'b');
    expect(shared.counted('b')).toBe(5);
  });
});
