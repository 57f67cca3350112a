import { expect, it } from 'vitest';
import { toMinimalEnvelope } from '../../../src/client/reporting/minimal-envelope.ts';

it.each([
  [
    'V8',
    'Error: x\n    at pay (https://a.example/assets/a-X.js:1:20)\n    at async https://a.example/assets/b-Y.js:2:30\n    at Array.map (<anonymous>)',
    ['b-Y.js ? 2:30', 'a-X.js pay 1:20'],
  ],
  [
    'Firefox and Safari',
    'pay@https://a.example/assets/a-X.js:1:20\n@https://a.example/assets/b-Y.js:2:30\nmap@[native code]\n',
    ['b-Y.js ? 2:30', 'a-X.js pay 1:20'],
  ],
  ['nobody', 'Error: see https://a.example/assets/a-X.js', []],
])('an envelope without the SDK has the stack of %s', (_engine, stack, expected) => {
  const thrown = Object.assign(new Error('x'), { stack });
  const [, , event = ''] = toMinimalEnvelope(
    { at: 1_700_000_000_500, thrown, via: 'onerror', url: 'https://a.example/b' },
    {
      settings: { tunnel: '/_report', build: 'b1', release: 'r1' },
      host: 'a.example',
      eventId: '0123456789abcdef0123456789abcdef',
    },
  ).split('\n');
  const { frames } = JSON.parse(event).exception.values[0].stacktrace;
  const toText = ({ filename = '', function: name = '', lineno = 0, colno = 0 }) =>
    `${filename.replace('https://a.example/assets/', '')} ${name} ${lineno}:${colno}`;
  expect(frames.map(toText)).toEqual(expected);
});
