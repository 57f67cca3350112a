import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCrockford } from '../../../src/server/engine/errors/crockford.ts';
import { isAddress, toOccurrence } from '../../../src/shared/engine/address.ts';

describe('toOccurrence', () => {
  it('is what the server makes of the same id', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        const id = Buffer.from(bytes).toString('hex');
        expect(toOccurrence(id)).toBe(toCrockford(bytes.slice(11)));
        expect(isAddress(`7K3QM2XA-${toOccurrence(id)}`)).toBe(true);
      }),
    );
  });
});

describe('isAddress', () => {
  it.each(['7K3QM2XA-9F4W0R6B', `00000000-${toOccurrence(randomBytes(16).toString('hex'))}`])('knows %s', (text) => {
    expect(isAddress(text)).toBe(true);
  });

  it.each([
    '',
    'redirect',
    '7K3QM2XA',
    '7K3QM2XA-9F4W0R6',
    '7K3QM2XU-9F4W0R6B',
    '7k3qm2xa-9f4w0r6b',
    ' 7K3QM2XA-9F4W0R6B',
    null,
    7,
    {},
  ])('refuses %j', (text) => {
    expect(isAddress(text)).toBe(false);
  });
});
