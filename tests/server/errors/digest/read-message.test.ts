import { expect, it } from 'vitest';
import { maskMessage, readNativeDetail, unifyClass } from '../../../../src/server/errors/digest/read-message.ts';

/** Messages of V8, SpiderMonkey and JSC, in this order. */
it.each([
  [
    '.total',
    "Cannot read properties of undefined (reading 'total')",
    'can\'t access property "total", e.cart is undefined',
    "undefined is not an object (evaluating 'e.cart.total')",
  ],
  [
    '.total',
    "Cannot set properties of null (setting 'total')",
    'can\'t access property "total", e is null',
    "null is not an object (evaluating 'e.total = 1')",
  ],
  [
    '.pay()',
    'order.pay is not a function',
    'e.pay is not a function',
    "e.pay is not a function. (In 'e.pay()', 'e.pay' is undefined)",
  ],
  ['()', 'callback is not a function', 't is not a function', "t is not a function. (In 't(1)', 't' is undefined)"],
  ['queue is not defined', 'queue is not defined', 'queue is not defined', "Can't find variable: queue"],
  ['recursion', 'Maximum call stack size exceeded', 'too much recursion', 'Maximum call stack size exceeded.'],
  [
    'read-only',
    "Cannot assign to read only property 'a' of object '#<Object>'",
    '"a" is read-only',
    'Attempted to assign to readonly property.',
  ],
  [
    'not extensible',
    'Cannot add property a, object is not extensible',
    'can\'t define property "a": Object is not extensible',
    'Attempting to define property on object that is not extensible.',
  ],
  [
    'iterate',
    'items is not iterable',
    "can't access property Symbol.iterator, e is undefined",
    "undefined is not an object (evaluating 'let e of t')",
  ],
  [
    'destructure',
    "Cannot destructure property 'a' of 'x' as it is undefined.",
    'x is undefined',
    'Right side of assignment cannot be destructured',
  ],
  [
    'to object',
    'Cannot convert undefined or null to object',
    "can't convert undefined to object",
    "undefined is not an object (evaluating 'Object.keys(e.roles)')",
  ],
  [
    'new',
    'Editor is not a constructor',
    'e.Editor is not a constructor',
    "e is not a constructor (evaluating 'new e(t)')",
  ],
  [
    'before initialization',
    "Cannot access 'a' before initialization",
    "can't access lexical declaration 'a' before initialization",
    "Cannot access 'a' before initialization.",
  ],
  [
    'private',
    'Cannot read private member #rows from an object whose class did not declare it',
    "can't access private field or method: object is not the right class",
    "Cannot access invalid private field (evaluating 'e.#t')",
  ],
])('reads %s from the message of every engine', (detail, ...messages) => {
  expect(messages.map((message) => readNativeDetail(message)?.detail)).toEqual([detail, detail, detail]);
});

it('returns undefined for a message that no engine uses', () => {
  expect(readNativeDetail('The order was not found')).toBeUndefined();
});

it('calls endless recursion a RangeError, as the language does', () => {
  expect(unifyClass('InternalError', 'too much recursion')).toBe('RangeError');
  expect(unifyClass('InternalError', 'allocation size overflow')).toBe('InternalError');
});

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
