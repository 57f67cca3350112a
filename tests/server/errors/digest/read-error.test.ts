import { expect, it } from 'vitest';
import { OBJECT, readErrors } from '../../../../src/server/errors/digest/read-error.ts';

const PATHS = { dist: '/app/dist' };

function refuse(): never {
  throw new Error('code of the object runs');
}
const GETTER = { get: refuse, enumerable: true };

it.each([
  ['a string', 'boom', 'NonError', 'boom'],
  ['null', null, 'NonError', 'null'],
  ['undefined', undefined, 'NonError', 'undefined'],
  ['a symbol', Symbol('s'), 'NonError', 'Symbol(s)'],
  ['a function', () => 1, 'NonError', 'a function'],
  ['an object with a message', { message: 'locked' }, 'NonError', 'locked'],
  ['an object without a message', { code: 7, in: { a: [] } }, 'NonError', `${OBJECT}: { code: 7, in: { a: [] } }`],
  ['an object with a getter', Object.defineProperty({}, 'a', GETTER), 'NonError', `${OBJECT}: { a: [Getter] }`],
  // Node 24 writes `{}`.
  ['a Proxy', new Proxy({}, { get: refuse, ownKeys: refuse }), 'NonError', expect.stringMatching(/: (?:Proxy\()?\{\}/)],
  ['a frozen error', Object.freeze(new TypeError('cold')), 'TypeError', 'cold'],
  ['an error whose name is a number', Object.assign(new Error('n'), { name: 7 }), 'Error', 'n'],
  ['a DOMException', new DOMException('late', 'TimeoutError'), 'TimeoutError', 'late'],
])('a thrown value can be %s', (_what, thrown, className, message) => {
  expect(readErrors(thrown, PATHS)).toEqual([expect.objectContaining({ class: className, message })]);
  expect(readErrors(new Error('x', { cause: thrown }), PATHS)[1]?.message).toEqual(
    thrown == null ? undefined : message,
  );
});

it('causes follow in order, up to a cycle, and at most ten', () => {
  const inner = new Error('inner');
  const outer = new Error('outer', { cause: new Error('middle', { cause: inner }) });
  inner.cause = outer;
  expect(readErrors(outer, PATHS).map(({ message }) => message)).toEqual(['outer', 'middle', 'inner']);
  let error = new Error('0');
  for (let depth = 1; depth < 30; depth += 1) error = new Error(`${depth}`, { cause: error });
  expect(readErrors(error, PATHS)).toHaveLength(10);
  expect(readErrors(new Error('x', { cause: null }), PATHS)).toHaveLength(1);
});

it.each([
  ['ECONNREFUSED', 'ECONNREFUSED'],
  ['23505', '23505'],
  ['42P01', '42P01'],
  ['ann@example.com', undefined],
  ['customer_17', undefined],
  [404, undefined],
])('reads the code %s as %s', (code, read) => {
  expect(readErrors(Object.assign(new Error('x'), { code }), PATHS)[0]?.code).toBe(read);
});

it('returns the classes of an AggregateError, each once', () => {
  const error = new AggregateError([new TypeError('a'), new RangeError('b'), new TypeError('c'), 'd']);
  expect(readErrors(error, PATHS)[0]?.members).toEqual(['NonError', 'RangeError', 'TypeError']);
});
