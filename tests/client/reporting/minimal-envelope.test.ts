import { describe, expect, it } from 'vitest';
import { toMinimalEnvelope } from '../../../src/client/reporting/minimal-envelope.ts';
import type { BrowserReport } from '../../../src/shared/reporting/browser-report.ts';

const EVENT_ID = '0123456789abcdef0123456789abcdef';

function envelope(report: Partial<BrowserReport>, dsn?: string) {
  const lines = toMinimalEnvelope(
    { at: 1_700_000_000_500, thrown: new Error('x'), via: 'onerror', url: 'https://a.example/b', ...report },
    {
      settings: { tunnel: '/_report', build: 'b1', release: 'r1', ...(dsn ? { dsn } : {}) },
      host: 'a.example',
      eventId: EVENT_ID,
    },
  ).split('\n');
  expect(lines).toHaveLength(3);
  const [header, item, event] = lines.map((line) => JSON.parse(line));
  return { header, item, event, exception: event.exception.values[0] };
}

function withStack(stack: string): Error {
  return Object.assign(new Error('x'), { stack });
}

describe('an envelope without the SDK', () => {
  it.each([
    [
      'V8',
      'Error: x\n    at pay (https://a.example/assets/a-X.js:1:20)\n    at async https://a.example/assets/b-Y.js:2:30\n    at Array.map (<anonymous>)',
      [
        { filename: 'https://a.example/assets/b-Y.js', function: '?', lineno: 2, colno: 30 },
        { filename: 'https://a.example/assets/a-X.js', function: 'pay', lineno: 1, colno: 20 },
      ],
    ],
    [
      'Firefox and Safari',
      'pay@https://a.example/assets/a-X.js:1:20\n@https://a.example/assets/b-Y.js:2:30\nmap@[native code]\n',
      [
        { filename: 'https://a.example/assets/b-Y.js', function: '?', lineno: 2, colno: 30 },
        { filename: 'https://a.example/assets/a-X.js', function: 'pay', lineno: 1, colno: 20 },
      ],
    ],
    ['nobody', 'Error: see https://a.example/assets/a-X.js', []],
  ])('reads the stack of %s', (_engine, stack, frames) => {
    expect(envelope({ thrown: withStack(stack) }).exception.stacktrace.frames).toEqual(frames);
  });

  it.each([
    ['only words', 'only words'],
    [null, 'null'],
    [undefined, 'undefined'],
    [Symbol('s'), 'Symbol(s)'],
    [
      {
        toString: () => {
          throw new Error('a trap');
        },
      },
      'something that cannot be read',
    ],
  ])('reports values that are not errors: %#', (thrown, value) => {
    const { exception } = envelope({ thrown, location: 'https://a.example/assets/a-X.js:1:20' });
    expect(exception).toMatchObject({ type: 'NonError', value });
    expect(exception.stacktrace.frames).toMatchObject([{ filename: 'https://a.example/assets/a-X.js', lineno: 1 }]);
  });
});
