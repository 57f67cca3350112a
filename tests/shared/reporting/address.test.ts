import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isAddress, parseAddress, toCrockford, toOccurrence } from '../../../src/shared/reporting/address.ts';

it('toOccurrence encodes the last 40 bits of an id in eight characters, unambiguously', () => {
  const bits = fc.uint8Array({ minLength: 5, maxLength: 5 }).map((bytes) => Buffer.from(bytes).toString('hex'));
  expect(['0000000000', 'ffffffffff', '0000000021'].map(toCrockford)).toEqual(['00000000', 'ZZZZZZZZ', '00000011']);
  fc.assert(
    fc.property(bits, bits, (left, right) => {
      const [one, other] = [left, right].map((last) => toOccurrence(`${'0f'.repeat(11)}${last}`));
      expect(one).toBe(toCrockford(left));
      expect(one === other).toBe(left === right);
      expect(isAddress(`7K3QM2XA-${one}`)).toBe(true);
    }),
  );
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
])('isAddress refuses %j', (text) => {
  expect(isAddress(text)).toBe(false);
});

it.each([
  ['7K3QM2XA', { digest: '7K3QM2XA' }],
  ['7K3QM2XA-9F4W0R6B', { digest: '7K3QM2XA', occurrence: '9F4W0R6B' }],
  ['7k3q m2xa 9f4w or6b', { digest: '7K3QM2XA', occurrence: '9F4W0R6B' }],
  ['7K3QM2XA/9F4W0R6B', { digest: '7K3QM2XA', occurrence: '9F4W0R6B' }],
  ['il0000Oo', { digest: '11000000' }],
])('parseAddress parses %s', (text, address) => {
  expect(parseAddress(text)).toEqual(address);
});

it.each(['', '7K3QM2X', '7K3QM2XAB', '7K3QM2XU', '7K3QM2XA-9F4W0R6', `7K3QM2XA${'-'.repeat(100)}9F4W0R6B`, "' OR 1=1"])(
  'parseAddress refuses %j',
  (text) => {
    expect(parseAddress(text)).toBeUndefined();
  },
);
