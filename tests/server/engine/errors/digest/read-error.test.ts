import { describe, expect, it } from 'vitest';
import { causesOf, readErrors } from '../../../../../src/server/engine/errors/digest/read-error.ts';

const PATHS = { dist: '/app/dist' };

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable(new Error('x'), {});
  revoke();
  return proxy;
}

function throwing(): Error {
  const error = new Error('x');
  for (const key of ['name', 'message', 'stack', 'cause', 'code', 'errors']) {
    Object.defineProperty(error, key, {
      get() {
        throw new Error('hostile');
      },
    });
  }
  return error;
}

describe('a thrown value', () => {
  it.each([
    ['a string', 'boom', 'NonError', 'boom'],
    ['null', null, 'NonError', 'null'],
    ['undefined', undefined, 'NonError', 'undefined'],
    ['a symbol', Symbol('s'), 'NonError', 'Symbol(s)'],
    ['a function', () => 1, 'NonError', 'a function'],
    ['an object with a message', { message: 'locked' }, 'NonError', 'locked'],
    ['an object without a message', { a: 1 }, 'NonError', 'an object that is no Error'],
    ['a revoked Proxy', revoked(), 'NonError', 'an object that is no Error'],
    ['an error whose getters throw', throwing(), 'Error', ''],
    ['a frozen error', Object.freeze(new TypeError('cold')), 'TypeError', 'cold'],
    ['an error whose name is a number', Object.assign(new Error('n'), { name: 7 }), 'Error', 'n'],
    ['a DOMException', new DOMException('late', 'TimeoutError'), 'TimeoutError', 'late'],
  ])('can be %s', (_what, thrown, className, message) => {
    const [record, ...causes] = readErrors(thrown, PATHS);
    expect(record).toMatchObject({ class: className, message });
    expect(causes).toEqual([]);
  });

  it('is cut if its message or stack is a megabyte long', () => {
    const error = new Error('m'.repeat(1_000_000));
    error.stack = `Error: ${error.message}\n${'    at f (/app/dist/server/main.js:1:1)\n'.repeat(30_000)}`;
    const [record] = readErrors(error, PATHS);
    expect(JSON.stringify(record).length).toBeLessThan(20_000);
    expect(record?.frames[0]).toEqual({ file: 'server/main.js', line: 1, column: 1, function: 'f' });
  });
});

describe('causes', () => {
  it('follow in order, up to a cycle', () => {
    const inner = new Error('inner');
    const outer = new Error('outer', { cause: new Error('middle', { cause: inner }) });
    inner.cause = outer;
    expect(readErrors(outer, PATHS).map(({ message }) => message)).toEqual(['outer', 'middle', 'inner']);
  });

  it('are limited to ten, and null is not a cause', () => {
    let error = new Error('0');
    for (let depth = 1; depth < 30; depth += 1) error = new Error(`${depth}`, { cause: error });
    expect(readErrors(error, PATHS)).toHaveLength(10);
    expect(causesOf(new Error('x', { cause: null }))).toHaveLength(1);
  });

  it('can be any value', () => {
    expect(readErrors(new Error('x', { cause: 'words' }), PATHS)[1]).toMatchObject({
      class: 'NonError',
      message: 'words',
    });
  });
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
