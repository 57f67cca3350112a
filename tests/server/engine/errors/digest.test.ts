import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCrockford } from '../../../../src/server/engine/errors/crockford.ts';
import { createDigest, maskMessage } from '../../../../src/server/engine/errors/digest.ts';

const OPTIONS = { namespace: 'n', root: '/app' };

function digestOf(frames: string[], message = 'boom', where = ['api', '/x'], className = 'Error'): string {
  return createDigest({ className, message, stack: '', frames }, where, OPTIONS);
}

describe('the site', () => {
  it('is the first frame of the application, whatever stands around it', () => {
    const own = '    at Cart.checkout (/app/src/cart.ts:10:5)';
    const all = [
      '    at parse (/app/node_modules/zod/index.js:1:1)',
      '    at node:internal/x:1:1',
      own,
      '    at other (/app/src/b.ts:1:1)',
    ];
    expect(digestOf([own])).toBe(digestOf(all));
    expect(digestOf([own])).toBe(digestOf(['    at async Cart.checkout (file:///app/src/cart.ts:99:1)']));
    expect(digestOf([own])).not.toBe(digestOf(['    at Cart.pay (/app/src/cart.ts:10:5)']));
    expect(digestOf([own])).not.toBe(digestOf(['    at Cart.checkout (/app/src/till.ts:10:5)']));
  });

  it('does not know origin and route, which count where there is none', () => {
    const own = ['    at f (/app/src/a.ts:1:1)'];
    expect(digestOf(own, 'boom', ['api', '/x'])).toBe(digestOf(own, 'boom', ['render', '/y']));
    expect(digestOf([], 'boom', ['api', '/x'])).not.toBe(digestOf([], 'boom', ['api', '/y']));
  });

  it("ignores the hash in a bundled chunk's name", () => {
    expect(digestOf(['    at f (/app/dist/server/chunk-ABCD1234.js:1:1)'])).toBe(
      digestOf(['    at f (/app/dist/server/chunk-WXYZ9876.js:9:9)']),
    );
  });
});

it('cannot be made equal by moving text from one field to the next', () => {
  expect(digestOf([], 'bc', ['a', ''])).not.toBe(digestOf([], 'c', ['ab', '']));
  expect(digestOf([], 'x', ['1:a', ''])).not.toBe(digestOf([], 'x', ['1:', 'a']));
});

it.each([
  ['No order 7 for user "ann" at 10.0.0.1', 'No order ? for user ? at ?'],
  ["Cannot read properties of undefined (reading 'total')", 'Cannot read properties of undefined (reading ?)'],
  ['ENOENT: no such file, open /home/x/y.txt', 'ENOENT: no such file, open ?'],
  ['GET https://x.example/a?b=c failed', 'GET ? failed'],
  ['id 3f2b9c1e-1111-4222-8333-abcdefabcdef is gone', 'id ? is gone'],
])('masks what differs between visits: %s', (line, masked) => {
  expect(maskMessage(line)).toBe(masked);
});

it('spells 40 bits in eight characters, each in one way', () => {
  expect(toCrockford(new Uint8Array(5))).toBe('00000000');
  expect(toCrockford(new Uint8Array(5).fill(255))).toBe('ZZZZZZZZ');
  expect(toCrockford(Uint8Array.of(0, 0, 0, 0, 33))).toBe('00000011');
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 5, maxLength: 5 }),
      fc.uint8Array({ minLength: 5, maxLength: 5 }),
      (left, right) => {
        expect(toCrockford(left)).toMatch(/^[0-9A-HJKMNP-TV-Z]{8}$/);
        expect(toCrockford(left) === toCrockford(right)).toBe(Buffer.compare(left, right) === 0);
      },
    ),
  );
});
