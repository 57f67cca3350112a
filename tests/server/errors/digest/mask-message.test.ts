import { expect, it } from 'vitest';
import { maskMessage } from '../../../../src/server/errors/digest/mask-message.ts';

it.each([
  ['No order 7 for user "ann" at 10.0.0.1', 'No order ? for user ? at ?'],
  ["Cannot read properties of undefined (reading 'total')", 'Cannot read properties of undefined (reading ?)'],
  ['ENOENT: no such file, open /home/x/y.txt', 'ENOENT: no such file, open ?'],
  ['GET https://x.example/a?b=c failed', 'GET ? failed'],
  ['id 3f2b9c1e-1111-4222-8333-abcdefabcdef is gone', 'id ? is gone'],
  ['mail to ann@example.com bounced', 'mail to ? bounced'],
  ["it can't be read because ann doesn't own it", "it can't be read because ann doesn't own it"],
  ['first line\nsecond line', 'first line'],
])('masks what differs between requests: %s', (message, masked) => {
  expect(maskMessage(message)).toBe(masked);
});
