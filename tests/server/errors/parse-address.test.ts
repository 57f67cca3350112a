import { expect, it } from 'vitest';
import { parseAddress } from '../../../src/server/errors/parse-address.ts';

it.each([
  ['7K3QM2XA', { digest: '7K3QM2XA' }],
  ['7K3QM2XA-9F4W0R6B', { digest: '7K3QM2XA', occurrence: '9F4W0R6B' }],
  ['7k3q m2xa 9f4w or6b', { digest: '7K3QM2XA', occurrence: '9F4W0R6B' }],
  ['7K3QM2XA/9F4W0R6B', { digest: '7K3QM2XA', occurrence: '9F4W0R6B' }],
  ['il0000Oo', { digest: '11000000' }],
])('parses %s', (text, address) => {
  expect(parseAddress(text)).toEqual(address);
});

it.each(['', '7K3QM2X', '7K3QM2XAB', '7K3QM2XU', '7K3QM2XA-9F4W0R6', `7K3QM2XA${'-'.repeat(100)}9F4W0R6B`, "' OR 1=1"])(
  'refuses %j',
  (text) => {
    expect(parseAddress(text)).toBeUndefined();
  },
);
