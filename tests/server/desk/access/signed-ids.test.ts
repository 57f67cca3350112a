import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createSignedIds } from '../../../../src/server/desk/access/signed-ids.ts';
import { ADA, VERA } from '../../../support/people.ts';

const sessions = createSignedIds([ADA, VERA], 'session');
const id = sessions.make(ADA);

it('is accepted by every replica that has the token, in any order of tokens', () => {
  expect(createSignedIds([VERA, ADA], 'session').read(id)).toEqual(ADA);
  expect(sessions.make(ADA)).not.toBe(id);
  expect(() => createSignedIds([VERA], 'session').make(ADA)).toThrow('"ada"');
});

it.each([
  ['for another purpose', createSignedIds([ADA, VERA], 'link')],
  [
    'under another token of the same name',
    createSignedIds([{ ...ADA, token: 'another-long-token-of-ada' }], 'session'),
  ],
  ['when the token has another role', createSignedIds([{ ...ADA, role: 'viewer' }], 'session')],
  ['when the token is gone', createSignedIds([VERA], 'session')],
  ['when there are no tokens', createSignedIds([], 'session')],
])('is rejected %s', (_when, ids) => {
  expect(ids.read(id)).toBeUndefined();
});

it('cannot be forged', () => {
  const secret = randomBytes(32).toString('base64url');
  const guesses = [
    '',
    secret,
    `${secret}.`,
    `${secret}.${'A'.repeat(22)}`,
    `${secret}.${createHmac('sha256', '').update(secret).digest('base64url').slice(0, 22)}`,
    `${secret}.${id.slice(44)}`,
    `${id}=`,
    ` ${id}`,
    `${id}\n`,
    id.toUpperCase(),
  ];
  for (const guess of guesses) expect(sessions.read(guess), guess).toBeUndefined();
  // Includes every other spelling of a valid id, also one that base64 decodes to the same bytes.
  const character = fc.constantFrom(...'ABCDwxyz0189-_.');
  fc.assert(
    fc.property(fc.nat(id.length - 1), character, (at, other) => {
      const changed = id.slice(0, at) + other + id.slice(at + 1);
      expect(sessions.read(changed)).toEqual(changed === id ? ADA : undefined);
    }),
    { numRuns: 500 },
  );
});
