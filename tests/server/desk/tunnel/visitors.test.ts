import { expect, it } from 'vitest';
import { createVisitors, hashVisitorId } from '../../../../src/server/desk/tunnel/visitors.ts';
import { Day } from '../../../../src/shared/units.ts';

it('tells addresses apart for a day, and ids wherever they come from', () => {
  let now = 0;
  const toVisitor = createVisitors({ salt: () => 'salt', now: () => now });
  const first = toVisitor('192.0.2.1');
  expect(toVisitor('192.0.2.1')).toBe(first);
  expect(toVisitor('192.0.2.2')).not.toBe(first);
  const ann = toVisitor('192.0.2.1', 'ann');
  expect(ann).toMatch(/^[\w-]{16}$/);
  expect(toVisitor('192.0.2.2', 'ann')).toBe(ann);
  expect(toVisitor('192.0.2.1', 'bob')).not.toBe(ann);
  now = 2 * Day;
  expect(toVisitor('192.0.2.1')).not.toBe(first);
  expect(toVisitor('192.0.2.1', 'ann')).toBe(ann);
  expect(hashVisitorId('salt', 'ann')).toBe(ann);
  expect(hashVisitorId('another', 'ann')).not.toBe(ann);
});
